"""When a suggestion says that it should not be trusted."""

import numpy as np
import pytest

from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.follow.model_config import ModelConfig
from dynmeans.parameters import SuggestionWarning, suggest_penalties
from dynmeans.parameters.selection import suggest
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.runs.warm_up import initial_memory


def stream(**kind):
    kind = {"spread": 0.02, "motion": 0.01, "death": 0.0, "points_per_cluster": 8} | kind
    return moving_gaussians(10, 4, rng=np.random.default_rng(0), **kind).batches


def lone_points(n_steps=6):
    """Ten clusters far apart, each seen as one point."""
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 100, size=(10, 2))
    return [places + rng.normal(0, 0.2, size=places.shape) for _ in range(n_steps)]


def test_ordinary_clusters_raise_no_doubt():
    assert suggest(stream()).warnings == ()


def test_a_choice_on_single_points_is_doubted():
    (doubt,) = suggest(lone_points()).warnings
    assert doubt.startswith("60 of 60 clusters in all batches have a single point")


def test_a_few_outliers_raise_no_doubt():
    # 5 clusters of 32 points in all, and 6 points alone: most clusters, but few points.
    rng = np.random.default_rng(0)
    outliers = 100.0 * rng.normal(size=(6, 2)) + 500.0
    batches = [np.vstack([batch, outliers]) for batch in stream()]
    assert suggest(batches).warnings == ()


def test_a_feature_with_nearly_all_the_spread_is_doubted():
    (doubt,) = suggest([batch * [1.0, 100.0] for batch in stream()]).warnings
    assert doubt.startswith("feature 2 of 2 has 99.9")


def test_a_feature_that_never_changes_raises_no_doubt():
    batches = [np.column_stack([batch[:, 0], np.full(len(batch), 7.0)]) for batch in stream()]
    assert not any("variance" in doubt for doubt in suggest(batches).warnings)


def far_moves():
    """Clusters that move farther than they lie apart."""
    return moving_gaussians(
        20, 8, rng=np.random.default_rng(1), spread=0.003, motion=0.03, death=0.0,
        points_per_cluster=8,
    ).batches  # fmt: skip


def test_a_reach_at_the_end_of_those_tried_is_doubted():
    far = far_moves()
    assert [doubt[:24] for doubt in suggest(far).warnings] == ["reach 3 is the largest v"]
    assert suggest(far, reach=3.0).warnings == ()


def seldom_seen(n_steps=60, n_places=20):
    """Twenty places, each of them seen in one batch of ten."""
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 100, size=(n_places, 2))
    seen = [places[rng.random(n_places) < 0.1] for _ in range(n_steps)]
    return [np.repeat(at, 8, axis=0) + rng.normal(0, 0.3, size=(8 * len(at), 2)) for at in seen]


def test_places_that_are_seldom_seen_are_never_forgotten():
    found = suggest(seldom_seen())
    assert found.penalties.max_gap == np.inf
    assert found.chosen.n_clusters_total >= 19  # Two of the twenty lie within a step of each other.
    assert found.warnings == ()


def used_once(n_steps=10):
    """New places in every batch: there is nothing to follow."""
    rng = np.random.default_rng(0)
    places = [rng.uniform(0, 100, size=(12, 2)) for _ in range(n_steps)]
    return [np.repeat(at, 8, axis=0) + rng.normal(0, 0.3, size=(96, 2)) for at in places]


def test_a_choice_that_follows_nothing_is_not_taken():
    found = suggest(used_once())
    n_seen = found.chosen.n_clusters_per_batch * found.n_batches
    assert (
        n_seen / found.chosen.n_clusters_total >= 2
        or "last longer than one batch" in found.warnings[0]
    )
    assert found.chosen.n_clusters_total < 60


def test_about_so_many_clusters_fix_the_scale():
    batches = stream()
    few, many = (suggest(batches, n_clusters=n).chosen.n_clusters_per_batch for n in (2, 6))
    assert few == pytest.approx(2, rel=0.35)
    assert many == pytest.approx(6, rel=0.35)


def test_a_number_that_cannot_be_had_is_doubted():
    (doubt, *_) = suggest(stream(), n_clusters=1000).warnings
    assert doubt.startswith("no new_penalty gives about 1000 clusters")


def even_rows():
    """Equal distances are no reason to draw a border."""
    row = 9.0 * np.arange(10.0)[:, None]
    return [row, row + 0.1, row]


def test_a_single_cluster_in_every_batch_is_doubted():
    (doubt,) = suggest(even_rows()).warnings
    assert doubt.startswith("all points of a batch form one cluster")


@pytest.mark.parametrize(
    ("batches", "options", "told"),
    [
        (lone_points(), {}, "in all windows have a single point"),
        (lone_points(1), {}, "a single window contains no information"),
        (
            far_moves(),
            {},
            "between two windows than the distance to their neighbors. Use shorter windows.",
        ),
        (even_rows(), {}, "all points of a window form one cluster"),
        (stream(), {"n_clusters": 1000}, "1000 clusters in a window; this one"),
        (stream(), {}, "since the last window is recognized."),
    ],
)
def test_a_choice_on_windows_speaks_of_windows(batches, options, told):
    choices, names = [], tuple(f"x{j}" for j in range(np.shape(batches[0])[1]))
    config = RunConfig(names, ModelConfig(random_state=0, **options))
    initial_memory(config, [Window(points) for points in batches], choices.append)
    (found,) = choices
    text = " ".join([*found.warnings, found.explanation])
    assert told in text
    assert "batch" not in text


def test_a_doubtful_choice_is_warned_of_where_it_is_asked_for():
    with pytest.warns(SuggestionWarning, match="may be poor: 60 of 60 clusters") as caught:
        suggest_penalties(lone_points())
    assert caught[0].filename == __file__


def test_one_table_in_place_of_a_list_of_batches_is_told():
    message = r"batches must be a list with an array for each batch, got a single table of 32 rows"
    with pytest.raises(ValueError, match=message):
        suggest_penalties(stream()[0])


def test_the_batch_that_is_wrong_is_named_once():
    with pytest.raises(ValueError, match=r"^batches\[1\] must(?!.*batches)"):
        suggest_penalties([np.ones((3, 2)), np.ones(3)])


def test_uniform_noise_has_no_scale():
    rng = np.random.default_rng(1)
    found = suggest([rng.uniform(size=(200, 2)) for _ in range(20)])
    assert any("no clusters at this scale" in doubt for doubt in found.warnings)


def test_a_dense_heap_in_a_wide_one_has_two_widths():
    rng = np.random.default_rng(0)
    heaps = [
        np.vstack([rng.normal(0, 5, (150, 2)), rng.normal(0, 0.3, (80, 2))]) for _ in range(20)
    ]
    assert any("the widest clusters are" in doubt for doubt in suggest(heaps).warnings)


def test_parts_of_a_bar_and_an_arc_are_doubted_and_another_method_is_named():
    rng = np.random.default_rng(0)
    batches = []
    for _ in range(15):
        angles = rng.uniform(0.2, 2.9, 200)
        bar = np.column_stack([rng.uniform(-6, 6, 200), rng.normal(-5, 0.1, 200)])
        arc = np.column_stack([6 * np.cos(angles), 6 * np.sin(angles)])
        batches.append(np.concatenate([bar, arc, rng.normal(0, 0.3, (200, 2))]))
    doubts = [doubt for doubt in suggest(batches).warnings if "larger shape" in doubt]
    assert len(doubts) == 1
    assert "method='hdbscan'" in doubts[0]
    assert "--method hdbscan" in doubts[0].render(
        lambda name, value: f"--{name} {value.strip(chr(39))}"
    )
