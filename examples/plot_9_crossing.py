"""
People and ships that cross
===========================

**Question**: groups of people cross a square in all directions. Where two groups meet, which is which
afterwards?

A cluster of Dynamic Means is expected where it was. With ``motion="constant_velocity"`` it is expected where its
velocity takes it, and keeps its name through a crossing.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dynmeans import DynamicMeans, suggest_penalties
from dynmeans.metrics import accuracy_global
from dynmeans.plots import plot_tracks

rng = np.random.default_rng(4)

# %%
# A simulated crowd: groups of two to five enter a square of 16 meters on one side and leave it on the
# other at 1.3 m/s. Every batch is one frame of a camera, 0.4 seconds, with positions and no names.
groups, batches, truth, n_groups = [], [], [], 0
for _ in range(300):
    if rng.random() < 0.2:
        angle = rng.uniform(0, 2 * np.pi)
        course = np.array([np.cos(angle), np.sin(angle)])
        aside = np.array([-course[1], course[0]])
        start = -8 * course + rng.uniform(-5, 5) * aside
        around = 0.7 * np.outer(np.arange(rng.integers(2, 6)), aside)
        groups.append([n_groups, start, 0.4 * 1.3 * course, around - around.mean(axis=0)])
        n_groups += 1
    for group in groups:
        group[1] = group[1] + group[2]
    groups = [group for group in groups if np.hypot(*group[1]) < 10]
    people = [place + around for _, place, _, around in groups]
    batches.append(np.vstack([np.empty((0, 2)), *people]))
    batches[-1] += rng.normal(0, 0.08, batches[-1].shape)
    truth.append(np.repeat([g[0] for g in groups], [len(p) for p in people]).astype(int))


# %%
# Nobody tells us the parameters, and not the motion either: the first 60 frames do.
def follow(batches, truth, n_first, motion=None):
    """Choose on the first batches, follow all, and return the share of rows that keep their name."""
    p = suggest_penalties(batches[:n_first], motion=motion)
    model = DynamicMeans(
        p.new_penalty, max_gap=p.max_gap, reach=p.reach, motion=p.motion, random_state=0
    )
    labels, history = model.fit_sequence(batches)
    return accuracy_global(truth, labels), p.motion, model, history


still, *_ = follow(batches, truth, 60, "random_walk")
chosen, motion, model, history = follow(batches, truth, 60)
print(
    f"still: {100 * still:.0f} % of the positions keep their name; {motion}: {100 * chosen:.0f} %"
)

# %%
# Arrows point to where each group is expected a frame later. ``forecast`` says where all groups will be in
# two seconds, five frames, and how far from there one of them would still be taken for the group.
figure, ax = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
plot_tracks(history, batches[-1], tail=12, ax=ax)
ax.set(xlabel="meters", ylabel="meters", title="The last frame")
expected = model.forecast(5.0)
for center, radius in zip(expected.centers, expected.radii, strict=True):
    ax.add_patch(plt.Circle(center, radius, fill=False, linestyle=":"))

# %%
# The same with real ships, where the file of AIS messages is at hand: off Virginia, in windows of two
# minutes. Without it, ships are simulated.
folders = [Path.cwd(), *Path.cwd().parents]
files = [folder / "shared/data/ais_noaa/virginia_beach_2020_06_04_06.parquet" for folder in folders]
file = next((path for path in files if path.exists()), None)
if file is not None:
    table = pd.read_parquet(file).rename(columns=str.lower)
    table = table.rename(columns={"basedatetime": "time"}).dropna(subset=["lon", "lat", "mmsi"])
    table["window"] = pd.to_datetime(table["time"]).dt.floor("2min")
    table["ship"] = pd.factorize(table["mmsi"])[0]
    east = 111.2 * np.cos(np.deg2rad(table["lat"].mean()))
    table["x"], table["y"] = east * table["lon"], 111.2 * table["lat"]
else:
    times = np.arange(300)
    starts, courses = rng.uniform(0, 60, (12, 2)), rng.normal(0, 0.6, (12, 2))
    places = np.abs((starts + times[:, None, None] * courses) % 120 - 60)  # they turn at the shore
    rows = np.column_stack([places.reshape(-1, 2), np.tile(np.arange(12), 300)])
    table = pd.DataFrame(rows, columns=["x", "y", "ship"])
    table["window"] = np.repeat(times, 12)
windows = [rows for _, rows in table.groupby("window")][:600]
ships = [rows[["x", "y"]].to_numpy() for rows in windows]
names = [rows["ship"].to_numpy().astype(int) for rows in windows]
still, *_ = follow(ships, names, 120, "random_walk")
chosen, motion, model, history = follow(ships, names, 120)
print(f"ships, still: {100 * still:.0f} %; {motion}: {100 * chosen:.0f} %")
figure, ax = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
plot_tracks(history, ships[-1], tail=30, ax=ax)
ax.set(xlabel="km east", ylabel="km north", title="Ships and where they came from")
plt.show()
