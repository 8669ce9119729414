"""Write the tables of docs/paper-line-by-line.md anew, from the committed results.

Run as ``python tools/paper_page.py`` (``make reproduce``). What stands between ``<!-- table: NAME
-->`` and ``<!-- end -->`` is replaced by what `paper_tables` makes of the results.
"""

import re
from pathlib import Path

from paper_tables import TABLES

PAGE = Path(__file__).parents[1] / "docs" / "paper-line-by-line.md"
_BLOCK = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(text: str) -> str:
    """Return the text with every table of the results as they are now."""
    return _BLOCK.sub(lambda block: f"{block[1]}\n{TABLES[block[2]]()}\n\n{block[3]}", text)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"written: {PAGE}")
