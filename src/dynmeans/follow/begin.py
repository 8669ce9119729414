"""begin: where a stream's seed is drawn, its space learned and its penalties chosen."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dynmeans.engine.batch import AnyBatch, Batch
from dynmeans.engine.checks import entropy_of_seed, one_for_each
from dynmeans.follow.courses import check_courses
from dynmeans.follow.finder import finder_of
from dynmeans.follow.lives import NOBODY
from dynmeans.follow.memory import Memory
from dynmeans.follow.methods import method_text
from dynmeans.follow.recipe import Recipe
from dynmeans.inputs.input_error import InputError
from dynmeans.parameters.suggest import first_batches
from dynmeans.records.penalties import AUTO, DEFAULT_MOTION, Penalties
from dynmeans.records.state import ClusterState
from dynmeans.records.suggestion import Suggestion, warn_of_doubts
from dynmeans.spaces.named import find_space
from dynmeans.spaces.raw import Raw
from dynmeans.spaces.space import Space

_logger = logging.getLogger(__name__)

OnChoice = Callable[[Suggestion], None]


def tell_choice(found: Suggestion) -> None:
    """Log what was chosen, and warn where it should not be trusted."""
    _logger.info("%s", found.explanation)
    warn_of_doubts(found.doubts)


def begin(
    recipe: Recipe,
    batches: Sequence[AnyBatch],
    elapsed: float | Sequence[float] = 1.0,
    *,
    feature_names: Sequence[str] | None = None,
    entropy: int | None = None,
    on_choice: OnChoice = tell_choice,
    batch_word: str = "batch",
) -> Memory:
    """Return the memory before the first batch: seed drawn, space learned, penalties chosen.

    Of `batches` the first are looked at (30 that have points, and more up to 4,000 points), and
    nothing is clustered yet. Where none has points, space and penalties are settled by the first
    batch that has. `on_choice` is called with what was chosen for "auto", and may raise.
    """
    gaps = one_for_each("elapsed", elapsed, len(batches))
    n_features = batches[0].n_features
    space = find_space(recipe.space)
    if feature_names is not None:
        space = space.for_features([str(name) for name in feature_names])
    memory = Memory(
        ClusterState.empty(space.n_coordinates(n_features) if space.is_fitted else n_features),
        space,
        None,
        draw_entropy(recipe.random_state) if entropy is None else entropy,
        n_features,
        None if feature_names is None else tuple(map(str, feature_names)),
        NOBODY,
        method=method_text(recipe.method),
    )
    return settle(recipe, memory, batches, gaps, on_choice, batch_word)


def remembering(
    recipe: Recipe, clusters: ClusterState, *, feature_names: Sequence[str] | None = None
) -> Memory:
    """Return a memory of these clusters, which are points of the space of the recipe.

    Penalties and space must be known without looking at rows: given, and fitted.
    """
    space = find_space(recipe.space)
    if not space.is_fitted:
        rule, hint = "must be fitted, or 'raw', for clusters that are known", "Fit it to rows."
        raise InputError("space", rule, got=recipe.space, hint=hint)
    names = None if feature_names is None else tuple(map(str, feature_names))
    entropy = draw_entropy(recipe.random_state)
    # A space of more coordinates than features comes with the names of those.
    n_features = clusters.n_features if names is None else len(names)
    method = method_text(recipe.method)
    memory = Memory(clusters, space, None, entropy, n_features, names, NOBODY, method=method)
    penalties = given_penalties(recipe, memory)
    if penalties is None:
        rule = "must be given for clusters that are known"
        raise InputError("penalties", rule, got=AUTO)
    return replace(memory, penalties=penalties)


def settle(
    recipe: Recipe,
    memory: Memory,
    batches: Sequence[AnyBatch],
    gaps: Sequence[float],
    on_choice: OnChoice = tell_choice,
    batch_word: str = "batch",
) -> Memory:
    """Return the memory with space and penalties, where these batches can tell them."""
    if memory.space.is_fitted and not recipe.is_auto:
        known = memory.penalties or given_penalties(recipe, memory)
        return replace(memory, penalties=known)
    n = first_batches(batches)
    has_points = any(batch.has_weight for batch in batches[:n])
    space, penalties, clusters = memory.space, memory.penalties, memory.clusters
    if not space.is_fitted and has_points:
        space = _fitted(space, batches[:n])
        clusters = _without_clusters(clusters, space.n_coordinates(memory.n_features))
        memory = replace(memory, space=space, clusters=clusters)
    if penalties is None:
        penalties = given_penalties(recipe, memory)
    if penalties is None and has_points:
        here = [batch.in_memory("penalties='auto'") for batch in batches[:n]]
        rows = [into_space(batch, space) for batch in here]
        found = _choice(recipe, memory, rows, gaps[:n], batch_word)
        if not isinstance(space, Raw):
            found = replace(found, tell=space.tell)
        on_choice(found)
        penalties = adopted(recipe, memory, found.penalties)
    return replace(memory, penalties=penalties)


def into_space(batch: AnyBatch, space: Space) -> Any:
    """Return the batch as points of the space; one that cannot be mapped where it lies says so."""
    return batch if isinstance(space, Raw) else batch.mapped(space)


def draw_entropy(random_state: Any) -> int:
    """Draw once; with the number of the batch it seeds each batch by itself."""
    if isinstance(random_state, int):  # the same number, without making a generator
        return int(entropy_of_seed(random_state))
    # None is NumPy's global generator, as in scikit-learn.
    random = np.random.mtrand._rand if random_state is None else random_state
    return int(random.randint(2**63, dtype=np.int64))


def given_penalties(recipe: Recipe, memory: Memory) -> Penalties | None:
    """lambda, Q and tau of a recipe that gives them; None where they are to be chosen."""
    given, moving = recipe.penalties, memory.coordinates_of(recipe.penalties.moving)
    usual = memory.space.usual_penalty
    if usual is not None and recipe.is_open:
        if memory.penalties is not None:
            return None
        return _in_space(replace(given, new_penalty=usual).complete(moving), memory.space)
    return None if recipe.is_auto else _in_space(given.complete(moving), memory.space)


def adopted(recipe: Recipe, memory: Memory, penalties: Penalties) -> Penalties:
    """Return penalties with the revival rule and the motion of the recipe, where it has them."""
    adopted = recipe.penalties.adopt(penalties, memory.coordinates_of(recipe.penalties.moving))
    return _in_space(adopted, memory.space)


def _in_space(penalties: Penalties, space: Space) -> Penalties:
    """Return the penalties with the centers of the space, where it has a kind of its own."""
    check_courses(space, penalties)
    return penalties.with_centers("sphere") if space.centers == "sphere" else penalties


def _fitted(space: Space, batches: Sequence[AnyBatch]) -> Space:
    here = [b.in_memory(f"space={space.name!r}") for b in batches if b.has_weight]
    weights = np.concatenate([batch.masses for batch in here])
    return space.fit(np.concatenate([batch.points for batch in here]), weights)


def _without_clusters(state: ClusterState, n_coordinates: int) -> ClusterState:
    """Return an empty state that is as old, with so many coordinates."""
    empty = ClusterState.empty(n_coordinates)
    return replace(empty, n_steps=state.n_steps, time=state.time) if state.n_steps else empty


def _choice(
    recipe: Recipe,
    memory: Memory,
    batches: list[Batch],
    gaps: Sequence[float],
    batch_word: str,
) -> Suggestion:
    known = {name: recipe.penalties.known(name) for name in ("max_gap", "reach", "motion")}
    if not memory.space.has_courses:
        known["motion"] = DEFAULT_MOTION
    known["batch_word"] = batch_word
    return finder_of(recipe.method).choose(recipe, memory, batches, gaps, **known)
