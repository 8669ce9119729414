"""
Storms across the date line
===========================

**Question**: reports of storms come in as latitude and longitude. Which storm is which from day to day, where the
date line cuts the map in two and degrees of longitude grow short toward the pole?

In the space ``geo`` rows are places on the globe, distances are kilometers, and a course follows a great
circle.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dynmeans import cluster
from dynmeans.metrics import accuracy_global
from dynmeans.plots import plot_tracks

rng = np.random.default_rng(3)

# %%
# Five simulated storms of 24 days with 40 reports a day: where each begins, and how many degrees it moves a
# day. Three of them cross the date line, one goes along the polar circle, and nobody reports the second from
# day 8 to day 11.
places = np.array([[-15.0, 170.0], [12.0, -172.0], [35.0, 150.0], [-40.0, 178.0], [68.0, -178.0]])
moves = np.array([[0.1, 1.1], [0.2, -1.3], [0.8, 1.8], [-0.3, 1.5], [0.5, -2.5]])
reports = []
for day in range(24):
    seen = [storm for storm in range(5) if not (storm == 1 and 8 <= day < 12)]
    storm = np.repeat(seen, 40)
    latitude, longitude = (places[storm] + day * moves[storm]).T
    north, east = rng.normal(0, 1.2, (2, len(storm)))
    longitude = longitude + east / np.cos(np.deg2rad(latitude))
    rows = {"latitude": latitude + north, "longitude": (longitude + 180) % 360 - 180}
    reports.append(pd.DataFrame({"day": day, "storm": storm, **rows}))
reports = pd.concat(reports, ignore_index=True)

# %%
# As plain numbers the columns are recognized, and ``geo`` is proposed. Lambda is a squared distance: here in
# degrees, there in kilometers.
options = {"window_column": "day", "features": ["latitude", "longitude"], "random_state": 0}
plain = cluster(reports, new_penalty=60.0, **options)
print(plain.summary())
found = cluster(reports, space="geo", new_penalty=1000.0**2, **options)
print(found.summary())

# %%
# Names are kept over the date line, near the pole and through the days without reports.
truth = [part.storm.to_numpy() for _, part in reports.groupby("day")]
for name, one in (("raw", plain), ("geo", found)):
    labels = [part.to_numpy(int) for _, part in one.labels.groupby(reports.day)]
    accuracy = accuracy_global(truth, labels)
    print(f"{name}: {one.labels.nunique()} names for 5 storms, global accuracy {accuracy:.3f}")

# %%
# The map is cut open where no storm is, and tracks follow great circles.
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for ax, one, name in ((axes[0], plain, "raw"), (axes[1], found, "geo")):
    last = reports[reports.day == 23][["latitude", "longitude"]].to_numpy()
    plot_tracks(one.history, last, tail=24, ax=ax)
    ax.set_title(f"{name}: {one.labels.nunique()} storms in all")

# %%
# Tracks for other maps: lines are cut at the date line, as GeoJSON asks.
with TemporaryDirectory() as folder:
    path = found.write_geojson(Path(folder) / "storms.geojson")
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
