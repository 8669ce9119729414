"""Draw the pictures of "How it works" with the package's own code.

Run with ``python docs/make_algorithm_images.py``.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from dynmeans import ClusterState, Penalties, step
from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.plots import identity_marker, identity_rgba

FOLDER = Path(__file__).parent / "images"
PENALTIES = Penalties(1.0, max_gap=5.0, reach=1.5)


def draw_choice() -> Figure:
    """What a point pays for each choice, by its distance (equation 5)."""
    distances = np.linspace(0, 2, 400)
    q, tau = PENALTIES.revival_penalty, PENALTIES.drift
    figure = Figure(figsize=(7, 3.8), layout="constrained")
    ax = figure.subplots()
    ax.plot(distances, distances**2, label="a cluster seen in this batch")
    for age in (1, 2, 4):
        cost = q * age + distances**2 / (tau * age + 1)
        ax.plot(distances, cost, label=f"one remembered, last seen {age} ago")
    ax.axhline(PENALTIES.new_penalty, color="black", ls="--", label="a new cluster")
    ax.set(xlabel="distance to the center", ylabel="cost", ylim=(0, 1.6))
    ax.legend(fontsize=8)
    return figure


def draw_territories() -> Figure:
    """Who takes a point, by its place: three remembered clusters of different ages."""
    centers = np.array([[-1.3, 0.0], [0.2, 0.5], [1.6, -0.3]])
    ages = np.array([1.0, 2.0, 4.0])
    q, tau = PENALTIES.revival_penalty, PENALTIES.drift
    across, up = np.meshgrid(np.linspace(-3, 3.4, 480), np.linspace(-2, 2, 300))
    places = np.stack([across, up], axis=-1)[..., np.newaxis, :]
    costs = q * ages + ((places - centers) ** 2).sum(axis=-1) / (tau * ages + 1)
    takers = np.where(costs.min(axis=-1) <= PENALTIES.new_penalty, costs.argmin(axis=-1), -1)
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    ax = figure.subplots()
    picture = np.ones((*takers.shape, 4))
    for cluster_id in range(len(centers)):
        picture[takers == cluster_id] = (*identity_rgba([cluster_id])[0][:3], 0.35)
    ax.imshow(picture, origin="lower", extent=(-3, 3.4, -2, 2), interpolation="nearest")
    for cluster_id, center, age in zip(range(3), centers, ages, strict=True):
        color = identity_rgba([cluster_id])[0]
        ax.plot(*center, identity_marker(cluster_id), color=color, mec="black", ms=9)
        ax.annotate(
            f"last seen {age:g} ago", center, (0, -16), textcoords="offset points", ha="center"
        )
    ax.text(-2.8, 1.7, "white: a new cluster is cheaper")
    ax.set(xlabel="feature 0", ylabel="feature 1")
    return figure


def draw_reach() -> Figure:
    """How far a cluster is recognized, by the time unseen, for some values of `reach`."""
    ages = np.linspace(0.5, 7, 300)
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    ax = figure.subplots()
    for reach in (1.01, 1.5, 3.0):
        penalties = Penalties(1.0, max_gap=5.0, reach=reach)
        left = np.clip(1.0 - penalties.revival_penalty * ages, 0, None)
        ax.plot(ages, np.sqrt(left * (penalties.drift * ages + 1)), label=f"reach {reach:g}")
    ax.axvline(5.0, color="black", ls=":", lw=1)
    ax.annotate("max_gap", (5.0, 1.2), (5, 0), textcoords="offset points")
    ax.set(xlabel="batches since last seen", ylabel="farthest distance\nat which it revives")
    ax.legend()
    return figure


def draw_memory() -> Figure:
    """Where the center of a revived cluster comes to lie, by the number of its points."""
    counts = np.arange(1, 31)
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    ax = figure.subplots()
    for age in (1.0, 2.0, 4.0):
        state = ClusterState(
            ids=np.array([0]),
            centers=np.zeros((1, 1)),
            weights=np.array([20.0]),
            ages=np.array([age]),
            next_id=1,
            n_steps=9,
            counts=np.array([20.0]),
            time=9.0,
        )
        gamma = prior_weights(state, PENALTIES)[0]
        ax.plot(counts, counts / (gamma + counts), "o-", ms=3, label=f"last seen {age:g} ago")
    ax.set(
        xlabel="points in this batch", ylabel="share of the data\nin the new center", ylim=(0, 1)
    )
    ax.legend()
    return figure


def draw_descent() -> Figure:
    """The cost falls from pass to pass until it stops, in several visiting orders."""
    rng = np.random.default_rng(6)
    centers = rng.uniform(0, 3, size=(12, 2))
    points = rng.normal(centers[rng.integers(12, size=600)], 0.35)
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    ax = figure.subplots()
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(points))
        _, clustering = step(points, ClusterState.empty(2), PENALTIES, orders=[order])
        trace = clustering.cost_trace
        n_found = len(clustering.ids)
        ax.plot(np.arange(1, len(trace) + 1), trace, "o-", ms=3, label=f"{n_found} clusters")
    ax.set(xlabel="pass", ylabel="cost L")
    ax.legend(title="order ends with", fontsize=8)
    return figure


def draw_deeper() -> Figure:
    """One batch in either search: three clouds, and one cluster remembered between two of them."""
    rng = np.random.default_rng(3)
    clouds = np.array([[-0.8, 0.0], [0.8, 0.0], [2.6, 0.6]])
    points = rng.normal(np.repeat(clouds, 40, axis=0), 0.12)
    state = ClusterState([0], [[0.0, 0.0]], [60.0], [1.0], next_id=1, counts=[60.0])
    penalties, order = Penalties(1.5, revival_penalty=0.2, drift=0.02), rng.permutation(120)
    figure = Figure(figsize=(9, 4.4), layout="constrained")
    places = figure.subplot_mosaic([["paper", "deep"], ["trace", "trace"]], height_ratios=(3, 2))
    for search in ("paper", "deep"):
        _, found = step(points, state, penalties, orders=[order], search=search)
        ax = places[search]
        for k, center in zip(found.ids.tolist(), found.centers, strict=True):
            rows, color = points[found.labels == k], identity_rgba([k])[0]
            ax.plot(*rows.T, identity_marker(k), color=color, ms=4, alpha=0.6)
            ax.plot(*center, identity_marker(k), color=color, mec="black", ms=13)
        ax.plot(0.0, 0.0, "+", color="black", ms=12)
        ax.set(title=f'search="{search}": cost {found.cost:.1f}', aspect="equal")
        passes, size = np.arange(1, found.n_iter + 1), {"paper": 10, "deep": 5}[search]
        places["trace"].plot(passes, found.cost_trace, "o-", ms=size, label=search)
    places["trace"].set(xlabel="pass, or round of moves", ylabel="cost L", yscale="log")
    places["trace"].set_yticks([5, 10, 20, 50, 100], ["5", "10", "20", "50", "100"])
    places["trace"].set_yticks([], minor=True)
    places["trace"].xaxis.get_major_locator().set_params(integer=True)
    places["trace"].legend()
    return figure


def main() -> None:
    """Write every picture."""
    drawings = {
        "choice": draw_choice,
        "territories": draw_territories,
        "reach": draw_reach,
        "memory": draw_memory,
        "descent": draw_descent,
        "deeper": draw_deeper,
    }
    for name, draw in drawings.items():
        draw().savefig(FOLDER / f"how-{name}.png", dpi=100)


if __name__ == "__main__":
    main()
