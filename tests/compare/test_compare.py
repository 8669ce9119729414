"""The comparisons read, cut and score streams as the protocols say."""

import json
import sys

import numpy as np
import pytest

from benchmarks.compare import drifting_suite, rows, tracking
from benchmarks.compare.__main__ import TABLES, TEXTS, check, is_sampled
from benchmarks.compare.detections import SCENES, make_scene
from benchmarks.compare.ours import name_online
from benchmarks.compare.trackers import track_hungarian
from benchmarks.machine import commit, is_unchanged_since
from benchmarks.quality.drifting_streams import make_drifting


def write_set(path, points, labels):
    path.parent.mkdir(parents=True)
    head = (
        "@relation a\n@attribute x numeric\n@attribute y numeric\n@attribute class {0,1,2}\n@data\n"
    )
    lines = [f"{x!r},{y!r},{k}" for (x, y), k in zip(points.tolist(), labels, strict=True)]
    path.write_text(head + "\n".join(lines) + "\n")


@pytest.fixture
def checkout(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.tile([1, 2, 0], 200)
    write_set(tmp_path / "dataS/base/arff/base_data_7.arff", rng.normal(size=(600, 2)), labels)
    return tmp_path


def test_a_set_of_the_suite_is_read_in_blocks_of_200_rows_with_class_0_as_outliers(checkout):
    (origin, kind, number, read), *others = drifting_suite.sets_of(checkout, 20)
    batches, true = read()
    assert (origin, kind, number, others) == ("public", "base", 7, [])
    assert [batch.shape for batch in batches] == [(200, 2)] * 3
    assert true[0][:3].tolist() == [1, 2, drifting_suite.OUTLIER]


def test_without_outliers_the_blocks_are_cut_again():
    batches, true = drifting_suite.without_outliers(
        [np.zeros((200, 2)), np.ones((200, 2))], [np.r_[[-1] * 100, [0] * 100], np.ones(200, int)]
    )
    assert [len(batch) for batch in batches] == [200, 100]
    assert true[0].tolist() == [0] * 100 + [1] * 100


def test_birch_is_compared_with_the_published_figure_to_three_digits():
    row = {"origin": "public", "kind": "moving", "has_outliers": False, "seed": 3}
    row |= {"method": "BIRCH, K given", "data": "public, moving, without outliers", "ami": 0.5}
    assert drifting_suite.check_protocol([row], {("mov-r", 3, "BIRCH"): 0.5004}) == []
    differing = drifting_suite.check_protocol([row], {("mov-r", 3, "BIRCH"): 0.5006})
    assert differing == ["public, moving, without outliers, set 3: 0.5, published 0.5006"]


def test_published_figures_are_read_from_the_checkout(checkout):
    (checkout / "results").mkdir()
    (checkout / "results/results_synthetic.csv").write_text(
        ",filename,group,algorithm,AMI\n0,dataS/base/arff/base_data_7.arff,base-r,BIRCH,0.25\n"
    )
    assert drifting_suite.read_published(checkout) == {("base-r", 7, "BIRCH"): 0.25}


def test_the_suite_is_measured_with_one_command(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, 400)
    points = np.array([(0.5, 0.9), (0.1, 0.1), (0.9, 0.1)])[labels] + rng.normal(0, 0.02, (400, 2))
    for kind in drifting_suite.GROUPS:
        write_set(tmp_path / f"dataS/{kind}/arff/{kind}_data_1.arff", points, labels)
    monkeypatch.setattr(rows, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["drifting_suite", str(tmp_path)])
    drifting_suite.main()
    written = json.loads((tmp_path / "compare/drifting_suite.json").read_text())["rows"]
    assert len(written) == 4 * 2 * 3  # kinds; with and without outliers; methods
    assert all(row["ami"] == 1 for row in written if row["method"] == "dynmeans, online")
    printed = capsys.readouterr().out
    assert "public, sequential, without outliers, dynmeans, online: 1.000 (1 sets)" in printed
    assert "protocol not checked" in printed


def test_online_names_do_not_depend_on_later_batches():
    batches, _ = make_drifting("sequential", 0)
    few, more = name_online(batches[:8], 0), name_online(batches[:16], 0)
    np.testing.assert_array_equal(np.concatenate(few), np.concatenate(more[:8]))


def test_a_false_detection_costs_only_if_it_gets_a_track():
    true = [np.array([0, 1, -1]), np.array([0, 1, -1])]
    without = tracking.score(true, [np.array([5, 6, -1])] * 2)
    assert without == {"hota": 1.0, "idf1": 1.0, "n_tracks": 2}
    assert tracking.score(true, [np.array([5, 6, 7])] * 2)["idf1"] == pytest.approx(0.8)


@pytest.mark.parametrize("kind", SCENES)
def test_objects_of_a_scene_are_seen_once_in_a_frame_and_some_are_missed(kind):
    batches, labels = make_scene(kind, 0)
    for batch, names in zip(batches, labels, strict=True):
        objects = names[names >= 0]
        assert len(batch) == len(names)
        assert len(np.unique(objects)) == len(objects)
    seen = {name: [t for t, one in enumerate(labels) if name in one] for name in range(5)}
    assert any(np.diff(times).max(initial=1) > 1 for times in seen.values())


def test_the_hungarian_tracker_keeps_an_object_through_a_short_gap_and_not_through_a_long_one():
    frames = [np.array([[0.0, 0.0]])] + [np.empty((0, 2))] * 2 + [np.array([[0.1, 0.0]])]
    assert [int(k) for k in track_hungarian(frames, {"distance": 1.0, "gap": 3})[-1]] == [0]
    assert [int(k) for k in track_hungarian(frames, {"distance": 1.0, "gap": 2})[-1]] == [1]


def test_a_row_is_measured_once_and_on_request_again_after_a_change_of_code(tmp_path, monkeypatch):
    table = rows.Rows("a")
    table.path = tmp_path / "a.json"
    key = {"data": "d", "seed": 0, "method": "ours"}
    table.measure(key, lambda: {"ami": 0.123456})
    rows_again = rows.Rows("a", again="ours")
    rows_again.path = table.path
    table.measure(key, lambda: {"ami": 1.0})
    monkeypatch.setattr(rows, "is_unchanged_since", lambda begin: begin == commit())
    rows_again.measure(key, lambda: {"ami": 1.0})
    assert [row["ami"] for row in table.read()] == [0.1235]
    monkeypatch.setattr(rows, "is_unchanged_since", lambda begin: False)
    rows_again.measure(key, lambda: {"ami": 1.0})
    assert [row["ami"] for row in json.loads(table.path.read_text())["rows"]] == [1.0]


def test_code_of_an_unknown_commit_counts_as_changed():
    begin = commit()
    assert is_unchanged_since(begin) == (begin is not None)
    assert not is_unchanged_since("0123456")
    assert not is_unchanged_since(None)


def test_a_repeated_row_that_differs_in_a_digit_is_named():
    row = {"data": "d", "seed": 0, "method": "m", "ami": 0.5, "seconds": 1.0}
    assert rows.differences([row], [row | {"seconds": 2.0}]) == []
    assert rows.differences([row], [row | {"ami": 0.6}]) == ["('d', 0, 'm'): ami is 0.6, was 0.5"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of peers
@pytest.mark.parametrize("name", TABLES)
def test_a_sample_of_the_committed_rows_is_repeated_to_the_digit(name):
    if name == "texts" and not TEXTS.exists():
        pytest.skip("the texts are not beside this checkout")
    table = rows.Repeated(name, is_sampled)
    assert check(table) == []
    methods = {row["method"] for row in table.repeated}
    assert any(method.startswith("dynmeans") for method in methods)
    assert any(not method.startswith("dynmeans") for method in methods)
