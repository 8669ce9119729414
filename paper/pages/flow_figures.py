"""Put Figure 2 among the images of the docs; ``make figure-2`` runs it.

The maps are drawn by ``python -m paper aircraft`` from the files of a run, which ``make
reproduce-full`` leaves in paper/results; the flights of the real one are not in the repository.
"""

import shutil
import sys

from paper.pages.figures import IMAGES
from paper.results_file import RESULTS

NAMES = (
    *("aircraft-real-map", "aircraft-real-counts"),
    *("aircraft-real-paper-map", "aircraft-real-paper-counts", "aircraft-simulated-map"),
)


def main() -> int:
    """Copy what there is; 1 if nothing was drawn yet."""
    drawn = [name for name in NAMES if (RESULTS / f"{name}.png").exists()]
    for name in drawn:
        shutil.copyfile(RESULTS / f"{name}.png", IMAGES / f"{name}.png")
        print(f"copied: docs/images/{name}.png")
    for name in sorted(set(NAMES) - set(drawn)):
        print(f"not drawn yet: {name} (make reproduce-full)", file=sys.stderr)
    return 0 if drawn else 1


if __name__ == "__main__":
    sys.exit(main())
