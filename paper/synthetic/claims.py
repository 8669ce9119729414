"""The result of the synthetic experiment in words and tables."""

import numpy as np
import pandas as pd

from paper.results_file import Results
from paper.synthetic.config import METHODS, SyntheticConfig
from paper.synthetic.search import edges
from paper.synthetic.summary import (
    TIMES_FASTER,
    authors_table,
    by_clusters,
    describe_setting,
    settings_of,
    speed_table,
    trials_of,
)
from paper.synthetic.tasks import (
    DEVIATION,
    FOUND,
    HANDICAP,
    HONEST,
    PAPER,
    Settings,
)

NAMES = dict(
    zip(
        METHODS,
        ("Dynamic Means", "Gibbs", "variational inference", "particle learning"),
        strict=True,
    )
)
CHOICES = {HONEST: "honest", HANDICAP: "with handicap"}
ORIGINS = {
    PAPER: "the paper's parameters, motion variance 0.05",
    DEVIATION: "the paper's parameters, motion deviation 0.05",
    FOUND: "the parameters found",
}
_SCORES = {
    "accuracy_frozen": "frozen",
    "accuracy_global": "global",
    "accuracy_per_step": "per step",
}


def speed_claims(frame: pd.DataFrame, settings: Settings, score: str) -> list[str]:
    """Say of each sampler where Dynamic Means is 100 times faster and as accurate, or why not."""
    lines = []
    table = speed_table(frame, settings, score)
    for (method, choice), rows in table.groupby(["method", "choice"], sort=False):
        parts = []
        if rows["holds"].any():
            parts.append(f"yes at K = {_listed(rows.loc[rows['holds'], 'n_clusters'])}")
        misses = [_miss(row) for row in rows[~rows["holds"]].itertuples()]
        if misses:
            parts.append(f"no at {', '.join(misses)}")
        lines.append(f"{full_name(str(method), str(choice))}: {'; '.join(parts)}.")
    return lines


def summary_markdown(results: Results) -> str:
    """Return the tables of the experiment as a Markdown page."""
    frame, config = results.frame, SyntheticConfig.from_dict(results.configuration)
    parts = [
        f"# Synthetic experiment, {config.noise} noise",
        "Accuracies are frozen / global / per step, in %, with standard errors over streams; "
        "times are CPU time for each step, one thread, over the streams that have one; n is the "
        f"number of streams. The search maximized the {config.search_by} accuracy.",
    ]
    for origin, name in ORIGINS.items():
        settings = settings_of(config, frame, origin)
        if not settings:
            continue
        parts.append(f"## At {name}\n\n")
        parts[-1] += "\n".join(
            f"- {NAMES[method]}: {', '.join(setting)} = {describe_setting(setting)}"
            for method, setting in settings.items()
        )
        if origin == FOUND and (at_edge := list(edges(config, settings))):
            named = ", ".join(f"{parameter} of {NAMES[method]}" for method, parameter in at_edge)
            parts.append(f"At the edge of the grid: {named}.")
        parts.append(_comparison_markdown(frame, settings, config.n_steps))
        claims = speed_claims(frame, settings, config.score)
        parts.append(
            f"Is Dynamic Means {TIMES_FASTER:g} times faster at equal or better tracking "
            "accuracy than\n\n" + "\n".join(f"- {line}" for line in claims)
        )
    parts.append(_authors_markdown(frame, config.noise))
    return "\n\n".join(parts) + "\n"


def _comparison_markdown(frame: pd.DataFrame, settings: Settings, n_steps: int) -> str:
    """Return a table of methods by numbers of clusters."""
    ks = sorted(frame["n_clusters"].unique())
    lines = [
        "| " + " | ".join(["", *(f"K = {k}" for k in ks)]) + " |",
        "|---" * (len(ks) + 1) + "|",
    ]
    for method in settings:
        for choice in (HONEST, HANDICAP):
            trials = trials_of(frame, method, settings[method], choice)
            if not len(trials):
                continue
            cells = dict.fromkeys(ks, "")
            averages = [by_clusters(trials, method, score) for score in _SCORES]
            times = by_clusters(trials, method, "cpu_s")
            ms = dict(zip(times.x, 1e3 * times.mean / n_steps, strict=True))
            for i, k in enumerate(averages[0].x):
                shares = " / ".join(with_error(a.mean[i], a.error[i]) for a in averages)
                time = f"; {ms[k]:.3g} ms" if k in ms else ""
                cells[int(k)] = f"{shares}{time} (n = {averages[0].n[i]})"
            name = full_name(method, choice)
            lines.append("| " + " | ".join([name, *(cells[k] for k in ks)]) + " |")
    return "\n".join(lines)


def _authors_markdown(frame: pd.DataFrame, noise: str) -> str:
    table = authors_table(frame, noise)
    lines = [
        "## Beside the authors' program\n",
        "| K | accuracy | ours, % | authors, % | standard errors off |",
        "|---|---|---|---|---|",
    ]
    for row in table.itertuples():
        lines.append(
            f"| {row.n_clusters} | {_SCORES[row.score]} | {row.ours:.1f} ± {row.ours_error:.1f} "
            f"| {row.authors:.1f} ± {row.authors_error:.1f} | {row.errors_off:+.1f} |"
        )
    return "\n".join(lines)


def with_error(mean: float, error: float) -> str:
    """Return a share in % with its standard error, where there is one."""
    return f"{100 * mean:.1f}" + ("" if np.isnan(error) else f" ± {100 * error:.1f}")


def full_name(method: str, choice: str) -> str:
    """Return the name of a method, with the choice of its sample where it has one."""
    has_choice = method in ("gibbs", "particle")
    return f"{NAMES[method]} ({CHOICES[choice]})" if has_choice else NAMES[method]


def _listed(values: pd.Series) -> str:
    return ", ".join(str(value) for value in values)


def _miss(row: object) -> str:
    k, times = row.n_clusters, row.times_faster  # type: ignore[attr-defined]
    gain, is_as_accurate = row.gain, row.is_as_accurate  # type: ignore[attr-defined]
    reason = f"{times:.1f} times" if times < 10 else f"{times:.0f} times"
    reason = "not timed" if np.isnan(times) else reason
    return f"{k} ({reason}{'' if is_as_accurate else f', accuracy {-gain:.2f} lower'})"
