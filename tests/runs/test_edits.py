"""Names, mergers and pins: a view over the identities of a run, logged and reversible."""

import sqlite3
from pathlib import Path

import pandas as pd
import pytest
import run_cases

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.plots.timeline import _timeline_data
from dynmeans.report.from_run import run_report
from dynmeans.runs.analysis.label_view import LabelView
from dynmeans.runs.export.export_labels import export_labels
from dynmeans.runs.store import edit_log


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_cases.moving_table(8).to_parquet("rows.parquet", index=False)
    run_cases.follow(Path("rows.parquet"), Path("run"))
    return Path("run")


def test_a_name_is_kept_with_who_and_when(folder):
    with Run.open(folder) as run:
        made = run.name_cluster(2, "  TUG\n17 ", author="ann")
    with Run.open(folder) as run:
        assert run.edits.names == {2: "TUG 17"}
        assert run.edits.log == (made,)
    assert (made.author, made.created_at[-6:], made.text) == ("ann", "+00:00", "TUG 17")


def test_the_last_name_counts_and_an_empty_one_takes_it_away(folder):
    with Run.open(folder) as run:
        run.name_cluster(0, "a")
        run.name_cluster(0, "b")
        assert run.edits.names == {0: "b"}
        run.name_cluster(0, "")
        assert run.edits.names == {}
        run.undo_edit()
        assert run.edits.names == {0: "b"}


def test_names_given_together_are_given_all_or_none(folder):
    with Run.open(folder) as run:
        with pytest.raises(ValueError, match="cluster 99 does not exist"):
            run.name_clusters({0: "TUG", 99: "nobody"})
        assert run.edits.log == ()


def test_names_given_together_meet_no_merger_in_between(folder, monkeypatch):
    """The checks and all rows are one transaction: what another process does is before or after."""

    def merged_meanwhile(store, cluster_id):
        other = sqlite3.connect(store.folder / "run.sqlite", timeout=0)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()

    with Run.open(folder) as run:
        with monkeypatch.context() as patch:
            patch.setattr("dynmeans.runs.edits._check_known", merged_meanwhile)
            made = run.name_clusters({0: "a", 1: "b"})
        assert [edit.edit_id for edit in made] == [1, 2]
        assert run.edits.log == tuple(made)


def test_many_names_are_one_commit(folder, monkeypatch):
    opened = []
    open_database = edit_log.open_database
    monkeypatch.setattr(
        edit_log, "open_database", lambda *a, **k: opened.append(a) or open_database(*a, **k)
    )
    with Run.open(folder) as run:
        run.name_clusters({0: "a", 1: "b", 2: "c"})
        assert run.edits.names == {0: "a", 1: "b", 2: "c"}
    assert len(opened) == 1


def test_a_name_for_a_cluster_that_is_shown_as_another_is_refused(folder):
    with Run.open(folder) as run:
        run.merge_clusters(0, 1)
        with pytest.raises(ValueError, match="1 is shown as 0; name that one, or undo the merge"):
            run.name_cluster(1, "TUG")
        run.name_cluster(0, "TUG")
        assert run.edits.name_of(1) == "TUG"


@pytest.mark.parametrize(
    ("cluster_id", "name", "error"),
    [
        (2**70, "a", "cluster 1180591620717411303424 does not exist"),
        (-1, "a", "cluster -1 does not exist"),
        (True, "a", "cluster_id must be an integer, got True"),
        (1.5, "a", "cluster_id must be an integer, got 1.5"),
        ("1", "a", "cluster_id must be an integer, got '1'"),
        (0, "\ud800", "name must be text that UTF-8 can hold"),
        (0, b"a", "name must be text"),
    ],
)
def test_odd_numbers_and_names_are_refused_by_name(folder, cluster_id, name, error):
    with Run.open(folder) as run:
        with pytest.raises((ValueError, TypeError), match=error):
            run.name_cluster(cluster_id, name)
        assert run.edits.log == ()


def test_a_merger_shows_all_of_a_group_as_the_one_that_stays(folder):
    with Run.open(folder) as run:
        run.merge_clusters(2, 3)
        run.merge_clusters(1, 2)
        assert run.edits.merged == {2: 1, 3: 1}
        assert run.clusters()["merged_into"].tolist() == [0, 1, 1, 1]
        assert run.edits.display_names() == {2: "as 1", 3: "as 1"}
        with pytest.raises(ValueError, match="2 and 3 are shown as one cluster already"):
            run.merge_clusters(2, 3)


def test_undoing_goes_back_edit_by_edit_and_keeps_the_log(folder):
    with Run.open(folder) as run:
        run.merge_clusters(0, 1)
        run.pin_cluster(2)
        run.undo_edit()
        run.undo_edit()
        assert (run.edits.merged, run.edits.pinned) == ({}, frozenset())
        assert [edit.kind for edit in run.edits.log] == ["merge", "pin", "undo", "undo"]
        with pytest.raises(ValueError, match="there is no edit to undo"):
            run.undo_edit()


def test_an_edit_of_any_number_can_be_undone_once(folder):
    with Run.open(folder) as run:
        run.name_cluster(0, "a")
        run.name_cluster(1, "b")
        run.undo_edit(1)
        assert run.edits.names == {1: "b"}
        with pytest.raises(
            ValueError, match="no edit 1 to undo; the edits that can be undone are 2"
        ):
            run.undo_edit(1)


def test_a_cluster_that_is_not_there_is_refused_and_nothing_is_logged(folder):
    with Run.open(folder) as run:
        for edit in (lambda: run.name_cluster(9, "a"), lambda: run.merge_clusters(0, 9)):
            with pytest.raises(
                ValueError, match=r"cluster 9 does not exist\. Use `dynmeans clusters RUN`"
            ):
                edit()
        assert run.edits.log == ()


def test_edits_change_nothing_that_the_run_has_found(folder):
    before = run_cases.contents(folder)
    with Run.open(folder) as run:
        run.merge_clusters(0, 1)
        run.name_cluster(0, "a")
        run.verify()
    after = run_cases.contents(folder)
    after.pop("manifest"), before.pop("manifest")
    assert after == before


def test_clusters_are_named_while_another_process_writes(folder):
    config = run_cases.config_for("rows.parquet")
    with Run.open(folder, config) as writer:
        writer.lock()
        with Run.open(folder) as run:
            run.name_cluster(0, "seen live")
        writer.finish({"rows_read": 96, "key": None}, n_dropped_rows=1)
        assert writer.edits.names == {0: "seen live"}
        writer.verify()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE edits SET text = 'b'",
        "UPDATE edits SET author = 'eve'",
        "DELETE FROM edits",
    ],
)
def test_a_changed_or_missing_edit_is_noticed(folder, change):
    with Run.open(folder) as run:
        run.name_cluster(0, "a", author="ann")
    with sqlite3.connect(folder / "run.sqlite") as connection:
        connection.execute(change)
    connection.close()
    with Run.open(folder) as run:
        for read in (run.clusters, run.verify):
            with pytest.raises(ValueError, match="damaged"):
                read()


def test_exported_labels_show_names_and_mergers_unless_asked_not_to(folder, capsys):
    with Run.open(folder) as run:
        raw = run.labels()["cluster_id"]
        run.merge_clusters(0, 1)
        run.name_cluster(0, "=cmd")
    assert main(["labels", "run", "-o", "out.csv"]) == 0
    found = pd.read_csv("out.csv")
    assert found["cluster_id"].tolist() == raw.replace(1, 0).tolist()
    assert set(found["cluster_name"].dropna()) == {"'=cmd"}  # a spreadsheet would run it
    assert main(["labels", "run", "-o", "raw.parquet", "--raw-labels"]) == 0
    assert pd.read_parquet("raw.parquet")["cluster_id"].tolist() == raw.tolist()


def test_a_pinned_cluster_is_confirmed_however_small(folder, tmp_path):
    with Run.open(folder) as run:
        run.pin_cluster(3)
        view = LabelView(confirmed=raw_ids(run)[:1], edits=run.edits)
        export_labels(run, tmp_path / "out.parquet", view=view, labels_only=True)
    assert set(pd.read_parquet(tmp_path / "out.parquet")["cluster_id"]) == {0, 3, -1}


def raw_ids(run):
    return run.clusters()["cluster_id"].to_numpy()


def test_names_are_in_events_plots_and_the_report(folder, capsys):
    assert main(["name", "run", "1", "TUG 17", "--author", "ann"]) == 0
    assert capsys.readouterr().out == "1  TUG 17\n"
    assert main(["events", "run", "--kind", "born", "--cluster", "1"]) == 0
    assert capsys.readouterr().out.endswith("born      1 (TUG 17)\n")
    assert main(["families", "run", "--family-level", "1e9"]) == 0
    assert capsys.readouterr().out.endswith("0: 0, 1 (TUG 17), 2, 3\n")
    with Run.open(folder) as run:
        assert run.events(cluster_id=1)["name"].unique().tolist() == ["TUG 17"]
        lifetimes = _timeline_data(run.history()).lifetimes
        assert [life.name for life in lifetimes] == ["0", "TUG 17", "2", "3"]
        assert run_report(run).cluster_names == {1: "TUG 17"}


def test_the_log_says_what_was_undone(folder, capsys):
    for words in (["merge", "0", "3"], ["undo"], ["pin", "1"]):
        assert main(["edit", "run", *words, "--author", "ann"]) == 0
    capsys.readouterr()
    assert main(["edit", "run"]) == 0
    told = [line.partition("ann: ")[2] for line in capsys.readouterr().out.splitlines()]
    assert told == ["merge 3 into 0 (undone)", "undo 1", "pin 1"]
    assert main(["edit", "run", "merge", "1"]) == 1
    assert "merge takes two clusters, got 1" in capsys.readouterr().err
