"""Write a messy CSV file: byte-order mark, semicolons, decimal commas, four forms of time."""

import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

FORMS = ["%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%m/%d/%Y %I:%M %p"]
SHIPS = {"FERRY 3": (0.0, 0.0004), "TUG 17": (0.3, -0.0003), "PILOT 1": (0.6, 0.0)}
BEGIN = datetime(2026, 3, 1, 6, tzinfo=UTC)


def write_messy_csv(path: Path, n_minutes: int = 300) -> None:
    """Write positions of three ships, one a minute; some twice, some with holes, one undated.

    Parameters
    ----------
    path : Path
        The file to write.
    n_minutes : int
        Length of the record.
    """
    rng = random.Random(0)
    lines = ["when;ship;lon;lat;note"]
    for minute in range(n_minutes):
        for number, (ship, (place, speed)) in enumerate(SHIPS.items()):
            when = (BEGIN + timedelta(minutes=minute)).strftime(FORMS[(minute + number) % 4])
            lon = f"{4.0 + place + speed * minute + rng.gauss(0, 0.01):.5f}".replace(".", ",")
            lat = f"{52.0 + place + rng.gauss(0, 0.01):.5f}".replace(".", ",")
            row = f'{when};{ship};{lon};{lat};"slow; steady"'
            if rng.random() < 0.02:
                row = f"{when};{ship};{rng.choice(['', 'NA', '-'])};{lat};"
            lines += [row, row] if rng.random() < 0.02 else [row]
    lines.append("soon;TUG 17;4,30000;52,30000;")
    path.write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8", newline="")


if __name__ == "__main__":
    write_messy_csv(Path(sys.argv[1] if len(sys.argv) > 1 else "messy.csv"))
