"""Colors and markers: stable, different for neighbors, for every kind of color vision."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.colors import to_rgb, to_rgba_array

from dynmeans.plots import identity_color, identity_marker, identity_rgba
from dynmeans.plots.identity_colors import DARK_PALETTE, MARKERS, PALETTE, rows_by_marker

# Full color vision, and without red, green and blue cones (Machado and others, 2009).
COLOR_VISIONS = {
    "full": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175],
     [0.0193339, 0.119192, 0.9503041]]
)  # fmt: skip
WHITE = TO_XYZ.sum(axis=1)


def linear(color):
    rgb = np.array(to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(color, vision="full"):
    """L*, a*, b* as a kind of color vision sees them."""
    seen = np.clip(np.asarray(COLOR_VISIONS[vision]) @ linear(color), 0, 1)
    ratio = TO_XYZ @ seen / WHITE
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


PALETTES = {"light": PALETTE, "dark": DARK_PALETTE}
DARK_CARD = "#161a20"  # the report's background in the dark


def neighbors(palette):
    return list(zip(palette, palette[1:] + palette[:1], strict=True))


def luminance(color):
    return TO_XYZ[1] @ linear(color)


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
@pytest.mark.parametrize("vision", COLOR_VISIONS)
def test_colors_of_neighbors_are_far_apart_for_every_color_vision(vision, palette):
    # 2.3 can just be noticed; 20 is nearly nine times that.
    pairs = neighbors(palette)
    assert min(np.linalg.norm(lab(a, vision) - lab(b, vision)) for a, b in pairs) > 20


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
@pytest.mark.parametrize("vision", COLOR_VISIONS)
def test_no_two_colors_are_alike_for_any_color_vision(vision, palette):
    pairs = combinations(palette, 2)
    assert min(np.linalg.norm(lab(a, vision) - lab(b, vision)) for a, b in pairs) > 15


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_neighbors_differ_in_lightness_so_that_a_gray_print_can_be_read(palette):
    assert min(abs(lab(a)[0] - lab(b)[0]) for a, b in neighbors(palette)) > 10


def test_every_color_stands_out_from_white():
    assert min(1.05 / (luminance(color) + 0.05) for color in PALETTE) > 2.2


def test_every_color_for_the_dark_stands_out_there():
    # 3 is what readers need for marks (WCAG 2.2, 1.4.11).
    background = luminance(DARK_CARD) + 0.05
    assert min((luminance(color) + 0.05) / background for color in DARK_PALETTE) > 3


def test_neighbors_differ_in_color_and_in_marker():
    ids = range(200)
    looks = [(identity_color(k), identity_marker(k)) for k in ids]
    assert all(a[0] != b[0] and a[1] != b[1] for a, b in pairwise(looks))


def test_the_first_56_clusters_all_look_different():
    assert len({(identity_color(k), identity_marker(k)) for k in range(56)}) == 56


def test_the_57th_cluster_looks_like_the_first():
    assert (identity_color(56), identity_marker(56)) == (PALETTE[0], MARKERS[0])


def test_colors_of_many_are_the_colors_of_each():
    ids = [3, -1, 0, 1_000_000_007]
    expected = to_rgba_array([identity_color(k) for k in ids])
    np.testing.assert_array_equal(identity_rgba(ids), expected)


def test_points_of_no_cluster_are_gray_dots():
    assert (identity_color(-1), identity_marker(-1)) == ("#8C8C8C", ".")


def test_rows_are_grouped_by_marker():
    # Identities 0 and 7 have the first marker, 1 the second.
    groups = rows_by_marker(np.array([0, 1, 7, -1]))
    assert {marker: rows.tolist() for marker, rows in groups.items()} == {
        "o": [0, 2],
        "s": [1],
        ".": [3],
    }


def test_identity_below_minus_one_is_refused():
    with pytest.raises(ValueError, match="cluster_ids must be at least -1, got -2"):
        identity_color(-2)


def test_identity_that_is_no_integer_is_refused():
    with pytest.raises(TypeError, match=r"cluster_ids must be integers, got 0\.5"):
        identity_rgba([0.5])


def test_table_of_identities_is_refused():
    with pytest.raises(ValueError, match=r"must have one dimension, got shape \(1, 2\)"):
        identity_rgba([[0, 1]])
