"""Labels beside their rows, in files and for scores."""

import numpy as np
import pandas as pd
import pytest
import run_cases

from dynmeans import Run
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.exports import export_labels, truth_by_window
from dynmeans.runs.reading.window import Window
from dynmeans.runs.reading.window_options import WindowOptions


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
        done = export_labels(run, folder / "out.parquet", is_joined=False)
    assert done.n_rows == len(frame) - 1
    assert "row_id" in pd.read_parquet(folder / "out.parquet")


def test_rows_that_have_moved_are_read_at_their_new_place(shuffled):
    frame, folder = shuffled
    (folder / "rows.parquet").rename(folder / "moved.parquet")
    with Run.open(folder / "run") as run:
        done = export_labels(run, folder / "o.csv", table=str(folder / "moved.parquet"))
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


@pytest.mark.parametrize("name", ["out.xlsx", "out"])
def test_an_unknown_ending_is_refused(finished, tmp_path, name):
    with Run.open(finished) as run, pytest.raises(ValueError, match=r"\.parquet or \.csv"):
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
    config = RunConfig(("x", "y"), run_cases.PENALTIES)
    with Run.create(tmp_path / "run", config) as run:
        run.process(Window([[0.0, 1.0]]))
        with pytest.raises(ValueError, match="does not know where its rows are"):
            export_labels(run, tmp_path / "out.parquet")


def test_truth_kept_in_the_run_and_truth_of_the_source_are_the_same(finished, table):
    with Run.open(finished) as run:
        kept, found = truth_by_window(run, "truth")
        read, _ = truth_by_window(run, "truth", str(table))
    assert len(kept) == len(found) == 30
    np.testing.assert_array_equal(np.concatenate(kept), np.concatenate(read))


def test_true_identities_that_are_text_are_numbered_and_missing_ones_are_minus_one(tmp_path):
    frame = run_cases.moving_table(4)
    frame["ship"] = frame["truth"].map({0: "Ada", 1: "Bee", 2: None, 3: "Cat"})
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    run_cases.follow(tmp_path / "rows.parquet", tmp_path / "run")
    with Run.open(tmp_path / "run") as run:
        true, _ = truth_by_window(run, "ship")
    numbers = pd.Series(np.concatenate(true))
    assert (numbers[frame["truth"] == 2] == -1).all()
    assert numbers[frame["truth"] == 1].nunique() == 1
    assert numbers.nunique() == 4


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
