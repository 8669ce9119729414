"""For every parameter and every interface the default is the one of the table."""

import sys
from dataclasses import replace
from functools import partial
from inspect import signature

import numpy as np
import pandas as pd
import pytest

import dynmeans
from dynmeans import (
    DDPMixture,
    DPMeans,
    DynamicMeans,
    RiverDynamicMeans,
    Run,
    VisitingOrders,
    cluster,
    fit_anytime,
    fit_groups,
    tune,
)
from dynmeans.cli.__main__ import main
from dynmeans.cli.app import app_for
from dynmeans.follow.defaults import (
    INTERFACES,
    STREAM,
    TEXTS,
    VECTORS,
    defaults_of,
)
from dynmeans.follow.model_config import FIELDS, PARAMETERS, ModelConfig
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.old_names import OLD_ATTRIBUTES, OLD_COMMANDS, OLD_NAMES
from dynmeans.report.recluster_settings import ReclusterSettings
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.spark import foreach_batch

ROWS = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0]], 30, axis=0)
FRAME = pd.DataFrame(ROWS, columns=["x", "y"]).assign(t=np.arange(60) // 20)
GIVEN = {"new_penalty": 4.0}  # so that nothing is chosen
CASES = [(name, rows) for name, by_rows in INTERFACES.items() for rows in by_rows]


def _of_signature(interface):
    def used(rows, tmp_path):
        return {n: p.default for n, p in signature(interface).parameters.items()}

    return used


def _groups(rows, tmp_path):
    return fit_groups(FRAME, by="t", features=["x", "y"], **GIVEN).model_config


def _seen_by(monkeypatch, module, call):
    """Return the model configuration that a call hands to `begin`."""
    model_configs, begin = [], module.begin

    def seen(model_config, *arguments, **options):
        model_configs.append(model_config)
        return begin(model_config, *arguments, **options)

    monkeypatch.setattr(module, "begin", seen)
    call()
    return model_configs[0]


def _anytime(rows, tmp_path, monkeypatch):
    module = sys.modules["dynmeans.anytime.fit"]
    return _seen_by(monkeypatch, module, lambda: fit_anytime(ROWS, max_batches=1, **GIVEN))


def _tune(rows, tmp_path, monkeypatch):
    module = pytest.importorskip("dynmeans.estimators.tuning")
    model_config = _seen_by(
        monkeypatch, module, lambda: module.tune([ROWS], [np.arange(60) // 30], n_trials=1)
    )
    return replace(model_config, penalties=ModelConfig(**GIVEN).penalties)


def _river(rows, tmp_path):
    clusterer = pytest.importorskip("dynmeans.estimators.river_clusterer").RiverDynamicMeans
    model = clusterer(2, **GIVEN)
    for x, y in ROWS[:2].tolist():
        model.learn_one({"x": x, "y": y})
    return {name: getattr(model.model, name) for name in PARAMETERS}


def _run(rows, tmp_path):
    on_missing = WindowOptions(rows_per_window=1).on_missing
    model_config = RunConfig(("x",)).model_config
    return {name: getattr(model_config, name) for name in FIELDS} | {"on_missing": on_missing}


def _of_folder(folder):
    with Run.open(folder) as run:
        model_config, source = run.config.model_config, run.config.source
        return {name: getattr(model_config, name) for name in FIELDS} | dict(source)


def _frame(rows):
    vectors = np.random.default_rng(1).normal(size=(60, 3))
    frame = FRAME.assign(v=list(vectors), w=[f"word{i % 7} rain" for i in range(60)])
    features = {"features": ["v"] if rows == VECTORS else ["x", "y"]}
    return frame, {"text": "w"} if rows == TEXTS else features


def _cluster(rows, tmp_path):
    frame, features = _frame(rows)
    cluster(frame, **features, window_column="t", run_folder=tmp_path / "run", **GIVEN)
    return _of_folder(tmp_path / "run")


def _words(command, rows, tmp_path):
    frame, features = _frame(rows)
    frame.to_parquet(tmp_path / "rows.parquet")
    ((name, columns),) = features.items()
    given = [f"--{name}", columns if name == "text" else ",".join(columns)]
    return [command, str(tmp_path / "rows.parquet"), *given, "--window-column", "t"]


def _command(rows, tmp_path, monkeypatch):
    if rows == STREAM:
        words = ["cluster", "redis://localhost/0?stream=rows", "-f", "x,y", "-t", "at"]
        words += ["--every", "1min", "-q"]
        words += ["--new-penalty", "4", "-o", str(tmp_path / "run")]
        return _of_job(words, monkeypatch, "start")
    words = [*_words("cluster", rows, tmp_path), "--new-penalty", "4", "-q"]
    app_for(words)([*words, "-o", str(tmp_path / "run")], standalone_mode=False)
    return _of_folder(tmp_path / "run")


class _StoppedError(Exception):
    pass


def _of_job(words, monkeypatch, method):
    """Return what a command makes of its options, without doing it."""
    jobs = []

    def stop(job, **options):
        jobs.append(job)
        raise _StoppedError

    monkeypatch.setattr(ClusterJob, method, stop)
    with pytest.raises(_StoppedError):
        app_for(words)(words, standalone_mode=False)
    (job,) = jobs
    with job.open_source() as source:
        model_config = job.config(source).model_config
    own = {name: getattr(model_config, name) for name in FIELDS}
    return own | {"on_missing": job.windows.on_missing}


def _suggest(rows, tmp_path, monkeypatch):
    used = _of_job(_words("suggest", rows, tmp_path), monkeypatch, "choose")
    used["families"] = False  # where penalties are open, clusters are joined
    return used


def _spark(rows, tmp_path):
    foreach_batch = pytest.importorskip("dynmeans.spark.micro_batches").foreach_batch
    take_in = foreach_batch(tmp_path / "run", features=["x", "y"], **GIVEN)
    config = next(c.cell_contents for c in take_in.__closure__ if _is_config(c.cell_contents))
    own = {name: getattr(config.model_config, name) for name in FIELDS}
    return own | {"on_missing": signature(foreach_batch).parameters["on_missing"].default}


def _is_config(value):
    return isinstance(value, RunConfig)


USED = {
    "DynamicMeans": _of_signature(DynamicMeans),
    "DPMeans": _of_signature(DPMeans),
    "RiverDynamicMeans": _river,
    "VisitingOrders": _of_signature(VisitingOrders),
    "fit_groups": _groups,
    "fit_anytime": _anytime,
    "tune": _tune,
    "ReclusterSettings": _of_signature(ReclusterSettings),
    "cluster": _cluster,
    "dynmeans cluster": _command,
    "dynmeans suggest": _suggest,
    "Run": _run,
    "foreach_batch": _spark,
}


@pytest.mark.filterwarnings("ignore::dynmeans.records.suggestion.SuggestionWarning")
@pytest.mark.parametrize(("interface", "rows"), CASES)
def test_a_default_is_the_one_of_the_table(interface, rows, tmp_path, monkeypatch):
    use = USED[interface]
    patched = {"monkeypatch": monkeypatch} if "monkeypatch" in signature(use).parameters else {}
    used = use(rows, tmp_path, **patched)
    if isinstance(used, ModelConfig):
        used = {name: getattr(used, name) for name in FIELDS}
    expected = {name: PARAMETERS[name].default for name in FIELDS} | defaults_of(interface, rows)
    shared = set(expected) & set(used)
    assert {name: used[name] for name in shared} == {name: expected[name] for name in shared}
    assert set(defaults_of(interface, rows)) <= shared  # nothing in the table is without effect
    # These have a few of the parameters.
    if interface not in ("DPMeans", "VisitingOrders", "ReclusterSettings"):
        assert set(FIELDS) <= shared


def test_penalties_are_chosen_by_default_in_every_estimator():
    for interface in (DynamicMeans, DPMeans):
        given = signature(interface).parameters
        assert all(
            given[name].default == PARAMETERS[name].default for name in PARAMETERS if name in given
        )


OF_CALLS = {*PARAMETERS, *signature(cluster).parameters}


@pytest.mark.parametrize(("old", "new"), [pair for pair in OLD_NAMES if pair[1] in OF_CALLS])
def test_an_old_name_of_an_argument_is_answered_with_the_present_one(old, new):
    with pytest.raises(TypeError, match=f"Did you mean '{new}'"):
        cluster(ROWS, **{old: 1})


@pytest.mark.parametrize(
    "old", ["lateness", "hold_last", "until_idle", "keep", "unique_ids", "count"]
)
def test_an_old_name_of_an_option_is_answered_with_the_present_one(old, capsys):
    assert main(["cluster", "rows.csv", f"--{old.replace('_', '-')}", "1"]) == 2
    new = next(new for name, new in reversed(OLD_NAMES) if name == old)
    assert f"--{new.replace('_', '-')}" in capsys.readouterr().err


@pytest.mark.parametrize("old", ["story", "alerts"])
def test_an_old_name_of_a_command_is_answered_with_the_present_one(old, capsys):
    assert main([old]) == 2
    assert f"Did you mean '{OLD_COMMANDS[old]}'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "new"),
    [
        ({"motion": "still"}, "random_walk"),
        ({"motion": "steady"}, "constant_velocity"),
        ({"space": "direction"}, "cosine"),
        ({"space": "angle:24"}, "cyclic:24"),
        ({"search": "depe"}, "deep"),
    ],
)
def test_an_old_or_misspelled_value_is_answered_with_the_present_one(given, new):
    with pytest.raises(InputError, match=rf"Did you mean '{new}'\?"):
        ModelConfig(**given)


def test_an_argument_that_was_removed_is_answered_with_the_reason():
    with pytest.raises(TypeError, match="do not depend on the order of rows: omit it"):
        DynamicMeans(order="row")


def test_an_old_attribute_is_answered_with_the_present_one():
    result = cluster(FRAME, window_column="t", features=["x", "y"], new_penalty=4.0)
    for old in ("story", "links", "run", "missing"):
        with pytest.raises(AttributeError, match=f"Did you mean '{OLD_ATTRIBUTES[old]}'"):
            getattr(result, old)
    with pytest.raises(AttributeError, match="Did you mean 'ModelConfig'"):
        dynmeans.Recipe  # noqa: B018


@pytest.mark.parametrize(
    ("call", "old", "new"),
    [
        (DynamicMeans, "min_life", "min_batches"),
        (DPMeans, "nthreads", "n_threads"),
        (DDPMixture, "carry", "carried_sample"),
        (RiverDynamicMeans, "moving", "moving_features"),
        (partial(tune, [], []), "recipe", "model_config"),
        (partial(fit_groups, ROWS, by="x"), "config", "model_config"),
        (partial(fit_groups, ROWS, by="x"), "batch", "batch_column"),
        (partial(fit_anytime, []), "recipe", "model_config"),
        (partial(foreach_batch, "run", features=["x"]), "recipe", "model_config"),
    ],
)
def test_an_unknown_argument_of_every_interface_is_answered_with_the_one_meant(call, old, new):
    with pytest.raises(TypeError, match=f"no argument '{old}'. Did you mean '{new}'"):
        call(**{old: 1})
