"""The result of the synthetic experiment in words and tables."""

import pandas as pd

from dynmeans.experiments.results_file import Results
from dynmeans.experiments.synthetic.config import METHODS
from dynmeans.experiments.synthetic.summary import (
    TIMES_FASTER,
    authors_table,
    by_clusters,
    describe_setting,
    settings_of,
    speed_table,
    trials_of,
)
from dynmeans.experiments.synthetic.tasks import HANDICAP, HONEST

NAMES = dict(
    zip(
        METHODS,
        ("Dynamic Means", "Gibbs", "variational inference", "particle learning"),
        strict=True,
    )
)
CHOICES = {HONEST: "honest", HANDICAP: "with handicap"}
ORIGINS = {"paper": "the paper's parameters", "found": "the parameters found"}
_SCORES = {
    "accuracy_frozen": "frozen",
    "accuracy_global": "global",
    "accuracy_per_step": "per step",
}


def speed_claims(frame: pd.DataFrame, origin: str, score: str = "accuracy_global") -> list[str]:
    """Say of each sampler where Dynamic Means is 100 times faster and as accurate, or why not."""
    lines = []
    table = speed_table(frame, origin, score)
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
    frame, noise = results.frame, results.configuration["noise"]
    parts = [
        f"# Synthetic experiment, {noise} noise",
        "Accuracies are frozen / global / per step, in %; times are CPU time for each step, one "
        "thread; n is the number of streams.",
    ]
    for origin, name in ORIGINS.items():
        settings = settings_of(frame, origin)
        parts.append(f"## At {name}\n\n")
        parts[-1] += "\n".join(
            f"- {NAMES[method]}: {', '.join(setting)} = {describe_setting(setting)}"
            for method, setting in settings.items()
        )
        parts.append(_comparison_markdown(frame, origin, results.configuration["n_steps"]))
        parts.append(
            f"Is Dynamic Means {TIMES_FASTER:g} times faster at equal or better tracking "
            "accuracy than\n\n" + "\n".join(f"- {line}" for line in speed_claims(frame, origin))
        )
    parts.append(_authors_markdown(frame, noise))
    return "\n\n".join(parts) + "\n"


def _comparison_markdown(frame: pd.DataFrame, origin: str, n_steps: int) -> str:
    """Return a table of methods by numbers of clusters."""
    settings, ks = settings_of(frame, origin), sorted(frame["n_clusters"].unique())
    lines = [
        "| " + " | ".join(["", *(f"K = {k}" for k in ks)]) + " |",
        "|---" * (len(ks) + 1) + "|",
    ]
    for method in METHODS:
        for choice in (HONEST, HANDICAP):
            trials = trials_of(frame, method, settings[method], choice)
            if not len(trials):
                continue
            cells = dict.fromkeys(ks, "")
            averages = [by_clusters(trials, method, score) for score in _SCORES]
            times = by_clusters(trials, method, "cpu_s")
            for i, k in enumerate(times.x):
                shares = " / ".join(f"{100 * a.mean[i]:.1f}" for a in averages)
                ms = 1e3 * times.mean[i] / n_steps
                cells[int(k)] = f"{shares}; {ms:.3g} ms (n = {times.n[i]})"
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
            f"| {row.n_clusters} | {_SCORES[row.score]} | {row.ours:.1f} | {row.authors:.1f} "
            f"| {row.errors_off:+.1f} |"
        )
    return "\n".join(lines)


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
    return f"{k} ({reason}{'' if is_as_accurate else f', accuracy {-gain:.2f} lower'})"
