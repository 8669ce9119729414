"""Links: a cluster born near a forgotten one is proposed as the same, never made."""

import numpy as np
import pandas as pd
import pytest

from dynmeans import Run, cluster
from dynmeans.cli.app import app_for
from dynmeans.follow.model_config import ModelConfig
from dynmeans.report.from_run import run_report
from dynmeans.runs.analysis import suggested_matches as links_module
from dynmeans.runs.analysis.suggested_matches import (
    format_suggested_matches,
    suggested_matches_of_run,
)
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window

RECIPE = ModelConfig(new_penalty=4.0, max_gap=3.0, reach=1.2)


def weekly(n_weeks=4, seed=0):
    """One cluster every day, and one of two days of each week, elsewhere."""
    rng = np.random.default_rng(seed)
    windows = []
    for day in range(7 * n_weeks):
        places = [[0.0, 0.0], [30.0, 0.0]] if day % 7 in (1, 2) else [[0.0, 0.0]]
        windows.append(np.repeat(places, 20, axis=0) + rng.normal(0, 0.3, (20 * len(places), 2)))
    return windows


def weekly_frame():
    windows = weekly()
    days = np.repeat(np.arange(len(windows)), [len(rows) for rows in windows])
    return pd.DataFrame(np.concatenate(windows), columns=["x", "y"]).assign(day=days)


@pytest.fixture
def folder(tmp_path):
    with Run.create(tmp_path / "run", RunConfig(["x", "y"], RECIPE)) as run:
        run.process([Window(rows) for rows in weekly()])
    return tmp_path / "run"


def test_a_weekly_cluster_is_linked_to_the_last_of_its_kind(folder):
    with Run.open(folder) as run:
        links = suggested_matches_of_run(run)
        assert [(link.cluster_id, link.other_id) for link in links] == [(1, 2), (2, 3), (3, 4)]
        assert [link.gap for link in links] == [6.0] * 3
        assert all(link.distance < 1.0 for link in links)
        words = format_suggested_matches(links, 3.0)
    assert "3 new clusters appeared near a forgotten one" in words
    assert "max_gap=8" in words


def test_links_do_not_depend_on_how_many_windows_are_mapped_at_once(folder, monkeypatch):
    with Run.open(folder) as run:
        at_once = suggested_matches_of_run(run)
        monkeypatch.setattr(links_module, "_AT_ONCE", 3)
        assert suggested_matches_of_run(run, run.history(labels=False)) == at_once
    assert len(at_once) == 3


def test_with_the_gap_that_is_proposed_there_is_nothing_to_link(tmp_path):
    model_config = ModelConfig(new_penalty=4.0, max_gap=8.0, reach=1.2)
    with Run.create(tmp_path / "run", RunConfig(["x", "y"], model_config)) as run:
        run.process([Window(rows) for rows in weekly()])
        assert suggested_matches_of_run(run) == []
        assert run.status().n_clusters_total == 2


def test_the_command_lists_each_link_on_a_line_that_can_be_typed(folder, capsys):
    words = ["edit", str(folder), "matches"]
    app_for(words)(words, standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].endswith(f"dynmeans edit {folder} merge 1 2")


def test_links_change_nothing_until_one_is_accepted_and_the_run_remembers_it(folder):
    with Run.open(folder) as run:
        assert run.edits.log == ()
        first = suggested_matches_of_run(run)[0]
        run.merge_clusters(first.cluster_id, first.other_id)
    with Run.open(folder) as run:
        assert [link.other_id for link in suggested_matches_of_run(run)] == [3, 4]
        assert run.clusters().set_index("cluster_id")["merged_into"][2] == 1
        run.undo_edit()
        assert [link.other_id for link in suggested_matches_of_run(run)] == [2, 3, 4]


def test_a_birth_elsewhere_and_one_that_is_remembered_are_no_links(tmp_path):
    windows = weekly()
    windows[15] = windows[15] + np.array([0.0, 50.0])
    with Run.create(tmp_path / "run", RunConfig(["x", "y"], RECIPE)) as run:
        run.process([Window(rows) for rows in windows[:16]])
        births = {link.other_id for link in suggested_matches_of_run(run) if link.step == 15}
    assert births == set()


def test_one_call_shows_links_until_they_are_accepted():
    found = cluster(
        weekly_frame(), features=["x", "y"], window_column="day", new_penalty=4.0, max_gap=3.0
    )
    assert "appeared near a forgotten one" in found.summary()
    n_before = len(found.suggested_matches)
    with found.open_run() as run:
        run.merge_clusters(
            found.suggested_matches[0].cluster_id, found.suggested_matches[0].other_id
        )
    assert len(found.suggested_matches) == n_before - 1
    assert found.clusters["merged_into"].nunique() == len(found.clusters) - 1


def test_the_command_lists_links_and_the_merger_that_accepts_each(folder, capsys):
    words = ["edit", str(folder), "matches"]
    app_for(words)(words, standalone_mode=False)
    told = capsys.readouterr().out
    assert "2 appeared at the position of 1 after a gap of 6 steps" in told
    assert f"dynmeans edit {folder} merge 1 2" in told


def test_the_page_has_links_and_says_so(folder):
    with Run.open(folder) as run:
        data = run_report(run)
    assert [link[:2] for link in data.suggested_matches] == [(1, 2), (2, 3), (3, 4)]
    assert any("appeared near a forgotten one" in told.text for told in data.warnings)


def test_clusters_that_are_shown_together_are_no_match(folder):
    """Of two clusters of the level shown, the one must have ended before the other began."""
    with Run.open(folder) as run:
        records = list(run.history(labels=False))
        options = run.penalties, run.memory.space_or_raw
    links = links_module.find_suggested_matches
    # 4, the last of its kind, is part of the same cluster as 1: 2 and 3 come within its life.
    assert [one[:2] for one in links(records, *options, {4: 1})] == [(2, 3)]
    assert [one[:2] for one in links(records, *options, {1: -1})] == [(2, 3), (3, 4)]


def test_the_call_and_the_page_count_the_same_matches(tmp_path):
    found = cluster(
        weekly_frame(), features=["x", "y"], window_column="day", new_penalty=4.0, max_gap=3.0
    )
    count = f"{len(found.suggested_matches)} new clusters appeared near a forgotten one"
    assert count in found.summary()
    page = found.report(tmp_path / "page.html").read_text()
    assert count in page
