"""What a cluster is: means, what sets it apart, telling values."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import run_cases

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.follow.model_config import ModelConfig
from dynmeans.report.from_run import run_report
from dynmeans.runs.analysis import sampled_rows
from dynmeans.runs.analysis.profiles import describe_clusters
from dynmeans.runs.analysis.run_families import families_of_run
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window

POINTS = [[0.0, 1.0], [0.4, 1.2], [0.2, 1.1], [9.0, 1.0], [9.2, 1.2]]


@pytest.fixture
def small(tmp_path):
    config = RunConfig(("x", "y"), run_cases.RECIPE)
    with Run.create(tmp_path / "small", config) as run:
        run.process([Window(POINTS, name="a"), Window(POINTS[3:], name="b")])
    with Run.open(tmp_path / "small") as run:
        yield run


def rows_of(found):
    """Row of the cluster near 0, and of the one near 9."""
    return np.argsort(found.means[:, 0]).tolist()


def test_means_and_deviations_are_those_of_the_kept_rows(small):
    found = describe_clusters(small)
    near, far = rows_of(found)
    kept = np.float32(POINTS[:3])
    np.testing.assert_allclose(found.means[near], kept.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(found.deviations[near], kept.std(axis=0), rtol=1e-5)
    assert found.n_kept[[near, far]].tolist() == [3, 4]
    assert found.lifetimes.n_windows[[near, far]].tolist() == [1, 2]
    assert (found.lifetimes.first_windows[far], found.lifetimes.last_windows[far]) == ("a", "b")


def test_the_feature_that_differs_most_in_deviations_sets_a_cluster_apart(small):
    found = describe_clusters(small)
    (first, difference), (second, _) = found.largest_differences(rows_of(found)[1])
    # x: 9.1 - 0.2 over sqrt((0.1^2 + 0.08 / 3) / 2); y is about the same in both.
    assert (first, second) == ("x", "y")
    assert difference == pytest.approx(8.9 / np.sqrt((0.01 + 0.08 / 3) / 2), rel=1e-5)


def test_merged_clusters_have_one_profile_and_names_are_shown(small):
    small.merge_clusters(1, 0)
    small.name_cluster(1, "both")
    found = describe_clusters(small)
    assert (found.ids.tolist(), found.names, found.n_kept.tolist()) == ([1], {1: "both"}, [7])
    assert found.to_arrow()["differs"].to_pylist() == [""]  # there are no others


@pytest.fixture
def ports(tmp_path, monkeypatch):
    """Two clusters, one at sea and one in a harbor, whose rows say so in words and values."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    side = np.tile([0, 1, 1], 800)
    frame = pd.DataFrame(
        {
            "t": np.repeat(np.arange(8.0), 300),
            "x": 10.0 * side + rng.normal(0, 0.1, len(side)),
            "port": np.where(side, rng.choice(["Delft", "Gouda"], len(side)), "Rotterdam"),
            "berth": np.where(side, 7, 9),
            "draft": np.where(side, 2.14, 11.02) + rng.uniform(0, 0.03, len(side)),
        }
    )
    words = np.where(side, "quiet canal", "heavy crane")
    frame["text"] = [f"the {w}, number {n}" for n, w in enumerate(words)]
    frame.to_parquet("rows.parquet", index=False)
    options = ["-t", "t", "--every", "1", "-f", "x", "--new-penalty", "4", "-o", "run", "-q"]
    assert main(["cluster", "rows.parquet", *options]) == 0
    return Path("run")


def test_values_and_words_that_are_rare_elsewhere_tell_a_cluster(ports):
    with Run.open(ports) as run:
        found = describe_clusters(run, describe=["port", "text", "berth", "draft"])
    sea, harbor = found.ids[rows_of(found)].tolist()
    port, text, berth = (found.terms[name] for name in ("port", "text", "berth"))
    assert port.values_of(sea) == ["Rotterdam"]
    assert set(port.values_of(harbor)) == {"Delft", "Gouda"}
    assert port.terms[sea][0][1] == 1.0
    assert (port.are_words, text.are_words) == (False, True)
    assert set(text.values_of(sea)) == {"heavy", "crane"}  # not "the", which all have
    assert berth.values_of(harbor) == ["7"]
    assert found.terms["draft"].values_of(sea) == ["11"]  # the first two digits


def test_a_page_describes_clusters_of_which_no_word_tells_anything(ports):
    frame = pd.read_parquet("rows.parquet")
    frame["text"] = [f"alike {n}" for n in range(len(frame))]
    frame.to_parquet("rows.parquet", index=False)
    with Run.open(ports) as run:
        data = run_report(run, describe=["text"])
    assert set(data.descriptions) == {0, 1}


def test_families_are_described_like_clusters(ports):
    with Run.open(ports) as run:
        families = families_of_run(run, n_families=1)
        found = describe_clusters(run, families=families, describe=["port"])
    assert len(found.ids) == 1
    assert len(found.terms["port"].values_of(int(found.ids[0]))) == 3


def test_the_command_tells_it_in_lines_and_as_a_file(ports, capsys):
    assert main(["name", "run", "0", "harbor"]) == 0
    capsys.readouterr()
    words = ["clusters", "run", "--describe", "port,text", "-o", "out.csv"]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "0  harbor  1,600 points in 8 windows, 0 to 7\n" in told
    assert "    port    Rotterdam\n" in told
    table = pd.read_csv("out.csv")
    assert {"mean_x", "deviation_x", "differs", "distinctive_port"} <= {*table.columns}
    assert main(["clusters", "run", "--top", "1"]) == 0
    assert capsys.readouterr().out.endswith("and 1 more cluster (--top, -o FILE)\n")
    assert main(["clusters", "run", "--describe", "prot"]) == 1
    assert "Did you mean 'port'?" in capsys.readouterr().err


def test_a_run_that_keeps_no_rows_says_so(tmp_path):
    config = RunConfig(("x", "y"), run_cases.RECIPE, sample_size=0)
    with Run.create(tmp_path / "run", config) as run:
        run.process(Window(POINTS))
        for ask in (families_of_run, describe_clusters):
            with pytest.raises(ValueError, match="sample_size must be at least 1"):
                ask(run)


def test_labels_that_people_did_not_keep_are_not_described(tmp_path):
    table = pa.table({"t": [0.0, 0.1, 1.0], "x": [0.0, None, 0.1], "kind": ["a", "b", "a"]})
    pd.DataFrame(table.to_pydict()).to_csv(tmp_path / "rows.csv", index=False)
    options = ["-t", "t", "--every", "1", "-f", "x", "--new-penalty", "4", "-q"]
    words = ["cluster", str(tmp_path / "rows.csv"), *options, "--on-missing", "drop"]
    assert main([*words, "-o", str(tmp_path / "run")]) == 0
    with Run.open(tmp_path / "run") as run:
        assert describe_clusters(run, describe=["kind"]).terms["kind"].values_of(0) == ["a"]


def test_small_windows_are_described_together_as_one_by_one(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"lat": rng.choice([10.0, 50.0], 300), "lon": rng.choice([179, 20], 300)})
    rows = (frame + rng.normal(0, 0.8, frame.shape)).to_numpy()
    rows[:, 1] = (rows[:, 1] + 180) % 360 - 180
    model_config = ModelConfig(space="geo", new_penalty=1e6, random_state=0)
    with Run.create(tmp_path / "run", RunConfig(("lat", "lon"), model_config)) as run:
        run.process([Window(rows[i : i + 3], name=f"w{i}") for i in range(0, 300, 3)])
        together = describe_clusters(run)
        monkeypatch.setattr(sampled_rows, "_ROWS_AT_ONCE", 1)
        one_by_one = describe_clusters(run)
    assert len(together.ids) > 3
    assert together.to_arrow().equals(one_by_one.to_arrow())


def test_a_run_without_windows_has_no_profiles(tmp_path):
    with Run.create(tmp_path / "run", RunConfig(("x", "y"), run_cases.RECIPE)) as run:
        assert describe_clusters(run).to_arrow().num_rows == 0


def test_hours_set_clusters_apart_the_short_way_round_and_midnight_is_no_24(tmp_path):
    rng = np.random.default_rng(0)
    hours = np.concatenate([rng.normal(23.99, 0.5, 200), rng.normal(3.0, 0.5, 200)]) % 24
    config = RunConfig(("hour",), ModelConfig(new_penalty=6.0, random_state=0, space="cyclic:24"))
    with Run.create(tmp_path / "run", config) as run:
        run.process([Window(hours[:, None], name="a")])
        found = describe_clusters(run)
    night, later = np.argsort(np.abs(found.means[:, 0] - 3.0))[::-1]
    assert found.format_values(night, np.array([23.999])) == ["0.00"]
    (name, by), (_, back) = found.largest_differences(night)[0], found.largest_differences(later)[0]
    assert name == "hour"
    assert by == pytest.approx(-6.0, rel=0.1)  # three hours before, in deviations of half an hour
    assert back == pytest.approx(6.0, rel=0.1)


def test_the_longitude_sets_places_apart_across_the_date_line(tmp_path):
    rng = np.random.default_rng(0)
    lon = np.concatenate([rng.normal(179.9, 0.2, 100), rng.normal(-178.0, 0.2, 100)])
    rows = np.column_stack([rng.normal(0, 0.1, 200), (lon + 180) % 360 - 180])
    config = RunConfig(("lat", "lon"), ModelConfig(new_penalty=1e4, random_state=0, space="geo"))
    with Run.create(tmp_path / "run", config) as run:
        run.process([Window(rows, name="a")])
        found = describe_clusters(run)
    west = int(
        np.argmax(found.lifetimes.ids == found.ids[np.argmin(np.abs(found.means[:, 1] + 178))])
    )
    name, by = found.largest_differences(west)[0]
    assert name == "lon"
    assert by == pytest.approx(2.1 / 0.2, rel=0.15)
