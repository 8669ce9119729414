import numpy as np
import pytest

from dynmeans.plots.figures import new_figure
from paper.series import Series, draw_histogram, draw_series, save_figure

LINE = Series(
    "one", np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([0.5, 1.0]), "#0072B2", "o"
)


def band_of(is_upper_half_only):
    _, (ax,) = new_figure((4, 3), 1, 1)
    draw_series(ax, [LINE], is_upper_half_only=is_upper_half_only)
    (band,) = ax.collections
    ys = band.get_paths()[0].vertices[:, 1]
    return ys.min(), ys.max()


def test_band_is_one_deviation_on_both_sides():
    assert band_of(False) == (2.5, 5.0)


def test_upper_half_of_the_band_begins_at_the_line():
    assert band_of(True) == (3.0, 5.0)


def test_every_line_is_named_below():
    _, (ax,) = new_figure((4, 3), 1, 1)
    draw_series(ax, [LINE])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one"]


@pytest.mark.parametrize("values", [[1.0, 2.0, 4.0, 100.0], [2.0, 2.0]])
def test_histogram_counts_every_value(values):
    _, (ax,) = new_figure((4, 3), 1, 1)
    draw_histogram(ax, np.array(values), "#0072B2", "ms")
    assert sum(bar.get_height() for bar in ax.patches) == len(values)
    assert f"median {np.median(values):.3g} ms" in ax.get_legend().get_texts()[0].get_text()


def test_figure_is_saved_as_png_and_svg_under_names_with_dots(tmp_path):
    figure, _ = new_figure((2, 2), 1, 1)
    files = save_figure(figure, tmp_path / "noise-0.05")
    assert [file.name for file in files] == ["noise-0.05.png", "noise-0.05.svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in files[1].read_bytes()
