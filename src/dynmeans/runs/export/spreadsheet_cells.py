"""CSV injection: cells that a spreadsheet would run as formulas, found and made plain text."""

import re
from collections.abc import Mapping

from dynmeans.runs.reading.columns import TEXT, quote_name, quote_text

# A sign counts only before a call, a link or a sheet: -5 and +49 170 are no formulas.
_FORMULA = r"(?s)^([=@\t\r]|[+-].*[(|!])"


def count_formulas(columns: Mapping[str, str]) -> str:
    """Return SQL that counts such cells over all columns of text, their names included."""
    texts = [quote_name(name) for name, dtype in columns.items() if dtype == TEXT]
    counts = [f"count(*) FILTER (WHERE {_is_formula(name)})" for name in texts]
    n_names = sum(map(_is_name_formula, columns))
    return " + ".join([*counts, str(n_names)])


def plain_cells(columns: Mapping[str, str]) -> str:
    """Return SQL for all columns, with an apostrophe before each cell that would be run."""
    cells = []
    for name, dtype in columns.items():
        column = quote_name(name)
        shown = f"'{name}" if _is_name_formula(name) else name
        is_text = f"CASE WHEN {_is_formula(column)} THEN '''' || {column} ELSE {column} END"
        cells.append(f"{is_text if dtype == TEXT else column} AS {quote_name(shown)}")
    return ", ".join(cells)


def _is_formula(column: str) -> str:
    return f"coalesce(regexp_matches({column}, {quote_text(_FORMULA)}), false)"


def _is_name_formula(name: str) -> bool:
    return re.match(_FORMULA, name) is not None
