"""The film: what is written, and what is refused before anything is."""

import logging

import numpy as np
import pytest
from PIL import Image

from dynmeans.plots import animate
from dynmeans.plots.animation import _frame_data, _limits

DPI = 30


@pytest.fixture
def batches(history):
    """Points exactly at their centers."""
    return [record.centers[np.searchsorted(record.ids, record.labels)] for record in history]


def test_gif_has_one_frame_for_each_batch(history, batches, tmp_path):
    path = animate(history, batches, tmp_path / "film.gif", dpi=DPI)
    with Image.open(path) as film:
        assert film.n_frames == 4


def test_frames_last_as_long_as_asked(history, batches, tmp_path):
    path = animate(history, batches, str(tmp_path / "film.gif"), fps=4, dpi=DPI)
    with Image.open(path) as film:
        assert film.info["duration"] == 250  # ms


def test_nothing_but_the_film_is_left_in_the_folder(history, batches, tmp_path):
    animate(history, batches, tmp_path / "film.gif", dpi=DPI)
    assert [file.name for file in tmp_path.iterdir()] == ["film.gif"]


def test_limits_hold_every_batch_with_a_margin(history, batches):
    # Centers from 0 to 9 on both axes, and a twentieth of 9 on each side.
    limits = _limits(_frame_data(history, batches, (0, 1), 10))
    np.testing.assert_allclose(limits, [[-0.45, 9.45], [-0.45, 9.45]])


def test_limits_of_a_single_place_have_room(history, batches):
    # One batch, one cluster, at (1, 0).
    frame = _frame_data(history, batches, (0, 1), 0)[1]
    np.testing.assert_allclose(_limits([frame]), [[0.5, 1.5], [-0.5, 0.5]])


def test_progress_is_logged(history, batches, tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="dynmeans.plots.animation"):
        animate(history, batches, tmp_path / "film.gif", dpi=DPI)
    assert caplog.messages[-1] == "frame 4 of 4"


def test_another_kind_of_file_is_refused(history, batches, tmp_path):
    with pytest.raises(ValueError, match=r"path must end in \.gif, got '.*film\.avi'"):
        animate(history, batches, tmp_path / "film.avi")


def test_folder_that_does_not_exist_is_refused(history, batches, tmp_path):
    with pytest.raises(ValueError, match="path must be in an existing folder"):
        animate(history, batches, tmp_path / "nowhere" / "film.gif")


def test_batches_that_do_not_match_the_history_are_refused(history, batches, tmp_path):
    with pytest.raises(ValueError, match="one batch for each of 4 in the history, got 3"):
        animate(history, batches[:3], tmp_path / "film.gif")


def test_no_frames_per_second_are_refused(history, batches, tmp_path):
    with pytest.raises(ValueError, match="fps must be at least 1, got 0"):
        animate(history, batches, tmp_path / "film.gif", fps=0)


def test_film_that_fails_leaves_the_old_one(history, batches, tmp_path):
    path = tmp_path / "film.gif"
    path.write_text("old")
    batches[3] = batches[3] * np.nan
    with pytest.raises(ValueError, match="points must be finite"):
        animate(history, batches, path, dpi=DPI)
    assert path.read_text() == "old"
