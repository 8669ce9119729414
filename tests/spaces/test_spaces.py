"""Spaces: rows to points and back, on every kind of row, kept to the bit in JSON."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynmeans import DynamicMeans
from dynmeans.engine.batch import Batch
from dynmeans.follow.follow import follow
from dynmeans.follow.init_memory import begin
from dynmeans.follow.model_config import ModelConfig
from dynmeans.follow.predict import forecast_clusters
from dynmeans.inputs.input_error import InputError
from dynmeans.metrics import accuracy_global
from dynmeans.spaces.geo import EARTH_RADIUS, Geo
from dynmeans.spaces.landmarks import Landmarks
from dynmeans.spaces.named import SPACES, find_space, space_from_json
from dynmeans.spaces.space import map_on_device

NAMED = {
    "raw": "raw",
    "standard": "standard",
    "robust": "robust",
    "auto": "auto",
    "geo": "geo",
    "cyclic": "cyclic:24",
    "cosine": "cosine",
    "words": "words",
    "landmarks": "landmarks:12",
    "mixed": "0.1*geo(0,1) + cyclic:24(2) + robust(3)",
}


def _rows(name, n=60, seed=0):
    rng = np.random.default_rng(seed)
    if name == "geo":
        return np.stack([rng.uniform(-89, 89, n), rng.uniform(-180, 180, n)], axis=1)
    if name == "mixed":
        return np.hstack(
            [_rows("geo", n, seed), rng.uniform(0, 24, (n, 1)), rng.normal(size=(n, 1))]
        )
    if name == "cyclic":
        return rng.uniform(0, 24, (n, 2))
    return rng.normal(5.0, 2.0, (n, 3)) * [1.0, 10.0, 100.0]


def _followed(batches, **fields):
    model_config = ModelConfig(**fields, random_state=0)
    rows = [Batch(batch) for batch in batches]
    memory, labels = begin(model_config, rows), []
    for batch in rows:
        memory, step = follow(model_config, memory, batch)
        labels.append(step.clustering.labels)
    return model_config, memory, np.concatenate(labels)


def test_every_space_is_tested_here():
    assert NAMED.keys() == SPACES.keys()


@pytest.mark.parametrize("name", NAMED)
def test_a_space_comes_back_from_json_with_every_bit(name):
    rows = _rows(name)
    space = find_space(NAMED[name]).fit(rows)
    again = space_from_json(json.loads(json.dumps(space.to_json())))
    assert again == space
    np.testing.assert_array_equal(again.to_points(rows), space.to_points(rows))
    assert find_space(NAMED[name]).is_compatible(again)


@pytest.mark.parametrize("name", [name for name in NAMED if name != "landmarks"])
def test_rows_come_back_from_points(name):
    rows = _rows(name)
    space = find_space(NAMED[name]).fit(rows)
    if name in ("cosine", "words"):
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(space.to_rows(space.to_points(rows)), rows, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMED)
def test_rows_are_mapped_one_by_one_whatever_rows_are_beside_them(name):
    rows = _rows(name)
    space = find_space(NAMED[name]).fit(rows)
    parts = [map_on_device(space, rows[i : i + 7]) for i in range(0, len(rows), 7)]
    np.testing.assert_array_equal(np.concatenate(parts), space.to_points(rows))


@pytest.mark.parametrize("name", NAMED)
def test_what_is_learned_does_not_depend_on_the_order_of_rows(name):
    rows = _rows(name)
    shuffled = rows[np.random.default_rng(1).permutation(len(rows))]
    assert find_space(NAMED[name]).fit(shuffled) == find_space(NAMED[name]).fit(rows)


@pytest.mark.parametrize("name", NAMED)
def test_single_precision_stays_single(name):
    rows = _rows(name).astype(np.float32)
    assert find_space(NAMED[name]).fit(rows).to_points(rows).dtype == np.float32


@given(
    st.floats(-90, 90),
    st.floats(-180, 180),
)
def test_any_place_on_earth_comes_back(latitude, longitude):
    place = Geo().to_points(np.array([[latitude, longitude]]))
    np.testing.assert_allclose(np.linalg.norm(place), EARTH_RADIUS, rtol=1e-12)
    back = Geo().to_points(Geo().to_rows(place))
    np.testing.assert_allclose(back, place, atol=1e-6)  # a millimeter


def test_a_chord_of_500_km_is_shorter_than_the_way_by_less_than_a_thousandth():
    degrees = np.rad2deg(500.0 / EARTH_RADIUS)
    here, there = Geo().to_points(np.array([[40.0, 0.0], [40.0 + degrees, 0.0]]))
    chord = np.linalg.norm(there - here)
    assert 499.5 < chord < 500.0


def test_names_say_which_feature_is_the_latitude():
    rows = np.array([[178.4, -18.1]])
    space = find_space("geo").bind_features(["start_lon", "start_lat"])
    np.testing.assert_array_equal(space.to_points(rows), Geo().to_points(rows[:, ::-1]))


@pytest.mark.parametrize("seed", range(5))
def test_storms_across_the_date_line_and_a_pole_are_followed_as_elsewhere(seed):
    rng = np.random.default_rng(seed)
    starts = np.array([[0.0, 178.0], [88.0, 10.0], [-20.0, -175.0]])
    batches = []
    for t in range(8):
        places = starts + np.array([[0.1, 1.0], [0.6, 0.0], [-0.2, -1.0]]) * t
        rows = np.repeat(places, 20, axis=0) + rng.normal(0, 0.3, (60, 2)) * [1.0, 0.5]
        over = rows[:, 0] > 90.0
        rows[over] = np.stack([180.0 - rows[over, 0], rows[over, 1] + 180.0], axis=1)
        rows[:, 1] = (rows[:, 1] + 180.0) % 360.0 - 180.0
        batches.append(rows)
    fields = {"new_penalty": 500.0**2, "space": "geo"}
    *_, here = _followed(batches, **fields)
    turned = np.random.default_rng(seed + 100)
    turn, _ = np.linalg.qr(turned.normal(size=(3, 3)))
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    moved = [Geo().to_rows(Geo().to_points(rows) @ turn.T) for rows in batches]
    *_, there = _followed(moved, **fields)
    # Other values are visited in another order, which decides the numbers of new clusters.
    assert len(np.unique(here)) == len(np.unique(there)) == 3
    assert len(np.unique(np.stack([here, there]), axis=1).T) == 3


def test_midnight_is_no_seam():
    hours = np.array([[23.8], [0.1], [0.3], [23.9], [12.0], [12.2]])
    *_, labels = _followed([hours], new_penalty=4.0, space="cyclic:24")
    assert len(set(labels[:4])) == 1
    assert len(set(labels)) == 2


@pytest.mark.parametrize(
    ("space", "fields"),
    [("cyclic:360", slice(1, 2)), ("geo", slice(0, 2))],
    ids=["cyclic", "geo"],
)
def test_what_goes_round_is_expected_round_the_bend(space, fields):
    # Ten degrees a step on the equator: ninety degrees on, a straight line ends at 57 degrees.
    steps = 10.0 * np.arange(30)
    batches = [np.array([[0.0, t % 360.0], [0.0, (t + 1) % 360.0]])[:, fields] for t in steps]
    lambda_ = (25.0 if space != "geo" else 2500.0) ** 2
    model_config, memory, labels = _followed(
        batches, new_penalty=lambda_, space=space, motion="constant_velocity", reach=4.0
    )
    assert set(labels) == {0}
    place = forecast_clusters(model_config, memory, 9.0).centers[0, -1]
    assert abs((place - (290.5 + 90.0) + 180.0) % 360.0 - 180.0) < 5.0


def test_who_is_unseen_remembers_where_it_was_last_seen():
    batches = [np.array([[0.0, 10.0 * t], [0.0, 10.0 * t + 1.0]]) for t in range(12)]
    _, memory, _ = _followed(
        [*batches, np.empty((0, 2)), np.empty((0, 2))],
        **{"new_penalty": 2500.0**2, "space": "geo", "motion": "constant_velocity", "reach": 4.0},
    )
    np.testing.assert_allclose(memory.centers[0], [0.0, 110.5], atol=1.0)


@pytest.mark.parametrize(
    ("space", "rows", "words"),
    [
        ("geo", [[91.0, 0.0]], "latitudes from -90 to 90; row 0 has 91"),
        ("geo", [[9.0, 400.0]], "longitudes from -180 to 360; row 0 has 400"),
        ("geo", [[1.0, 2.0, 3.0]], "two features"),
        ("cosine", [[0.0, 0.0]], "rows that are not all zeros; row 0 is"),
    ],
)
def test_rows_that_cannot_be_mapped_are_refused_in_one_line(space, rows, words):
    with pytest.raises(InputError, match=words):
        _followed([np.array(rows)], new_penalty=1.0, space=space)


@pytest.mark.parametrize(
    "text", ["cyclic:0", "angle:x", "globe", "geo(lat", "2*standard(a) - raw(b)"]
)
def test_what_is_no_space_is_refused_by_name(text):
    with pytest.raises(InputError, match=r"space|period"):
        find_space(text)


@pytest.mark.parametrize(
    ("space", "words"),
    [
        ("raw(a)+raw(b)", "the feature 'a', and these rows have no names"),
        ("..*raw(0)+raw(1)", "a number before each \\*, got '..'"),
        ("raw(0,1)+raw(1)", "once; 1 is named twice"),
        ("mixed", "needs its groups, as in 0.1"),
    ],
)
def test_groups_that_make_no_space_are_refused_in_one_line(space, words):
    with pytest.raises(InputError, match=f"^space .*{words}"):
        _followed([np.ones((3, 2))], new_penalty=1.0, space=space)


def test_a_group_of_a_feature_that_is_not_there_is_refused_as_a_space():
    frame = pd.DataFrame(np.ones((3, 2)), columns=["x", "y"])
    with pytest.raises(InputError, match=r"^space must name features, which are x, y, got 'z'"):
        DynamicMeans(1.0, space="raw(x)+raw(z)").fit(frame)


def test_steady_motion_is_refused_where_there_are_no_courses():
    with pytest.raises(InputError, match="'constant_velocity' is not supported in space 'cosine'"):
        _followed([_rows("cosine")], new_penalty=1.0, space="cosine", motion="constant_velocity")


def test_landmarks_separate_rings_that_no_center_describes():
    rng = np.random.default_rng(0)
    turns = rng.uniform(0, 2 * np.pi, 400)
    radii = np.repeat([1.0, 4.0], 200) + rng.normal(0, 0.1, 400)
    rows = np.stack([np.cos(turns), np.sin(turns)], axis=1) * radii[:, None]
    points = Landmarks().fit(rows).to_points(rows)
    products = points @ points.T
    assert products[:200, :200].min() > 0.9
    assert np.abs(products[:200, 200:]).max() < 0.1


def test_an_outlier_is_no_landmark_and_a_row_like_none_lies_in_the_middle():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 0.1, (200, 2)), rng.normal(3, 0.1, (200, 2))])
    space = Landmarks(n_landmarks=50).fit(np.concatenate([rows, [[1.5, 1.5], [80.0, 0.0]]]))
    assert space.rows.max() < 4.0
    assert len(space.root) == 2
    assert space.to_points(np.array([[500.0, 500.0]])).tolist() == [[0.0, 0.0]]


def test_landmarks_of_few_or_equal_rows_are_learned_too():
    for rows in ([[1.0, 2.0]], [[1.0, 2.0]] * 5, [[0.0, 0.0], [1.0, 0.0]]):
        space = Landmarks().fit(np.array(rows))
        assert np.isfinite(space.to_points(np.array(rows))).all()
        assert space.to_rows(space.to_points(np.array(rows))).shape == np.shape(rows)


def test_moving_rings_keep_their_names_with_landmarks_and_not_without():
    radii, rng = np.array([0.13, 0.27, 0.4]), np.random.default_rng(0)
    batches, true, offsets = [], [], np.zeros((3, 2))
    for t in range(200):
        offsets = 0.9 * offsets + rng.normal(0, 0.0044, (3, 2))
        seen = [ring for ring in range(3) if not (ring == 1 and 100 <= t < 104)]
        rings, turns = np.repeat(seen, 30), rng.uniform(0, 2 * np.pi, 30 * len(seen))
        lengths = radii[rings] + rng.normal(0, 0.012, len(rings))
        circles = np.stack([np.cos(turns), np.sin(turns)], axis=1) * lengths[:, None]
        batches.append(offsets[rings] + circles)
        true.append(rings)
    model = DynamicMeans(0.6, space="landmarks", max_gap=8, random_state=0)
    assert accuracy_global(true, model.fit_sequence(batches)[0]) >= 0.95
    for penalty in (0.01, 0.05, 0.2):
        labels, _ = DynamicMeans(penalty, random_state=0).fit_sequence(batches)
        assert accuracy_global(true, labels) < 0.6


_NUMBERS = {
    "raw": (st.floats(-1e6, 1e6), 3),
    "standard": (st.floats(-1e6, 1e6), 3),
    "robust": (st.floats(-1e6, 1e6), 3),
    "cyclic": (st.floats(0, 23.999), 2),
    "cosine": (st.floats(-1e3, 1e3), 3),
    "words": (st.floats(-1e3, 1e3), 3),
}


@given(st.data(), st.sampled_from(sorted(_NUMBERS)))
def test_any_rows_come_back_from_their_points(data, name):
    numbers, n_features = _NUMBERS[name]
    rows = np.array(
        data.draw(
            st.lists(
                st.lists(numbers, min_size=n_features, max_size=n_features), min_size=1, max_size=8
            )
        )
    )
    space = find_space(NAMED[name])
    if name in ("cosine", "words"):
        rows = rows[np.abs(rows).max(axis=1) > 1e-3]
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    if not len(rows):
        return
    back = space.fit(rows).to_rows(space.fit(rows).to_points(rows))
    period = space.period if name == "cyclic" else np.inf
    away = np.abs(back - rows)
    scale = 1.0 + np.abs(rows).max()
    assert np.minimum(away, np.abs(period - away)).max() <= 1e-9 * scale


KINDS = ["raw", "standard", "robust", "auto", "geo", "cyclic:24", "cosine", "landmarks:12"]


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_every_space_goes_with_every_other_in_a_mixed_one(first, second, layout):
    rows = np.random.default_rng(0).uniform(1.0, 20.0, (60, 4))
    model = DynamicMeans(new_penalty=5.0, space=f"{first}(0,1) + 0.5*{second}(2,3)", random_state=0)
    model.fit(np.asarray(rows, order=layout))
    assert model.labels_.tolist() == model.fit_predict(rows.tolist()).tolist()
    assert model.predict(np.asarray(rows, order=layout)).shape == (60,)
    assert model.cluster_centers_.shape[1] == 4
