"""Every interface times every field of `ModelConfig`: equal to the bit, or refused by name.

A field that is added to `ModelConfig` fails here until it has a value in `CASES`, and then in every
face that neither serves nor refuses it.
"""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dynmeans import (
    ClusterLimitError,
    ClusterState,
    DynamicMeans,
    Penalties,
    Run,
    VisitingOrders,
    cluster,
    fit_anytime,
    fit_groups,
    step,
)
from dynmeans.cli.app import app_for
from dynmeans.engine.batch import Batch
from dynmeans.follow.follow import follow
from dynmeans.follow.init_memory import begin, draw_seed
from dynmeans.follow.model_config import PARAMETERS, ModelConfig
from dynmeans.groups.key_seeds import key_seed
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.spaces.named import SPACES

NAMES = ["x", "y"]
BASE = {"new_penalty": 40.0, "random_state": 3}
# For each field the model configuration that it is tried in.
CASES = {
    "penalties": {"penalties": Penalties(9.0, max_gap=4, reach=2.0), "random_state": 3},
    "new_penalty": {**BASE, "new_penalty": 9.0},
    "max_gap": {**BASE, "max_gap": 1.5},
    "reach": {**BASE, "reach": 3.0},
    "revival_penalty": {**BASE, "revival_penalty": 20.0, "drift": 0.1},
    "drift": {**BASE, "revival_penalty": 1.0, "drift": 30.0},
    "n_clusters": {"n_clusters": (5, 7), "random_state": 3},
    "motion": {**BASE, "motion": "constant_velocity", "reach": 1.5},
    "moving_features": {
        **BASE,
        "motion": "constant_velocity",
        "reach": 1.5,
        "moving_features": ("x",),
    },
    "revival": {**BASE, "revival": "exact"},
    "space": {"new_penalty": 0.2, "random_state": 3, "space": "standard"},
    "method": {**BASE, "method": "dbscan(eps=8.0, min_samples=4)"},
    "n_init": {**BASE, "new_penalty": 4.0, "n_init": 7},
    "search": {**BASE, "new_penalty": 4.0, "search": "deep"},
    "random_state": {**BASE, "new_penalty": 4.0, "random_state": 8},
    "families": {**BASE, "new_penalty": 4.0, "families": True},
    "min_cluster_size": {**BASE, "min_cluster_size": 30},
    "min_batches": {**BASE, "min_batches": 3},
    "max_clusters": {**BASE, "max_clusters": 2},
}
CONFIRMED = ("min_cluster_size", "min_batches")
# Every space by its name, with a penalty at which the clusters of the stream fall apart in it.
IN_SPACES = {
    "raw": ("raw", 40.0),
    "robust": ("robust", 0.05),
    "auto": ("auto", 40.0),
    "geo": ("geo", 900.0**2),
    "cyclic": ("cyclic:200", 300.0),
    "cosine": ("cosine", 0.01),
    "words": ("words", 0.01),
    "landmarks": ("landmarks:20", 0.3),
    "mixed": ("2*cyclic:200(0) + robust(1)", 30.0),
    "standard": ("standard", 0.2),
}


def _stream():
    """Clusters that move, vanish and come back; the second feature has larger units."""
    rng = np.random.default_rng(1)
    places = np.array([[0.0, 0.0], [9.0, 60.0], [20.0, 0.0], [30.0, 90.0]])
    batches = []
    for t in range(7):
        here = [k for k in range(4) if not (k == 2 and t in (2, 3))]
        sizes = [14 if k != 3 else 4 for k in here]
        rows = places[here].repeat(sizes, axis=0) + np.array([1.2, 2.5]) * t
        batches.append(rows + rng.normal(size=rows.shape) * [1.3, 4.0])
    return batches


BATCHES = _stream()
SIZES = [len(batch) for batch in BATCHES]


def _shown(model, field):
    """What a field is there for: labels, confirmed labels or families of the last batch."""
    if field in CONFIRMED:
        return model.confirmed_labels_
    return model.family_labels_ if field == "families" else model.labels_


def _partial_fit(fields, field):
    """The face that all others are compared with."""
    model = DynamicMeans(**fields)
    return np.concatenate([_shown(model.partial_fit(_named(X)), field) for X in BATCHES])


def _named(X):
    return pd.DataFrame(X, columns=NAMES)


def _fit_sequence(fields, field):
    model = DynamicMeans(**fields)
    labels, _ = model.fit_sequence([_named(X) for X in BATCHES])
    last = _shown(model, field)
    return np.concatenate([*labels[:-1], last])


def _begun_on_all(fields, field):
    """One batch after the other, where the beginning has seen all of them."""
    model_config, batches = ModelConfig(**fields), [Batch(X) for X in BATCHES]
    memory, labels = begin(model_config, batches, feature_names=NAMES), []
    for batch in batches:
        memory, one = follow(model_config, memory, batch)
        labels.append(one.clustering.labels)
    model = DynamicMeans.from_memory(memory, **_beside(fields))
    model.__dict__["_step"] = one
    return np.concatenate([*labels[:-1], _shown(model, field)])


def _beside(fields):
    known = ("penalties", "new_penalty", "max_gap", "reach", "revival_penalty", "drift")
    gone = (*known, "space", "motion", "moving_features", "revival")
    return {name: value for name, value in fields.items() if name not in gone}


def _groups(fields, field):
    frame = _named(np.concatenate(BATCHES)).assign(key="a", t=np.arange(len(BATCHES)).repeat(SIZES))
    return fit_groups(frame, by="key", batch_column="t", features=NAMES, **fields).labels


def _one_key(fields, field):
    return _partial_fit(fields | {"random_state": key_seed(fields["random_state"], "a")}, field)


FEW = np.concatenate([X[[0, 20, -1]] for X in BATCHES[:3]])  # so few that no row is held out


def _anytime(fields, field):
    result = fit_anytime(FEW, max_batches=1, **fields)
    return result.predict(FEW)


def _one_batch(fields, field):
    return DynamicMeans(**fields, n_init=1).fit(FEW).labels_


class _SparkFrame:
    """The little of a Spark frame that is used."""

    def __init__(self, table):
        self.table, self.columns = table, table.column_names
        context = SimpleNamespace(getLocalProperty={"sql.streaming.queryId": "q"}.get)
        self.sparkSession = SimpleNamespace(sparkContext=context)

    def select(self, *names):
        return SimpleNamespace(toArrow=lambda: self.table.select(names))


def _spark(fields, field, tmp_path):
    micro_batches = pytest.importorskip("dynmeans.spark.micro_batches")
    take_in = micro_batches.foreach_batch(tmp_path / "run", features=NAMES, id="n", **fields)
    first = 0
    for epoch, X in enumerate(BATCHES):
        numbers = np.arange(first, first + len(X))
        take_in(_SparkFrame(pa.table({"n": numbers, "x": X[:, 0], "y": X[:, 1]})), epoch)
        first += len(X)
    with Run.open(tmp_path / "run") as run:
        return run.labels()["cluster_id"].to_numpy()


def _spark_labeling(fields, field):
    labeling = pytest.importorskip("dynmeans.spark.labeling")
    model = DynamicMeans(**fields)
    for X in BATCHES:
        model.partial_fit(_named(X))
    assign = labeling.assigner(model.memory_)
    found = [assign(*(pd.Series(column) for column in X.T)) for X in BATCHES]
    return np.concatenate(found).astype(np.int64)


def _predicted(fields, field):
    model = DynamicMeans(**fields)
    for X in BATCHES:
        model.partial_fit(_named(X))
    return np.concatenate([model.predict(_named(X)) for X in BATCHES])


def _river(fields, field):
    clusterer = pytest.importorskip("dynmeans.estimators.river_clusterer").RiverDynamicMeans
    size = min(SIZES)
    rivers = clusterer(size, **fields)
    found = []
    for X in BATCHES:
        for x, y in X[:size].tolist():
            rivers.learn_one({"x": x, "y": y})
        found.append(_shown(rivers.model, field))
    return np.concatenate(found)


def _equal_windows(fields, field):
    model = DynamicMeans(**fields)
    size = min(SIZES)
    return np.concatenate([_shown(model.partial_fit(_named(X[:size])), field) for X in BATCHES])


def _run(fields, field, tmp_path):
    """Window by window, each in a call of its own, the run opened anew each time."""
    config = RunConfig(NAMES, ModelConfig(**fields))
    Run.create(tmp_path / "one", config).close()
    for X in BATCHES:
        with Run.open(tmp_path / "one", config) as run:
            run.process(Window(X))
    with Run.open(tmp_path / "one") as run:
        return run.labels()["cluster_id"].to_numpy()


def _found_by(fields, field):
    """Labels alone: a run keeps what was found, and shows the rest on demand."""
    return _partial_fit(fields, None)


def _table():
    return _named(np.concatenate(BATCHES)).assign(t=np.arange(len(BATCHES)).repeat(SIZES))


def _cluster(fields, field):
    found = cluster(_table(), features=NAMES, window_column="t", **fields)
    if field == "families":
        return found.families.map_labels(found.labels.to_numpy())[-SIZES[-1] :]
    shown = found.confirmed_labels if field in CONFIRMED else found.labels
    return shown.to_numpy()[-SIZES[-1] :]


def _last_of_all(fields, field):
    return _begun_on_all(fields, field)[-SIZES[-1] :]


SHOWN = {"moving_features": ",".join, "n_clusters": lambda ends: "{}-{}".format(*ends)}


def _command(fields, field, tmp_path):
    """Every field of a configuration is an option; penalties as one value are not."""
    if field == "penalties":
        raise TypeError("penalties is no option")
    _table().to_csv(tmp_path / "rows.csv", index=False)
    words = ["cluster", str(tmp_path / "rows.csv"), "-f", "x,y", "--window-column", "t", "--debug"]
    words += ["--level", "fine"]
    for name, value in fields.items():
        shown = SHOWN.get(name, str)(value)
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [shown])]
    app = app_for(words)
    app(
        [w for w in words if w != "--debug"] + ["-q", "-o", str(tmp_path / "run")],
        standalone_mode=False,
    )
    with Run.open(tmp_path / "run") as run:
        assert run.config.model_config == ModelConfig(**fields)
        return run.labels()["cluster_id"].to_numpy()


def _begun_labels(fields, field):
    return _begun_on_all(fields, None)


STEP = {"max_clusters", "random_state", "n_init", "order", "search"}
PENALTIES = {"penalties", "new_penalty", "max_gap", "reach", "revival_penalty", "drift", "revival"}


def _step(fields, field):
    """`step` takes penalties and orders as values; the other fields it takes by name."""
    known = begin(
        ModelConfig(**{k: v for k, v in fields.items() if k in PENALTIES}), [Batch(BATCHES[0])]
    )
    orders = VisitingOrders(
        draw_seed(fields["random_state"]),
        fields.get("n_init", 3),
        fields.get("search", "paper"),
    )
    rest = {k: v for k, v in fields.items() if k not in PENALTIES | STEP - {"max_clusters"}}
    state, labels = ClusterState.empty(2), []
    for X in BATCHES:
        state, found = step(X, state, known.penalties, orders=orders, **rest)
        labels.append(found.labels)
    return np.concatenate(labels)


TRUTH = [np.arange(n) // 10 for n in SIZES]
RANGES = {"new_penalty": (3.9, 4.1), "max_gap": (5.9, 6.1), "reach": (1.19, 1.21)}


def _shares(labels):
    """A score that tells labels apart by more than their partition."""
    return float(sum((t + 1) * np.dot(np.cos(found), row) for t, (found, row) in labels))


def _tune(fields, field):
    """The score of one trial, which must be that of the estimator."""
    tune = pytest.importorskip("dynmeans.estimators.tuning").tune
    given = {k: v for k, v in fields.items() if k == field or (k, v) not in BASE.items()}
    given.pop("new_penalty", None) if field != "new_penalty" else None
    given.pop("reach", None) if field != "reach" else None
    space = {"random_state": fields["random_state"]} | given
    result = tune(BATCHES, TRUTH, metric=_metric, n_trials=1, ranges=RANGES, **space)
    return np.array([result.score, result.penalties.new_penalty])


def _metric(truth, labels):
    return _shares(enumerate(zip(labels, map(np.sin, truth), strict=True)))


def _tuned(fields, field):
    """The same trial by hand: three seeds, one after the other."""
    tune = pytest.importorskip("dynmeans.estimators.tuning").tune
    others = {k: v for k, v in fields.items() if k not in (*PENALTIES - {"revival"},)}
    result = tune(BATCHES, TRUTH, metric=_metric, n_trials=1, ranges=RANGES, **others)
    scores = []
    for seed in np.random.SeedSequence(fields["random_state"]).generate_state(3):
        model = DynamicMeans(
            result.penalties,
            **_beside(others) | {"random_state": int(seed)},
            **_space(others),
        )
        scores.append(_metric(TRUTH, model.fit_sequence(BATCHES)[0]))
    return np.array([np.mean(scores), result.penalties.new_penalty])


def _space(fields):
    return {"space": fields["space"]} if "space" in fields else {}


# A face, and the way of the estimator that it must agree with.
FACES = {
    "fit_sequence": (_fit_sequence, _begun_on_all),
    "fit_groups": (_groups, _one_key),
    "fit_anytime": (_anytime, _one_batch),
    "spark.foreach_batch": (_spark, _partial_fit),
    "spark.assign_udf": (_spark_labeling, _predicted),
    "RiverDynamicMeans": (_river, _equal_windows),
    "tune": (_tune, _tuned),
    "step": (_step, _partial_fit),
    "Run": (_run, _found_by),
    "cluster": (_cluster, _last_of_all),
    "dynmeans cluster": (_command, _begun_labels),
}


def _outcome(face, fields, field, tmp_path):
    """Labels, or the error that there is in their place."""
    needs_folder = "tmp_path" in face.__code__.co_varnames[: face.__code__.co_argcount]
    try:
        return face(fields, field, tmp_path) if needs_folder else face(fields, field)
    except (TypeError, ValueError) as error:
        return error


def test_every_field_of_a_recipe_is_tried():
    assert set(CASES) == set(PARAMETERS)


@pytest.mark.filterwarnings("ignore::dynmeans.records.suggestion.SuggestionWarning")
@pytest.mark.parametrize("field", CASES)
def test_every_field_changes_what_is_found(field):
    usual = {k: v for k, v in CASES[field].items() if k != field}
    if field in ("penalties", "new_penalty", "n_clusters", "revival_penalty", "drift"):
        usual = BASE
    if field == "random_state":
        usual["random_state"] = 3
    if field == "max_clusters":
        with pytest.raises(ClusterLimitError):
            _partial_fit(CASES[field], field)
        return
    plain = _partial_fit(usual, None)
    assert not np.array_equal(_partial_fit(CASES[field], field), plain)


@pytest.mark.filterwarnings("ignore::dynmeans.records.suggestion.SuggestionWarning")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
@pytest.mark.parametrize("field", CASES)
@pytest.mark.parametrize("name", FACES)
def test_a_face_gives_what_the_estimator_gives_or_refuses_the_field_by_name(name, field, tmp_path):
    face, reference = FACES[name]
    found = _outcome(face, CASES[field], field, tmp_path)
    expected = _outcome(reference, CASES[field], field, tmp_path)
    if isinstance(found, ClusterLimitError):
        assert isinstance(expected, ClusterLimitError)
    elif isinstance(found, Exception):
        given = {field, *(set(CASES[field]) - set(BASE))}  # with what it cannot be without
        given |= {"penalties must be given"} if field == "n_clusters" else set()
        assert any(one in str(found) for one in given), f"{field} is not named: {found}"
    else:
        np.testing.assert_array_equal(found, expected)


def test_every_space_is_tried_in_every_face():
    assert set(IN_SPACES) == set(SPACES)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
@pytest.mark.parametrize("space", IN_SPACES)
@pytest.mark.parametrize("name", FACES)
def test_a_face_gives_what_the_estimator_gives_in_every_space(name, space, tmp_path):
    text, penalty = IN_SPACES[space]
    fields = {"new_penalty": penalty, "random_state": 3, "space": text}
    face, reference = FACES[name]
    found = _outcome(face, fields, "space", tmp_path)
    if isinstance(found, Exception):
        assert "space" in str(found)
        return
    expected = _outcome(reference, fields, "space", tmp_path)
    assert len(np.unique(found)) > 1
    np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
@pytest.mark.parametrize(("field", "value"), [("search", "deep"), ("motion", "constant_velocity")])
@pytest.mark.parametrize("space", ["cosine", "words"])
@pytest.mark.parametrize("name", ["partial_fit", *FACES])
def test_every_face_refuses_deeper_search_and_velocities_on_the_sphere(
    name, space, field, value, tmp_path
):
    fields = {"new_penalty": 0.01, "random_state": 3, "space": space, field: value}
    face = FACES[name][0] if name in FACES else _partial_fit
    found = _outcome(face, fields, field, tmp_path)
    assert isinstance(found, Exception)
    assert field in str(found) or (name == "step" and "space" in str(found)), found


@pytest.mark.parametrize("space", IN_SPACES)
def test_a_run_in_one_space_refuses_another_in_one_sentence(space, tmp_path):
    text, penalty = IN_SPACES[space]
    model_config = ModelConfig(new_penalty=penalty, random_state=3, space=text)
    with Run.create(tmp_path / "run", RunConfig(NAMES, model_config)) as run:
        run.process(Window(BATCHES[0]))
        memory = run.memory
    other = ModelConfig(
        new_penalty=penalty, random_state=3, space="cyclic:7" if space != "raw" else "geo"
    )
    with (
        pytest.raises(ValueError, match="space") as refusal,
        Run.open(tmp_path / "run", RunConfig(NAMES, other)) as run,
    ):
        run.process(Window(BATCHES[1]))
    assert len(str(refusal.value).splitlines()) == 1
    with pytest.raises(ValueError, match="space") as refusal:
        follow(other, memory, Batch(BATCHES[1]))
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize("name", FACES)
def test_a_mixed_space_by_names_is_served_or_refused_by_name(name, tmp_path):
    fields = {"new_penalty": 30.0, "random_state": 3}
    face, _ = FACES[name]
    outcomes = []
    for text in ("2*cyclic:200(x) + robust(y)", IN_SPACES["mixed"][0]):
        folder = tmp_path / str(len(outcomes))
        folder.mkdir()
        outcomes.append(_outcome(face, fields | {"space": text}, "space", folder))
    found, numbered = outcomes
    if isinstance(found, Exception):
        assert "space" in str(found)
        assert isinstance(numbered, Exception) or "no names" in str(found)
    else:
        np.testing.assert_array_equal(found, numbered)


def test_a_space_that_is_fitted_serves_all_keys_of_a_group():
    learned = DynamicMeans(**CASES["space"]).fit(BATCHES[0]).space_
    fields = CASES["space"] | {"space": learned}
    np.testing.assert_array_equal(_groups(fields, "space"), _one_key(fields, "space"))
