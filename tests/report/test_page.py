"""The file: self-contained, safe, small, and the same for the same data."""

import base64
import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from report_pages import FEATURES, TITLE

from dynmeans import History
from dynmeans.records.step_record import StepRecord
from dynmeans.report import render_report, report_data, write_report
from dynmeans.report.browser_page import TRY_SCRIPTS
from dynmeans.report.encode import pack_chunk, pack_report
from dynmeans.report.render_page import (
    ENGINE_SCRIPTS,
    LIVE_SCRIPTS,
    NOTEBOOK_SCRIPT,
    SCRIPTS,
    STYLES,
    WORKER_SCRIPTS,
)


def data_of(text):
    (block,) = re.findall(r'<script type="application/json" id="report-data">(.*?)</script>', text)
    return json.loads(block)


def unpacked(column, dtype):
    return np.frombuffer(base64.b64decode(column), dtype=dtype)


def test_the_page_needs_nothing_from_elsewhere(report_path):
    text = report_path.read_text()
    assert re.findall(r"(?:src|href)=[\"'](?!data:|#)", text) == []
    assert re.findall(r"@import|url\((?!#)", text) == []


def test_what_comes_from_outside_cannot_end_its_place(report_path):
    text = report_path.read_text()
    assert text.count("<script") == text.count("</script>") == 2
    assert "<b>Stream" not in text
    packed = data_of(text)
    assert packed["title"] == TITLE
    assert [axis["name"] for axis in packed["axes"]] == list(FEATURES)


def test_the_same_data_give_the_same_bytes(stream):
    first, second = (
        render_report(report_data(stream.history, points=stream.batches)) for _ in range(2)
    )
    assert first == second


def test_all_parts_of_the_page_are_used():
    folder = Path(str(files("dynmeans.report").joinpath("page")))
    parts = {part.relative_to(folder).as_posix() for part in folder.rglob("*") if part.is_file()}
    of_the_engine = {*ENGINE_SCRIPTS, *WORKER_SCRIPTS, "engine/panel.html", "style/panel.css"}
    of_the_try = {*TRY_SCRIPTS, "try/try.html", "try/try.css", "try/parquet.LICENSE"}
    assert parts == {
        "page.html",
        NOTEBOOK_SCRIPT,
        *LIVE_SCRIPTS,
        *STYLES,
        *SCRIPTS,
        *of_the_engine,
        *of_the_try,
    }


def test_packed_places_are_within_half_a_step_of_the_range(stream):
    data = report_data(stream.history, points=stream.batches)
    chunk = pack_chunk(data)
    low, high = np.array(chunk["limits"])
    steps = unpacked(chunk["points"]["places"], "<u2").reshape(2, -1).T
    places = low + steps / 65535 * (high - low)
    assert np.all(np.abs(places - data.points.places) <= 0.5001 * (high - low) / 65535)


def test_the_header_names_its_format_and_version(stream):
    packed = pack_report(report_data(stream.history))
    assert (packed["format"], packed["version"]) == ("dynmeans.report", 2)


def test_an_identity_too_large_for_the_format_is_refused():
    history = History()
    one = np.ones(1)
    history.add(
        StepRecord(
            step=0, time=1.0, labels=np.array([2**32]), ids=np.array([2**32]), counts=one,
            centers=np.ones((1, 2)), weights=one, ages=one, cost_trace=one, n_remembered=1,
            events=(),
        )
    )  # fmt: skip
    with pytest.raises(ValueError, match="numbers from 0 to 4294967295 here, got 4294967296"):
        render_report(report_data(history))


def test_an_old_file_stays_when_writing_fails(stream, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_report(report_data(stream.history), path)
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [
        ("report.html", "old")
    ]


def test_a_folder_that_is_not_there_is_refused(stream, tmp_path):
    with pytest.raises(ValueError, match="path must be in an existing folder"):
        write_report(report_data(stream.history), tmp_path / "nowhere" / "report.html")


def long_history(n_batches, n_clusters, n_features):
    """Clusters that are all seen in every batch, as a history without the work of finding them."""
    rng = np.random.default_rng(0)
    history = History()
    ids = np.arange(n_clusters)
    for step in range(n_batches):
        history.add(
            StepRecord(
                step=step, time=step + 1.0, labels=rng.integers(n_clusters, size=1000), ids=ids,
                counts=np.full(n_clusters, 1000 / n_clusters),
                centers=rng.normal(size=(n_clusters, n_features)), weights=np.ones(n_clusters),
                ages=np.ones(n_clusters), cost_trace=np.ones(1), n_remembered=n_clusters, events=(),
            )
        )  # fmt: skip
    return history


@pytest.mark.parametrize(
    ("n_clusters", "n_features"), [(50, 2), pytest.param(500, 12, marks=pytest.mark.slow)]
)
def test_a_million_points_make_a_page_below_5_mb(tmp_path, n_clusters, n_features):
    history = long_history(1000, n_clusters, n_features)
    rng = np.random.default_rng(1)
    points = [rng.normal(size=(1000, n_features)) for _ in range(1000)]
    path = write_report(report_data(history, points=points), tmp_path / "report.html")
    assert 3e6 < path.stat().st_size < 5e6
    (note, *_) = data_of(path.read_text())["notes"]
    assert note.startswith("Of 1,000,000 points ")


@pytest.mark.slow
def test_a_hundred_thousand_batches_make_a_page_below_5_mb(tmp_path):
    history = long_history(100_000, 5, 2)
    path = write_report(report_data(history), tmp_path / "report.html")
    assert path.stat().st_size < 5e6
