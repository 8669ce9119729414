from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from tiny_experiment import tiny_config

from paper.results_file import ResultsFile, read_results
from paper.synthetic.config import METHODS, SyntheticConfig
from paper.synthetic.experiment import (
    EXPERIMENT,
    expected_work,
    run_synthetic,
    stages,
    work_done,
    write_figures,
)
from paper.synthetic.search import best_settings, settings_of_rung
from paper.synthetic.tasks import (
    DEVIATION,
    KEY,
    comparison_tasks,
    grid,
    paper_settings,
    search_tasks,
)
from paper.synthetic.trial import SCHEMA, run_trial

TIMELESS = [name for name in SCHEMA.names if name != "cpu_s"]


PAPER_ONLY = [paper_settings()]


def searched(config):
    """All trials of the first rung."""
    return search_tasks(config, 0, {method: grid(config, method) for method in METHODS})


def sorted_rows(frame):
    return frame[TIMELESS].sort_values(list(KEY), ignore_index=True)


def test_every_task_has_one_row(results_path):
    config = tiny_config()
    frame = read_results(results_path, EXPERIMENT).frame
    tasks = [task for stage in stages(config) for task in stage(frame)]
    assert len(frame) == len({tuple(task[name] for name in KEY) for task in tasks})


def test_work_done_at_the_end_is_what_was_expected(results_path):
    config = tiny_config()
    frame = read_results(results_path, EXPERIMENT).frame
    # Where the search finds the paper's own setting there is less to do than was expected.
    assert 0.6 < work_done(config, frame) / expected_work(config) <= 1.0 + 1e-9


def test_samplers_are_compared_at_both_readings_of_the_papers_variance(results_path):
    frame = read_results(results_path, EXPERIMENT).frame
    rows = frame[(frame["part"] == "comparison") & (frame["method"] == "gibbs")]
    assert {0.05, 0.0025} <= set(rows["motion_variance"])


def test_second_rung_tries_the_best_settings_of_the_first(results_path):
    config = tiny_config()
    frame = read_results(results_path, EXPERIMENT).frame
    rows = frame[(frame["part"] == "search") & (frame["method"] == "gibbs")]
    first = rows[rows["effort"] == 10].set_index("motion_variance")[config.score]
    assert set(rows.loc[rows["effort"] == 20, "motion_variance"]) == {first.idxmax()}


def race(scores):
    """Rows of the first rung in which particle learning has these scores, a row a setting."""
    config = tiny_config(
        motion_variances=(0.001, 0.0025, 0.05), search_streams=(8, 10), search_kept=(1.0, 1.0)
    )
    tasks = search_tasks(config, 0, {"particle": grid(config, "particle")})
    of_motion = dict(zip(config.motion_variances, scores, strict=True))
    frame = pd.DataFrame(
        {**t, config.score: of_motion[t["motion_variance"]][t["trial"]]} for t in tasks
    )
    return [s["motion_variance"] for s in settings_of_rung(config, frame, 1)["particle"]]


def test_setting_two_standard_errors_behind_is_out_of_the_race():
    # Behind by 0.1 +- 0 and by 0.05 +- 0.033 (eight streams, deviation 0.094).
    best = np.full(8, 0.8)
    uncertain = best - 0.05 + 0.0875 * np.tile([1, -1], 4)
    assert race([best - 0.1, uncertain, best]) == [0.05, 0.0025]


def test_dynamic_means_is_tried_at_all_settings_in_all_rungs(results_path):
    config = tiny_config()
    frame = read_results(results_path, EXPERIMENT).frame
    rows = frame[(frame["part"] == "search") & (frame["method"] == "dynamic_means")]
    assert rows.groupby("trial").size().tolist() == [8, 8]
    assert len(settings_of_rung(config, frame, 1)["dynamic_means"]) == 8


def test_no_rung_is_begun_before_the_one_below_is_done(results_path):
    config = tiny_config()
    frame = read_results(results_path, EXPERIMENT).frame
    is_missing = (frame["method"] == "gibbs") & (frame["motion_variance"] == 0.05)
    assert "gibbs" not in settings_of_rung(config, frame[~is_missing], 1)
    assert "gibbs" not in best_settings(config, frame[~is_missing])
    assert "particle" in best_settings(config, frame[~is_missing])


def test_long_trials_of_a_stream_come_after_short_ones_of_later_streams():
    tasks = comparison_tasks(SyntheticConfig.of_size("full"), PAPER_ONLY)
    order = [(t["method"], t["n_clusters"], t["trial"]) for t in tasks]
    assert order.index(("gibbs", 50, 1)) > order.index(("gibbs", 5, 5))
    # The first stream is complete before the second is begun.
    assert max(i for i, (_, _, trial) in enumerate(order) if trial == 0) < order.index(
        ("dynamic_means", 5, 1)
    )


def test_comparison_can_be_cut_after_the_first_streams():
    config = SyntheticConfig.of_size("full")
    first = comparison_tasks(config, PAPER_ONLY, first=2)
    assert {task["trial"] for task in first} == {0, 1}
    assert first == comparison_tasks(config, PAPER_ONLY)[: len(first)]


def test_finished_run_has_nothing_left_to_do(results_path):
    before = results_path.read_bytes()
    run_synthetic(tiny_config(), results_path, on_progress=lambda *_: pytest.fail("it ran"))
    assert results_path.read_bytes() == before


def test_interrupted_run_comes_to_the_same_rows(results_path, tmp_path):
    whole = read_results(results_path, EXPERIMENT)
    path = tmp_path / "part.parquet"
    kept = whole.frame.drop(columns="session").astype(object)
    kept = kept.where(kept.notna(), None).iloc[::2].to_dict("records")
    with ResultsFile(
        path, experiment=EXPERIMENT, configuration=asdict(tiny_config()), schema=SCHEMA, key=KEY
    ) as results:
        results.append(kept)
    again = run_synthetic(tiny_config(), path).frame
    pd.testing.assert_frame_equal(sorted_rows(again), sorted_rows(whole.frame))


@pytest.mark.slow
def test_rows_do_not_depend_on_the_number_of_processes(results_path, tmp_path):
    whole = read_results(results_path, EXPERIMENT).frame
    again = run_synthetic(tiny_config(), tmp_path / "two.parquet", n_jobs=2).frame
    pd.testing.assert_frame_equal(sorted_rows(again), sorted_rows(whole))


def test_progress_ends_at_all_of_the_work(tmp_path):
    seen = []
    run_synthetic(tiny_config(n_steps=2), tmp_path / "r", on_progress=lambda *p: seen.append(p))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len({total for _, total in seen}) == 1
    # Where the search finds the paper's own setting there is less to do than was expected.
    assert 0.5 < seen[-1][0] / seen[-1][1] <= 1.0 + 1e-9


def test_methods_run_apart_give_the_rows_of_one_run(tmp_path):
    config = tiny_config(n_steps=2)
    whole = run_synthetic(config, tmp_path / "whole").frame
    for methods in (["dynamic_means", "gibbs"], ["variational", "particle"]):
        apart = run_synthetic(config, tmp_path / "apart", methods=methods).frame
        assert set(methods) <= set(apart["method"])
    assert sorted(apart["method"]) == sorted(whole["method"])


def test_trial_is_a_pure_function_but_for_the_time():
    task = next(searched(tiny_config()))
    first, second = (run_trial(tiny_config(), task) for _ in range(2))
    assert {**first, "cpu_s": 0} == {**second, "cpu_s": 0}


def test_streams_of_the_search_are_not_those_of_the_comparison():
    config = tiny_config()
    task = next(searched(config))
    found = run_trial(config, task)
    compared = run_trial(config, {**task, "part": "comparison"})
    assert found["accuracy_per_step"] != compared["accuracy_per_step"]


def test_all_methods_see_the_same_streams():
    config = tiny_config(n_steps=20)
    tasks = [
        task
        for task in comparison_tasks(config, PAPER_ONLY)
        if task["trial"] == 0 and task["n_clusters"] == 3 and task["effort"] <= 100
    ]
    assert {task["method"] for task in tasks} == {"dynamic_means", "gibbs", "particle"}
    assert len({run_trial(config, task)["n_true"] for task in tasks}) == 1


def test_handicap_is_given_to_those_that_have_samples():
    tasks = comparison_tasks(tiny_config(), PAPER_ONLY)
    assert {t["method"] for t in tasks if t["choice"] == "handicap"} == {"gibbs", "particle"}


def test_gibbs_is_asked_for_the_published_samples():
    config = SyntheticConfig.of_size("full")
    tasks = comparison_tasks(config, PAPER_ONLY)
    gibbs = next(t for t in tasks if t["method"] == "gibbs")
    assert (gibbs["effort"], gibbs["concentration"], gibbs["survival"]) == (5000, 1.0, 0.05)
    assert gibbs["motion_variance"] == 0.05


@pytest.mark.parametrize("size", ["quick", "default", "full"])
def test_grids_hold_the_papers_settings(size):
    config = SyntheticConfig.of_size(size)
    for method in METHODS:
        assert paper_settings()[method] in grid(config, method)
        assert paper_settings(DEVIATION)[method] in grid(config, method)


def test_full_size_has_fifty_trials_of_everything():
    config = SyntheticConfig.of_size("full")
    assert config.search_streams[-1] == 50
    assert config.search_sweeps[-1] == 5000
    assert config.n_trials == dict.fromkeys(METHODS, (50,) * 5)


def test_results_of_another_configuration_are_refused_by_field(results_path):
    other = replace(tiny_config(), noise="radial", seed=7)
    expected = "noise is 'isotropic' there and 'radial' here; seed is 0 there and 7 here"
    with pytest.raises(ValueError, match=expected):
        run_synthetic(other, results_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise": "pink"}, "noise must be one of isotropic, radial, got 'pink'"),
        ({"seed": -1}, "seed must be a whole number, 0 or more, got -1"),
        ({"n_clusters": (2,)}, r"n_trials must have one number for each of 1 entries"),
        ({"search_by": "luck"}, "search_by must be one of frozen, global, got 'luck'"),
        ({"search_kept": (1.0,)}, "must have one entry for each rung"),
    ],
)
def test_configuration_that_cannot_be_run_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        tiny_config(**changes)


def test_unknown_size_is_refused():
    with pytest.raises(ValueError, match="size must be one of quick, default, full, got 'huge'"):
        SyntheticConfig.of_size("huge")


def test_configuration_survives_the_file(results_path):
    configuration = read_results(results_path, EXPERIMENT).configuration
    assert SyntheticConfig.from_dict(configuration) == tiny_config()


@pytest.mark.slow
def test_figures_and_tables_are_made_from_the_file_alone(results_path, tmp_path, monkeypatch):
    monkeypatch.setattr("paper.synthetic.experiment.run_trial", lambda *_: pytest.fail("ran"))
    files, summary = write_figures(results_path, tmp_path / "figures")
    names = {file.name for file in files}
    origins = ("paper", "deviation", "found")
    panels = ("a", "b", "c", *(f"{p}-{o}" for p in "def" for o in origins))
    stems = {"tiny", *(f"tiny-{panel}" for panel in panels)}
    assert names == {f"{stem}.{end}" for stem in stems for end in ("png", "svg")} | {"tiny.md"}
    assert all(file.stat().st_size > 0 for file in files)
    assert "| Gibbs (with handicap) |" in summary


@pytest.mark.slow
def test_same_file_gives_the_same_figures(results_path, tmp_path):
    first, second = (write_figures(results_path, tmp_path / name)[0] for name in "ab")
    assert [f.read_bytes() for f in first] == [f.read_bytes() for f in second]


def test_figures_of_a_run_that_has_compared_nothing_are_refused(tmp_path):
    path = tmp_path / "empty.parquet"
    with ResultsFile(
        path, experiment=EXPERIMENT, configuration=asdict(tiny_config()), schema=SCHEMA, key=KEY
    ):
        pass
    with pytest.raises(ValueError, match="must hold trials of the comparison"):
        write_figures(path, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["variational", "particle"])
def test_dynamic_means_tracks_better_than_a_tuned_sampler_in_a_fifth_of_its_time(method):
    config = SyntheticConfig(n_clusters=(5,), n_trials=dict.fromkeys(METHODS, (4,)))
    mixture = {"concentration": 1.0, "survival": 0.05, "motion_variance": 0.0025}
    settings = {"new_penalty": 0.06, "max_gap": 2.5, "reach": 1.01}
    found = {"dynamic_means": settings, **dict.fromkeys(METHODS[1:], mixture)}
    rows = pd.DataFrame(
        run_trial(config, task)
        for task in comparison_tasks(config, [found])
        if task["method"] in ("dynamic_means", method)
        and task["choice"] == "honest"
        and task["effort"] in (3, 100, 5000)
        and (task["new_penalty"] == 0.06 or task["motion_variance"] == 0.0025)
    )
    means = rows.groupby("method")[["accuracy_global", "cpu_s"]].mean()
    ours, theirs = means.loc["dynamic_means"], means.loc[method]
    assert ours["accuracy_global"] > theirs["accuracy_global"] + 0.05
    assert 5 * ours["cpu_s"] < theirs["cpu_s"]
