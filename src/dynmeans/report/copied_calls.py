"""The calls that readers of a page copy: they cluster the rows of a run again."""

import shlex
from pathlib import Path
from typing import Any

from dynmeans.follow.clusterers import DETECTIONS
from dynmeans.follow.defaults import NUMBERS, TEXTS, VECTORS, defaults_of
from dynmeans.follow.model_config import PARAMETERS
from dynmeans.follow.partial_penalties import NAMED
from dynmeans.runs.reading.columns import is_of_vector
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.run import Run
from dynmeans.runs.streams.addresses import is_address

# Options of windows that `dynmeans.cluster` has no argument for.
_OF_LIVE = ("keep_last_open", "allowed_lateness", "on_late", "max_ahead", "deduplicate")
_SOURCE = (*WindowOptions.__dataclass_fields__, *ReadingOptions.__dataclass_fields__)
# Not available with other methods than "dynmeans", or decided by the method.
_OF_METHOD = ("penalties", *NAMED, "n_clusters", "n_init", "search", "families", "method")


def copied_calls(run: Run) -> dict[str, Any]:
    """Return the calls in Python and on the command line, by what they do, and the folder.

    "run" repeats the run with its own arguments, "detections" takes every row for one object, and
    "hdbscan" clusters with that method. The page adds the level.
    """
    rows, model = _row_arguments(run), _model_arguments(run)
    rest = {k: v for k, v in model.items() if k not in _OF_METHOD}
    name = run.folder.resolve().name
    return {
        "folder": shlex.quote(name),
        "run": _calls(run, rows | model, name),
        **{
            method: _calls(run, rows | rest | {"method": method}, f"{name}-{method}")
            for method in (DETECTIONS, "hdbscan")
        },
    }


def _calls(run: Run, arguments: dict[str, Any], folder: str) -> dict[str, str]:
    return {
        "python": _python(run, arguments),
        "command": f"{_command(run, arguments)} -o {shlex.quote(folder)}",
    }


def row_command(run: Run) -> str:
    """Return the command that clusters the same rows, without penalties and other parameters."""
    space = run.config.model_config.space
    own = {"space": space} if isinstance(space, str) and space != "raw" else {}
    return _command(run, _row_arguments(run) | own)


def _row_arguments(run: Run) -> dict[str, Any]:
    """Return the features and the options of windows and of reading that are not at a default."""
    source = run.config.source
    usual = {**WindowOptions.__dataclass_fields__, **ReadingOptions.__dataclass_fields__}
    given = {
        name: list(source[name]) if isinstance(source[name], tuple) else source[name]
        for name in _SOURCE
        if source.get(name) not in (None, "", [], ()) and source[name] != usual[name].default
    }
    if given.get("on_missing") == "drop" and not _is_stream(run):
        del given["on_missing"]
    if not given.get("text"):
        names = (f.rpartition("[")[0] if is_of_vector(f) else f for f in run.config.features)
        given["features"] = list(dict.fromkeys(names))
    else:
        given.pop("features", None)
    return given


def _model_arguments(run: Run) -> dict[str, Any]:
    """Return the parameters that `dynmeans.cluster` would not choose for these rows."""
    config = run.config
    if config.source.get("text"):
        kind = TEXTS
    else:
        kind = VECTORS if all(map(is_of_vector, config.features)) else NUMBERS
    given = config.model_config.non_default_fields()
    base = given.pop("penalties", None)
    if base is not None and run.penalties is not None:
        given = {name: getattr(run.penalties, name) for name in NAMED} | given
    usual = {name: field.default for name, field in PARAMETERS.items()} | defaults_of(
        "cluster", kind
    )
    dropped = {name for name in given if given[name] is None or given[name] == usual.get(name)}
    if run.levels is not None:
        dropped.add("families")  # of which levels are made
    if not isinstance(given.get("space", ""), str):
        dropped.add("space")
    return {name: given[name] for name in given if name not in dropped}


def _is_stream(run: Run) -> bool:
    table = run.config.source.get("input")
    return bool(table) and (table == "-" or is_address(table))


def _input_name(run: Run) -> str | None:
    """Return the name of the input without its folder: pages are passed on."""
    table = run.config.source.get("input")
    return Path(str(table)).name if table and not _is_stream(run) else None


def _python(run: Run, arguments: dict[str, Any]) -> str:
    name = _input_name(run)
    words = ["frame" if name is None else repr(name)]
    words += [f"{k}={_literal(v)}" for k, v in arguments.items() if k not in _OF_LIVE]
    return f"dynmeans.cluster({', '.join(words)})"


def _literal(value: Any) -> str:
    return 'float("inf")' if value == float("inf") else repr(value)


def _command(run: Run, arguments: dict[str, Any]) -> str:
    words = ["dynmeans", "cluster", _input_name(run) or "INPUT"]
    for name, value in arguments.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif name == "features":
            words += [flag, ",".join(value)]
        elif isinstance(value, tuple):  # a range
            words += [flag, "-".join(f"{end:g}" for end in value)]
        elif isinstance(value, list):
            words += [word for one in value for word in (flag, str(one))]
        else:
            words += [flag, str(value)]
    return shlex.join(words)
