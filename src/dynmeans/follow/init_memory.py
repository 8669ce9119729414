"""begin: where a stream's seed is drawn, its space learned and its penalties chosen."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dynmeans.engine.batch import AnyBatch, Batch
from dynmeans.engine.checks import broadcast_to_batches, entropy_of_seed
from dynmeans.follow.clusterers import DYNMEANS, method_text
from dynmeans.follow.curved_motion import check_motion
from dynmeans.follow.finder import finder_of
from dynmeans.follow.lifetimes import NO_LIFETIMES
from dynmeans.follow.memory import Memory, check_state_lengths
from dynmeans.follow.model_config import ModelConfig
from dynmeans.inputs.input_error import InputError
from dynmeans.parameters.cosine import choose_cosine
from dynmeans.parameters.selection import first_batches
from dynmeans.records.penalties import AUTO, DEFAULT_MOTION, Penalties
from dynmeans.records.state import ClusterState
from dynmeans.records.suggestion import Suggestion, emit_warnings
from dynmeans.spaces.named import find_space
from dynmeans.spaces.raw import Raw
from dynmeans.spaces.space import Space

_logger = logging.getLogger(__name__)

OnSuggestion = Callable[[Suggestion], None]


def log_suggestion(found: Suggestion) -> None:
    """Log what was chosen, and warn where it should not be trusted."""
    _logger.info("%s", found.explanation)
    emit_warnings(found.warnings)


def begin(
    model_config: ModelConfig,
    batches: Sequence[AnyBatch],
    elapsed: float | Sequence[float] = 1.0,
    *,
    feature_names: Sequence[str] | None = None,
    seed: int | None = None,
    on_suggestion: OnSuggestion = log_suggestion,
    batch_noun: str = "batch",
) -> Memory:
    """Return the memory before the first batch: seed drawn, space learned, penalties chosen.

    Of `batches` the first are looked at (30 that have points, and more up to 4,000 points), and
    nothing is clustered yet. Where none has points, space and penalties are settled by the first
    batch that has. `on_suggestion` is called with what was chosen for "auto", and may raise.
    """
    gaps = broadcast_to_batches("elapsed", elapsed, len(batches))
    n_features = batches[0].n_features
    space = find_space(model_config.space)
    if feature_names is not None:
        space = space.bind_features([str(name) for name in feature_names])
    memory = Memory(
        ClusterState.empty(space.n_coordinates(n_features) if space.is_fitted else n_features),
        space,
        None,
        draw_seed(model_config.random_state) if seed is None else seed,
        n_features,
        None if feature_names is None else tuple(map(str, feature_names)),
        NO_LIFETIMES,
        method=method_text(model_config.method),
    )
    return settle(model_config, memory, batches, gaps, on_suggestion, batch_noun)


def memory_from_clusters(
    model_config: ModelConfig, clusters: ClusterState, *, feature_names: Sequence[str] | None = None
) -> Memory:
    """Return a memory of these clusters, which are points of the space of the model configuration.

    Penalties and space must be known without looking at rows: given, and fitted.
    """
    space = find_space(model_config.space)
    if not space.is_fitted:
        rule, hint = "must be fitted, or 'raw', for clusters that are known", "Fit it to rows."
        raise InputError("space", rule, got=model_config.space, hint=hint)
    names = None if feature_names is None else tuple(map(str, feature_names))
    seed = draw_seed(model_config.random_state)
    # A space of more coordinates than features comes with the names of those.
    n_features = clusters.n_features if names is None else len(names)
    method = method_text(model_config.method)
    memory = Memory(clusters, space, None, seed, n_features, names, NO_LIFETIMES, method=method)
    penalties = resolve_penalties(model_config, memory)
    if penalties is None:
        rule = "must be given for clusters that are known"
        raise InputError("penalties", rule, got=AUTO)
    check_state_lengths(penalties, clusters)
    return replace(memory, penalties=penalties)


def settle(
    model_config: ModelConfig,
    memory: Memory,
    batches: Sequence[AnyBatch],
    gaps: Sequence[float],
    on_suggestion: OnSuggestion = log_suggestion,
    batch_noun: str = "batch",
) -> Memory:
    """Return the memory with space and penalties, if these batches determine them."""
    if memory.space.is_fitted and not model_config.is_auto:
        known = memory.penalties or resolve_penalties(model_config, memory)
        return replace(memory, penalties=known)
    n = first_batches(batches)
    has_points = any(batch.has_weight for batch in batches[:n])
    space, penalties, clusters = memory.space, memory.penalties, memory.clusters
    if not space.is_fitted and has_points:
        space = _fit_space(space, batches[:n])
        clusters = _without_clusters(clusters, space.n_coordinates(memory.n_features))
        memory = replace(memory, space=space, clusters=clusters)
    if penalties is None:
        penalties = resolve_penalties(model_config, memory)
    if penalties is None and has_points and space.adapts_penalty and _are_remote(batches[:n]):
        usual = replace(model_config.penalties, new_penalty=space.usual_penalty)
        moving_features = memory.point_columns(usual.moving_features)
        penalties = _in_space(usual.complete(moving_features), space)
    if penalties is None and has_points:
        here = [batch.to_numpy("penalties='auto'") for batch in batches[:n]]
        rows = [map_batch(batch, space) for batch in here]
        found = _choice(model_config, memory, rows, gaps[:n], batch_noun)
        if not isinstance(space, Raw):
            found = replace(found, format_distance=space.format_distance)
        on_suggestion(found)
        penalties = apply_motion_and_revival(model_config, memory, found.penalties)
    return replace(memory, penalties=penalties)


def _are_remote(batches: Sequence[AnyBatch]) -> bool:
    """Whether rows lie on a Dask cluster, where nothing is chosen on them."""
    return any(hasattr(batch, "pieces") for batch in batches)


def map_batch(batch: AnyBatch, space: Space) -> Any:
    """Return the batch as points of the space; refuse one that cannot be mapped in place."""
    return batch if isinstance(space, Raw) else batch.map_to_space(space)


def draw_seed(random_state: Any) -> int:
    """Draw once; with the number of the batch it seeds each batch separately."""
    if isinstance(random_state, int):  # the same number, without making a generator
        return int(entropy_of_seed(random_state))
    # None is NumPy's global generator, as in scikit-learn.
    random = np.random.mtrand._rand if random_state is None else random_state
    return int(random.randint(2**63, dtype=np.int64))


def resolve_penalties(model_config: ModelConfig, memory: Memory) -> Penalties | None:
    """Return lambda, Q and tau as configured; None if they are to be chosen."""
    given, moving_features = (
        model_config.penalties,
        memory.point_columns(model_config.penalties.moving_features),
    )
    if model_config.is_auto:
        return None
    if model_config.is_open:
        if memory.penalties is not None:
            return None
        given = replace(given, new_penalty=memory.space.usual_penalty)
    return _in_space(given.complete(moving_features), memory.space)


def apply_motion_and_revival(
    model_config: ModelConfig, memory: Memory, penalties: Penalties
) -> Penalties:
    """Return penalties with the revival rule and the motion of the configuration, if given."""
    adapted = model_config.penalties.adopt(
        penalties, memory.point_columns(model_config.penalties.moving_features)
    )
    return _in_space(adapted, memory.space)


def _in_space(penalties: Penalties, space: Space) -> Penalties:
    """Return the penalties with the centers of the space, where it has a kind of its own."""
    check_motion(space, penalties)
    return penalties.with_centers("sphere") if space.centers == "sphere" else penalties


def _fit_space(space: Space, batches: Sequence[AnyBatch]) -> Space:
    here = [b.to_numpy(f"space={space.name!r}") for b in batches if b.has_weight]
    weights = np.concatenate([batch.masses for batch in here])
    return space.fit(np.concatenate([batch.points for batch in here]), weights)


def _without_clusters(state: ClusterState, n_coordinates: int) -> ClusterState:
    """Return an empty state that is as old, with this many coordinates."""
    empty = ClusterState.empty(n_coordinates)
    return replace(empty, n_steps=state.n_steps, time=state.time) if state.n_steps else empty


def _choice(
    model_config: ModelConfig,
    memory: Memory,
    batches: list[Batch],
    gaps: Sequence[float],
    batch_noun: str,
) -> Suggestion:
    known = {name: model_config.penalties.get(name) for name in ("max_gap", "reach", "motion")}
    if not memory.space.supports_velocity:
        known["motion"] = DEFAULT_MOTION
    known["batch_noun"] = batch_noun
    if memory.space.adapts_penalty and model_config.method == DYNMEANS:
        del known["motion"]
        usual = memory.space.usual_penalty
        assert usual is not None, "a space that adapts its penalty has one to begin with"
        n_clusters = None if model_config.families else model_config.n_clusters
        return choose_cosine(batches, gaps, usual=usual, n_clusters=n_clusters, **known)
    return finder_of(model_config.method).choose(model_config, memory, batches, gaps, **known)
