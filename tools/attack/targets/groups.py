"""fit_groups: the labels of a loop over estimators, and a refusal of frames that make no sense."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from attack.held import REFUSALS, refused
from attack.mutate import FLOATS, INTEGERS, TEXTS
from attack.targets import Case
from dynmeans import DynamicMeans, ModelConfig, fit_groups
from dynmeans.groups import key_seed


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Nothing to make: a case is a frame."""
    yield _attack_labels if name == "groups" else _attack_frame


def _attack_labels(rng: random.Random) -> int:
    """Every key gets what an estimator of its own gives; also in two calls instead of one."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    n, n_keys = rng.randint(1, 60), rng.randint(1, 8)
    columns = rng.randint(1, 3)
    frame = pd.DataFrame({"x": np.round(numbers.normal(0, 3, n), rng.choice([0, 1, 9]))})
    for j in range(columns):
        frame[f"k{j}"] = _keys(rng, numbers, n, n_keys)
    frame["hour"] = np.sort(numbers.integers(0, 4, n))
    by = [f"k{j}" for j in range(columns)] if columns > 1 or rng.random() < 0.3 else "k0"
    seed = rng.randrange(2**32)
    fields = {"penalties": rng.choice([0.5, 4.0]), "n_init": rng.randint(1, 2)}
    model_config = ModelConfig(**fields, random_state=seed)
    call = {"by": by, "features": ["x"], "batch_column": "hour", "model_config": model_config}
    result = fit_groups(frame, **call)
    for plain, rows in _rows_of_keys(frame, by).items():
        single = DynamicMeans(**fields, random_state=key_seed(seed, plain))
        expected = np.empty(len(rows), dtype=np.int64)
        hours = frame["hour"].to_numpy()[rows]
        for hour in np.unique(hours):
            is_now = hours == hour
            expected[is_now] = single.partial_fit(frame[["x"]].to_numpy()[rows[is_now]]).labels_
        if not np.array_equal(result.labels[rows], expected):
            raise AssertionError(f"labels of key {plain!r} differ")
        if result.states[plain] != single.state_:
            raise AssertionError(f"the state of key {plain!r} differs")
    _check_two_calls(frame, call, result)
    return len(result.states)


def _check_two_calls(frame: pd.DataFrame, call: dict[str, Any], whole: Any) -> None:
    is_early = (frame["hour"] < 2).to_numpy()
    if not is_early.any() or is_early.all():
        return
    first = fit_groups(frame[is_early], **call)
    second = fit_groups(frame[~is_early], **call, state=first.states)
    found = np.empty(len(frame), dtype=np.int64)
    found[is_early], found[~is_early] = first.labels, second.labels
    if not np.array_equal(found, whole.labels) or second.states != whole.states:
        raise AssertionError("two calls give something else than one")


def _keys(rng: random.Random, numbers: np.random.Generator, n: int, n_keys: int) -> Any:
    codes = numbers.integers(0, n_keys, n)
    kind = rng.randrange(4)
    if kind == 0:
        return codes - rng.choice([0, 3, 2**40])
    if kind == 1:
        return codes.astype(np.uint64) + np.uint64(2**63 - 2)
    texts = [TEXTS[(7 * code) % len(TEXTS)] + str(code) for code in codes.tolist()]
    return texts if kind == 2 else pd.Categorical(texts)


def _rows_of_keys(frame: pd.DataFrame, by: Any) -> dict[Any, Any]:
    parts = [frame[name].tolist() for name in ([by] if isinstance(by, str) else by)]
    keys = parts[0] if isinstance(by, str) else list(zip(*parts, strict=True))
    rows: dict[Any, list[int]] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, []).append(row)
    return {key: np.array(found) for key, found in rows.items()}


def _attack_frame(rng: random.Random) -> None:
    """Frames and arguments of any kind are clustered or refused in one line."""
    n = rng.choice([0, 1, 5])
    names = ["k", "j", "x", "y", "hour", "w"]
    columns = {name: _column(rng, n) for name in names}
    frame: Any = pa.table(columns)
    if rng.random() < 0.5 and not any(pa.types.is_dictionary(c.type) for c in frame.columns):
        frame = frame.to_pandas()
    options: dict[str, Any] = {
        "by": rng.choice(["k", "k", ["k", "j"], ["k", "k"], [], "x"]),
        "features": rng.choice([None, ["x"], ["x", "y"], "x", ["x", "x"], ["k"]]),
        "batch_column": rng.choice([None, None, "hour", "x"]),
        "weight": rng.choice([None, None, "w"]),
        "time_step": rng.choice([None, None, 1, 0.0, -1, "1h", timedelta(hours=1), 1e-300, True]),
        "model_config": rng.choice([None, ModelConfig(1.0, random_state=0), ModelConfig("auto")]),
    }
    is_refused, found = refused(lambda: fit_groups(frame, **options), *REFUSALS)
    if not is_refused and len(found.labels) != n:
        raise AssertionError(f"{len(found.labels)} labels for {n} rows")


def _column(rng: random.Random, n: int) -> Any:
    kind = rng.choice(
        ["int", "int", "float", "float", "wild", "text", "time", "bool", "null", "dict"]
    )
    if kind == "int":
        return pa.array([rng.randrange(3) for _ in range(n)], rng.choice([pa.int64(), pa.uint8()]))
    if kind == "float":
        return pa.array([rng.uniform(0, 5) for _ in range(n)])
    if kind == "wild":
        pool = rng.choice([FLOATS, [float(i) for i in INTEGERS]])
        return pa.array([rng.choice(pool) for _ in range(n)], pa.float64())
    if kind == "text":
        return pa.array([rng.choice(TEXTS) for _ in range(n)], pa.string())
    if kind == "time":
        unit = rng.choice(["s", "us", "ns"])
        return pa.array([rng.choice([0, 10**9, 2**62]) for _ in range(n)], pa.timestamp(unit))
    if kind == "bool":
        return pa.array([rng.random() < 0.5 for _ in range(n)], pa.bool_())
    if kind == "dict":
        values = pa.array(["a", "a", None, "b"])
        indices = pa.array([rng.choice([0, 1, 2, 3, None]) for _ in range(n)], pa.int8())
        return pa.DictionaryArray.from_arrays(indices, values)
    return pa.array([rng.choice([None, 1]) for _ in range(n)], pa.int64())
