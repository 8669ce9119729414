"""Labels beside their rows, in files and for scores."""

import io

import numpy as np
import pandas as pd
import pytest
import run_cases

from dynmeans import Run
from dynmeans.metrics import tracking_report
from dynmeans.runs.analysis.profiles import describe_clusters
from dynmeans.runs.analysis.truth_counts import count_truth, score_run
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.export.export_labels import export_labels
from dynmeans.runs.reading.live_windows import LiveWindows
from dynmeans.runs.reading.window import Window, WindowOptions


@pytest.fixture
def shuffled(tmp_path):
    """A table out of order with a row to drop, and the run over it."""
    frame = run_cases.moving_table(12).sample(frac=1, random_state=1).reset_index(drop=True)
    frame.loc[5, "x"] = np.nan
    frame["cluster_id"] = "mine"
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    options = WindowOptions(("x", "y"), time="when", every="1min", on_missing="drop")
    run_cases.follow(tmp_path / "rows.parquet", tmp_path / "run", options)
    return frame, tmp_path


def test_every_original_row_comes_back_in_its_place_with_its_cluster(shuffled):
    frame, folder = shuffled
    with Run.open(folder / "run") as run:
        assert export_labels(run, folder / "out.parquet").n_rows == len(frame)
        labels = run.labels().set_index("row_id")
    out = pd.read_parquet(folder / "out.parquet")
    pd.testing.assert_frame_equal(out[list(frame.columns)], frame)
    found = out["dynmeans_cluster_id"]
    assert found.isna().tolist() == (np.arange(len(frame)) == 5).tolist()
    for row in (0, 1, len(frame) - 1):
        assert found[row] == labels["cluster_id"][row]
        assert out["distance"][row] == labels["distance"][row]


def test_csv_is_written_by_its_ending(shuffled):
    frame, folder = shuffled
    with Run.open(folder / "run") as run:
        export_labels(run, folder / "out.csv")
    out = pd.read_csv(folder / "out.csv")
    assert out.columns.tolist() == [*frame.columns, "step", "dynmeans_cluster_id", "distance"]
    np.testing.assert_allclose(out["y"], frame["y"])


def test_labels_alone_need_no_source(shuffled):
    frame, folder = shuffled
    (folder / "rows.parquet").unlink()
    with Run.open(folder / "run") as run:
        with pytest.raises(FileNotFoundError, match=r"there is no file .*rows\.parquet"):
            export_labels(run, folder / "out.parquet")
        done = export_labels(run, folder / "out.parquet", labels_only=True)
    assert done.n_rows == len(frame) - 1
    assert "row_id" in pd.read_parquet(folder / "out.parquet")


def test_rows_that_have_moved_are_read_at_their_new_place(shuffled):
    frame, folder = shuffled
    (folder / "rows.parquet").rename(folder / "moved.parquet")
    with Run.open(folder / "run") as run:
        done = export_labels(run, folder / "o.csv", input=str(folder / "moved.parquet"))
    assert done.n_rows == len(frame)


def test_rows_with_names_are_joined_by_their_place_not_their_name(tmp_path):
    frame = run_cases.moving_table(6).assign(ship="same name for all")
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    options = WindowOptions(("x", "y"), time="when", every="1min", id="ship")
    run_cases.follow(tmp_path / "rows.parquet", tmp_path / "run", options)
    with Run.open(tmp_path / "run") as run:
        assert export_labels(run, tmp_path / "out.parquet").n_rows == len(frame)
        expected = run.labels()["cluster_id"].tolist()
    assert pd.read_parquet(tmp_path / "out.parquet")["cluster_id"].tolist() == expected


@pytest.mark.parametrize("name", ["out.doc", "out"])
def test_an_unknown_ending_is_refused(finished, tmp_path, name):
    with (
        Run.open(finished) as run,
        pytest.raises(ValueError, match=r"must end in \.parquet, \.csv"),
    ):
        export_labels(run, tmp_path / name)


def test_an_export_that_fails_leaves_the_old_file(shuffled):
    _, folder = shuffled
    (folder / "out.parquet").write_text("precious")
    (folder / "rows.parquet").write_bytes(b"PAR1 no more")
    with Run.open(folder / "run") as run, pytest.raises((ValueError, OSError)):
        export_labels(run, folder / "out.parquet")
    assert (folder / "out.parquet").read_text() == "precious"
    assert [path.name for path in folder.glob(".out*")] == []


def test_a_run_from_python_says_that_it_knows_no_source(tmp_path):
    config = RunConfig(("x", "y"), run_cases.RECIPE)
    with Run.create(tmp_path / "run", config) as run:
        run.process(Window([[0.0, 1.0]]))
        with pytest.raises(ValueError, match="has no input file"):
            export_labels(run, tmp_path / "out.parquet")


def test_truth_kept_in_the_run_and_truth_of_the_source_are_the_same(finished, table):
    with Run.open(finished) as run:
        kept, read = count_truth(run, "truth"), count_truth(run, "truth", str(table))
    for of_run, of_source in zip(kept, read, strict=True):
        np.testing.assert_array_equal(of_run, of_source)


def test_scores_from_counts_are_those_of_all_rows_to_the_last_bit(shuffled):
    frame, folder = shuffled
    with Run.open(folder / "run") as run:
        scores = score_run(run, "truth", str(folder / "rows.parquet"))
        labels = run.labels()
    labels["truth"] = frame["truth"].to_numpy()[labels["row_id"]]
    windows = [window for _, window in labels.groupby("step")]
    expected = tracking_report([w["truth"] for w in windows], [w["cluster_id"] for w in windows])
    assert scores == expected
    assert scores["ari_global"] < 1 or scores["idf1"] == 1


def test_true_identities_that_are_text_are_counted_and_missing_ones_left_out(tmp_path):
    frame = run_cases.moving_table(4)
    frame["ship"] = frame["truth"].map({0: "Ada", 1: "Bee", 2: None, 3: "Cat"})
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    run_cases.follow(tmp_path / "rows.parquet", tmp_path / "run")
    with Run.open(tmp_path / "run") as run:
        found = count_truth(run, "ship")
    assert set(found.truth) == {"Ada", "Bee", "Cat"}
    assert found.counts.sum() == (frame["truth"] != 2).sum()


def test_labels_go_to_standard_output_as_csv(shuffled, capfdbinary):
    frame, folder = shuffled
    with Run.open(folder / "run") as run:
        assert export_labels(run, "-").n_rows == len(frame)
        export_labels(run, folder / "out.csv")
    shown = pd.read_csv(io.BytesIO(capfdbinary.readouterr().out))
    pd.testing.assert_frame_equal(shown, pd.read_csv(folder / "out.csv"))


def test_labels_are_written_as_json_lines(shuffled):
    frame, folder = shuffled
    with Run.open(folder / "run") as run:
        export_labels(run, folder / "out.jsonl")
    out = pd.read_json(folder / "out.jsonl", lines=True)
    np.testing.assert_allclose(out["y"], frame["y"])


FORMULAS = ["=cmd|' /C calc'!A0", "@SUM(1)", "\tx", "-2+3+cmd|'x'!A0"]
PLAIN = ["-5", "+49 170", "a=b", "-"]


def test_cells_a_spreadsheet_would_run_get_an_apostrophe_in_csv_and_are_counted(tmp_path):
    frame = run_cases.moving_table(2, n_rows=4).assign(note=[*FORMULAS, *PLAIN])
    frame = frame.rename(columns={"note": "=note"})
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    run_cases.follow(tmp_path / "rows.parquet", tmp_path / "run")
    with Run.open(tmp_path / "run") as run:
        assert export_labels(run, tmp_path / "out.csv").n_formulas == 5
        assert export_labels(run, tmp_path / "out.parquet").n_formulas == 0
    found = pd.read_csv(tmp_path / "out.csv")["'=note"].tolist()
    assert found == [*(f"'{cell}" for cell in FORMULAS), *PLAIN]
    assert pd.read_parquet(tmp_path / "out.parquet")["=note"].tolist() == [*FORMULAS, *PLAIN]


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.iloc[::-1],
        lambda frame: frame.iloc[:-1],
        lambda frame: frame.assign(x=frame["x"].where(frame.index != 3, 7.0)),
        lambda frame: frame.drop(columns="x"),
    ],
    ids=["reversed", "shorter", "edited", "without a feature"],
)
def test_labels_are_not_put_beside_other_rows_than_theirs(tmp_path, change):
    frame = run_cases.moving_table(4).assign(note="a")
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    run_cases.follow(tmp_path / "rows.parquet", tmp_path / "run")
    change(frame).to_parquet(tmp_path / "rows.parquet", index=False)
    with Run.open(tmp_path / "run") as run:
        for use in (
            lambda: export_labels(run, tmp_path / "labels.csv"),
            lambda: score_run(run, "note"),
            lambda: describe_clusters(run, describe=["note"]),
        ):
            with pytest.raises(ValueError, match="does not match the rows of this run"):
                use()
        assert not (tmp_path / "labels.csv").exists()
        assert export_labels(run, tmp_path / "labels.csv", labels_only=True).n_rows == len(frame)


def test_rows_that_were_added_after_the_run_have_no_label(tmp_path):
    frame = run_cases.moving_table(5)
    frame.iloc[:48].to_parquet(tmp_path / "rows.parquet", index=False)
    run_cases.follow(tmp_path / "rows.parquet", tmp_path / "run")
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    with Run.open(tmp_path / "run") as run:
        export_labels(run, tmp_path / "labels.parquet")
    found = pd.read_parquet(tmp_path / "labels.parquet")
    assert found["cluster_id"].notna().tolist() == [True] * 48 + [False] * 12


def test_lines_that_are_fewer_than_their_labels_are_refused(tmp_path):
    rows = pd.DataFrame({"t": range(6), "x": 0.0})
    lines = rows.to_json(orient="records", lines=True).splitlines()
    options = WindowOptions(("x",), time="t", every="2")
    config = RunConfig(("x",), run_cases.RECIPE, source={"input": "-", **options.to_fields()})
    with Run.create(tmp_path / "run", config) as run:
        run.process_all(LiveWindows(lines, options))
        rows.iloc[:4].to_parquet(tmp_path / "rows.parquet")
        with pytest.raises(ValueError, match="the input has 4 rows, but the run has labels for"):
            export_labels(run, tmp_path / "labels.parquet", input=tmp_path / "rows.parquet")
