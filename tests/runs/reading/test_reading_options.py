"""Files as people have them: other endings, encodings, decimal commas and times."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dynmeans.cli.__main__ import main
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows

LINES = b'{"t": 1.0, "x": 10.0}\n\n{"t": 2.0, "x": 20}\n{"t": 3.0, "x": 30.5}\n'
GERMAN = "wann;x;y;ort\n01.02.2024 10:00;1,5;2,25;Köln\n01.02.2024 10:01;NA;3;Zürich\n"


def values_of(rows, column="x", on_missing="error", **reading):
    options = WindowOptions(features=(column,), rows_per_window=100, on_missing=on_missing)
    with Source(rows, reading=ReadingOptions(**reading)) as source:
        (batch,) = Windows(source, options)
    return batch.points.ravel().tolist()


def packed(text: bytes, ending: str) -> bytes:
    if ending.endswith(".gz"):
        return gzip.compress(text)
    if ending.endswith(".zst"):
        target = pa.BufferOutputStream()
        with pa.CompressedOutputStream(target, "zstd") as stream:
            stream.write(text)
        return target.getvalue().to_pybytes()
    return text


@pytest.mark.parametrize("ending", [".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.zst", ".JSONL"])
def test_json_lines_are_read_packed_or_not(tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    path.write_bytes(packed(LINES, ending.lower()))
    assert values_of(str(path)) == [10.0, 20.0, 30.5]


def test_a_packed_csv_file_is_read(tmp_path):
    path = tmp_path / "rows.csv.zst"
    path.write_bytes(packed(b"t,x\n1,10\n2,20\n", ".zst"))
    assert values_of(path) == [10.0, 20.0]


def test_a_broken_line_of_json_is_one_error(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(LINES + b'{"t": 4, "x"\n')
    with pytest.raises(ValueError, match=r"the input cannot be read: .*line 5"):
        values_of(tmp_path / "rows.jsonl")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv.zst"])
def test_an_encoding_is_taken_by_its_name(tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    path.write_bytes(packed(GERMAN.encode("cp1252"), ending))
    with Source(path, reading=ReadingOptions(encoding="windows-1252")) as source:
        assert source.rows("ort") == [("Köln",), ("Zürich",)]


def test_a_file_that_is_not_utf8_names_the_option(tmp_path):
    (tmp_path / "rows.csv").write_bytes(GERMAN.encode("cp1252"))
    with pytest.raises(ValueError, match=r"not UTF-8\. Set its encoding, for example encoding="):
        values_of(tmp_path / "rows.csv")


def test_bytes_that_are_not_of_the_encoding_are_told(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"x\n\x81\n")
    with pytest.raises(ValueError, match=r"encoding: .*rows.csv' is not cp1252"):
        Source(tmp_path / "rows.csv", reading=ReadingOptions(encoding="cp1252"))


def test_an_encoding_for_what_has_none_is_refused(tmp_path):
    with pytest.raises(ValueError, match="encoding is for CSV files and JSON lines"):
        Source(pa.table({"x": [1.0]}), reading=ReadingOptions(encoding="utf-16"))


@pytest.mark.parametrize(("column", "expected"), [("x", [1.5]), ("y", [2.25, 3.0])])
def test_decimal_commas_are_numbers_also_beside_words_for_none(tmp_path, column, expected):
    (tmp_path / "rows.csv").write_text("\ufeff" + GERMAN, encoding="utf-8")
    found = values_of(tmp_path / "rows.csv", column, "drop", decimal=",")
    assert found == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [({"decimal": ";"}, "decimal must be one of"), ({"encoding": "klingon"}, "by Python")],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ReadingOptions(**options)


def test_of_several_forms_of_times_the_first_that_fits_is_taken():
    table = pa.table({"when": ["01.02.2024 10:00", "2024-02-01T10:01"], "x": [1.0, 2.0]})
    forms = ("%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M")
    options = WindowOptions(features=("x",), time="when", every="1min", time_format=forms)
    with Source(table, text_column="when") as source:
        assert [window.name for window in Windows(source, options)] == [
            "2024-02-01T10:00:00+00:00",
            "2024-02-01T10:01:00+00:00",
        ]


def test_the_form_of_times_in_json_lines_is_given_as_for_csv(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"t": "02/01/2024", "x": 1}\n')
    options = WindowOptions(features=("x",), time="t", every="1d", time_format="%d/%m/%Y")
    with Source(tmp_path / "rows.jsonl", text_column="t") as source:
        (window,) = Windows(source, options)
    assert window.name == "2024-01-02"


def test_a_misspelt_column_is_guessed_and_a_long_list_is_cut():
    names = [f"column_{n}" for n in range(50)]
    table = pa.table({**{name: [1.0] for name in names}, "Speed": [1.0]})
    with (
        Source(table) as source,
        pytest.raises(ValueError, match=r"and 45 more\. Did you mean 'Speed'\?"),
    ):
        Windows(source, WindowOptions(features=("speed",), rows_per_window=1))


def test_a_long_value_is_cut_in_the_message():
    table = pa.table({"x": ["a" * 10_000]})
    with Source(table) as source, pytest.raises(ValueError, match=r"aaa\.\.\. in column") as caught:
        Windows(source, WindowOptions(features=("x",), rows_per_window=1))
    assert len(str(caught.value)) < 300


def moving_lines(n_windows):
    rng = np.random.default_rng(0)
    for window in range(n_windows):
        for k in range(8):
            x = 10.0 * (k % 2) + rng.normal(0, 0.1)
            yield {"t": window + k / 10, "x": round(x, 6), "y": k % 2}


def test_standard_input_gets_the_suggestion_of_the_same_rows_in_a_file(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    text = "".join(json.dumps(row) + "\n" for row in moving_lines(40))
    (tmp_path / "rows.jsonl").write_text(text)
    options = ["-t", "t", "--every", "1", "-f", "x", "--truth", "y", "--json"]
    assert main(["cluster", "rows.jsonl", *options, "-o", "file"]) == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["cluster", "-", *options, "-o", "live"]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["n_rows"] == second["n_rows"] == 320
    assert first["n_clusters_total"] == second["n_clusters_total"] == 2
    assert first["cost"] == second["cost"]


def test_labels_on_standard_output_are_rows_and_nothing_else(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"t": [0.1, 0.1, 1.5], "x": [1.0, None, 1.2]})
    frame.to_csv("rows.csv", index=False)
    options = ["-t", "t", "--every", "1", "-f", "x", "--new-penalty", "1"]
    assert main(["cluster", "rows.csv", *options, "-o", "run"]) == 0
    assert (
        b"1 row was left out and has no label: 1 without a value for x"
        in capfdbinary.readouterr().err
    )
    assert main(["labels", "run", "-o", "-"]) == 0
    found = pd.read_csv(io.BytesIO(capfdbinary.readouterr().out))
    assert found["cluster_id"].fillna(-1).tolist() == [0, -1, 0]
