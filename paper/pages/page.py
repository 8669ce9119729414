"""Write the tables and numbers of the pages on the paper anew, from the committed results.

Run as ``python -m paper.pages.page`` (``make reproduce``). What stands between ``<!-- table: NAME
-->`` or ``<!-- fact: NAME -->`` and ``<!-- end -->`` is replaced by what `tables` and
`facts` make of the results.
"""

import re
from pathlib import Path

from paper.pages.facts import fact
from paper.pages.tables import TABLES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "paper-line-by-line.md"
EXPERIMENTS = ("synthetic-experiment.md", "aircraft-experiment.md")
PAGES = (PAGE, *(DOCS / name for name in EXPERIMENTS), DOCS.parent / "README.md")
_TABLE = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
_FACT = re.compile(r"(<!-- fact: (.+?) -->).*?(<!-- end -->)")


def with_results(text: str) -> str:
    """Return the text with every table and number of the results as they are now."""
    text = _TABLE.sub(lambda block: f"{block[1]}\n{TABLES[block[2]]()}\n\n{block[3]}", text)
    return _FACT.sub(lambda told: f"{told[1]}{fact(told[2])}{told[3]}", text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_results(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"written: {page}")
