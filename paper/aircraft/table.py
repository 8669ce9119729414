"""Table 1 and what it says: accuracy and time with standard errors, and who is faster."""

import numpy as np
import pandas as pd

from paper.aircraft.config import (
    FEATURES,
    HANDICAP,
    HONEST,
    METHODS,
    ORIGINS,
    WEEK,
    WHOLE,
)
from paper.results_file import Results

NAMES = {"dynamic_means": "Dynamic Means", "dp_means": "DP-Means", "gibbs": "Gibbs, 50 samples"}
_GROUP = ["span", "feature", "origin", "hours", "method", "choice"]
# Rows as they stand in a table; shorter windows come first, all flights at once last.
_ORDER = {
    "span": (WEEK, WHOLE),
    "feature": FEATURES,
    "origin": ORIGINS,
    "method": METHODS,
    "choice": (HONEST, HANDICAP),
}
_EQUAL = 2.0  # standard errors within which two accuracies are equal


def table_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return mean, spread and standard error of accuracy and time over the trials of each row."""
    groups = frame.groupby(_GROUP, sort=False)
    table = groups.agg(
        accuracy=("accuracy", "mean"),
        accuracy_spread=("accuracy", _spread),
        cpu_s=("cpu_s", "mean"),
        cpu_s_spread=("cpu_s", _spread),
        n_found=("n_found", "mean"),
        n_flights=("n_flights", "first"),
        n_scored=("n_scored", "first"),
        n_trials=("accuracy", "size"),
    ).reset_index()
    table = table.sort_values(_GROUP, key=_rank, ignore_index=True)
    for name in ("accuracy", "cpu_s"):
        table[f"{name}_error"] = table[f"{name}_spread"] / np.sqrt(table["n_trials"])
    return table


def _rank(column: pd.Series) -> pd.Series:
    if column.name == "hours":
        return column.replace(0.0, np.inf)
    return column.map(_ORDER[str(column.name)].index)


def compare(table: pd.DataFrame) -> pd.DataFrame:
    """Set Dynamic Means beside each other method on the same flights.

    Returns
    -------
    pandas.DataFrame
        `gain` in accuracy with its standard `error`, `times_faster`, and the `verdict`: more,
        as or less accurate, where a gain within two errors is none.
    """
    rows = []
    ours = table[table["method"] == "dynamic_means"]
    for row in ours.itertuples():
        others = table[
            (table["span"] == row.span)
            & (table["feature"] == row.feature)
            & (table["origin"] == row.origin)
            & (table["method"] != "dynamic_means")
            & table["hours"].isin([0.0, row.hours])
        ]
        for other in others.itertuples():
            gain = row.accuracy - other.accuracy
            error = float(np.hypot(row.accuracy_error, other.accuracy_error))
            verdict = "as" if abs(gain) <= _EQUAL * error else "more" if gain > 0 else "less"
            rows.append(
                {
                    **{name: getattr(row, name) for name in ("span", "feature", "origin", "hours")},
                    "method": other.method,
                    "choice": other.choice,
                    "gain": gain,
                    "error": error,
                    "times_faster": other.cpu_s / row.cpu_s,
                    "verdict": verdict,
                }
            )
    return pd.DataFrame(rows)


def summary_markdown(results: Results) -> str:
    """Return the tables as a Markdown page."""
    table = table_frame(results.frame)
    verdicts = compare(table)
    parts = ["# Aircraft experiment"]
    for (span, feature), rows in table.groupby(["span", "feature"], sort=False):
        first = rows.iloc[0]
        parts.append(
            f"## {feature} feature, {span}: {first.n_flights:,} flights, "
            f"{first.n_scored:,} labels scored\n\n" + table_markdown(rows)
        )
        chosen = verdicts[(verdicts["span"] == span) & (verdicts["feature"] == feature)]
        if len(chosen):
            parts.append("\n".join(f"- {line}" for line in _sentences(chosen)))
    return "\n\n".join(parts) + "\n"


def table_markdown(rows: pd.DataFrame) -> str:
    """Return the rows of one span and feature as a table; with errors over flights, if there."""
    has_flights = "flight_error" in rows
    columns = ["parameters", "window", "method", "accuracy, %", "spread"]
    columns += [*["± flights"] * has_flights, "clusters", "time, s", "trials"]
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for row in rows.itertuples():
        window = "all at once" if row.hours == 0 else f"{row.hours:g} h"
        over_flights = f"| {shown(100 * row.flight_error, '.1f')} " if has_flights else ""
        time_error = "" if has_flights else f" ± {row.cpu_s_error:.1g}"
        lines.append(
            f"| {row.origin} | {window} | {full_name(row.method, row.choice)} "
            f"| {100 * row.accuracy:.1f} ± {100 * row.accuracy_error:.1f} "
            f"| {100 * row.accuracy_spread:.1f} {over_flights}| {row.n_found:.0f} "
            f"| {shown(row.cpu_s, '.3g')}{time_error} | {row.n_trials} |"
        )
    return "\n".join(lines)


def _sentences(rows: pd.DataFrame) -> list[str]:
    return [
        f"{row.origin}, {row.hours:g} h windows: Dynamic Means is {row.verdict} accurate "
        f"{'as' if row.verdict == 'as' else 'than'} {full_name(row.method, row.choice)} "
        f"({100 * row.gain:+.1f} ± {100 * row.error:.1f} points) and {row.times_faster:.1f} times "
        "as fast."
        for row in rows.itertuples()
    ]


def full_name(method: str, choice: str) -> str:
    """Return the name of a method, with how its sample was chosen."""
    return NAMES[method] + (", handicap" if choice == HANDICAP else "")


def shown(value: float, form: str) -> str:
    """Return a number, or nothing where it was not measured."""
    return "" if np.isnan(value) else format(value, form)


def _spread(values: pd.Series) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
