"""A page with everything it can carry stays small enough to be passed on."""

import numpy as np
import pandas as pd

import dynmeans

N_POINTS = 20_000


def test_twenty_thousand_points_with_everything_make_a_page_of_at_most_1_5_mb(tmp_path):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 40, N_POINTS)
    places = np.column_stack([kind % 8, kind // 8]) * 9.0
    frame = pd.DataFrame(places + rng.normal(0, 0.4, places.shape), columns=["x", "y"])
    frame["when"] = pd.date_range("2026-03-02", periods=N_POINTS, freq="36s")
    frame["ship"] = 211_000_000 + kind * 997 + rng.integers(0, 4, N_POINTS)
    frame["port"] = np.array(["Kiel", "Oslo", "Riga", "Gdynia", "Turku"])[kind % 5]
    frame["speed"] = rng.gamma(2.0, 4.0, N_POINTS).round(1)
    words = np.array([f"word{k}" for k in range(500)])
    frame["note"] = [" ".join(some) for some in words[rng.integers(0, 500, (N_POINTS, 4))]]
    found = dynmeans.cluster(
        frame, features=["x", "y"], time="when", every="2h", new_penalty=4.0,
        level="default", sample_size=N_POINTS,
    )  # fmt: skip
    describe = ["ship", "port", "speed", "note"]
    text = found.report(tmp_path / "all.html", describe=describe).read_text("utf-8")
    assert all(part in text for part in ('id="engine-module"', 'id="report-rows"', '"coarse"'))
    assert f'"n_rows": {N_POINTS}' in text or f'"n_rows":{N_POINTS}' in text
    assert 600_000 < len(text.encode()) <= 1_500_000
