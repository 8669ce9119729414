"""The specification of visiting orders, and compiled code beside it."""

import numpy as np
import pytest
from colliding_rows import colliding_rows

from dynmeans.algorithm import visiting_orders as spec
from dynmeans.engine.compiled import compiled


def rows_of(seed):
    """Rows with ties, zeros of both signs and weights, in either type."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(0, 300)), int(rng.integers(1, 12))
    points = rng.normal(size=shape) * 10.0 ** rng.integers(-30, 30)
    if rng.random() < 0.5:
        points = rng.choice([-1.0, -0.0, 0.0, 0.5, 3.0], size=shape)
    weights = rng.choice([0.0, 0.5, 1.0], size=len(points)) if rng.random() < 0.5 else None
    return points.astype(rng.choice([np.float32, np.float64])), weights, int(rng.integers(2**63))


@pytest.mark.parametrize("seed", range(40))
def test_compiled_orders_are_those_of_the_specification(seed):
    points, weights, entropy = rows_of(seed)
    expected = spec.visiting_orders(points, weights, entropy, seed, 3)
    found = compiled.visiting_orders(points, entropy, seed, 3, weights)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(10))
def test_workers_hash_rows_as_the_specification_does(seed):
    points, _, entropy = rows_of(seed)
    d = points.shape[1]
    numbers = spec.split_mix(entropy, 7, d + 2)
    np.testing.assert_array_equal(
        compiled.hash_rows(points, entropy, 7), spec.row_hashes(points, numbers[:d])
    )
    np.testing.assert_array_equal(compiled.order_seeds(entropy, 7, d, 2), numbers[d:])


def test_different_rows_of_equal_hashes_are_visited_alike_in_any_arrangement():
    rows = colliding_rows(3, 1)
    hashes = compiled.hash_rows(rows, 3, 1)
    assert (hashes[::2] == hashes[1::2]).all()
    shuffle = np.random.default_rng(1).permutation(len(rows))
    expected = rows[compiled.visiting_orders(rows, 3, 1, 2)]
    found = rows[shuffle][compiled.visiting_orders(rows[shuffle], 3, 1, 2)]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(rows[spec.visiting_orders(rows, None, 3, 1, 2)], expected)


def test_equal_rows_of_unequal_weight_are_visited_alike_in_any_arrangement():
    rng = np.random.default_rng(0)
    rows, weights = rng.integers(0, 2, size=(60, 2)) * 1.0, rng.choice([0.5, 1.0, 2.0], size=60)
    shuffle = rng.permutation(60)
    order = compiled.visiting_orders(rows, 5, 0, 1, weights)[0]
    moved = shuffle[compiled.visiting_orders(rows[shuffle], 5, 0, 1, weights[shuffle])[0]]
    np.testing.assert_array_equal(rows[order], rows[moved])
    np.testing.assert_array_equal(weights[order], weights[moved])


def test_keys_of_whole_numbers_are_spread_evenly():
    grid = np.stack(np.meshgrid(np.arange(300.0), np.arange(300.0)), axis=-1).reshape(-1, 2)
    order = spec.visiting_orders(grid, None, 1, 0, 1)[0]
    counts = np.bincount(order // 9_000, weights=np.arange(len(order)) < len(order) // 2)
    assert (abs(counts - 4_500) < 300).all()
