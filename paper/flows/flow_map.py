"""A map of the largest flows: mean ways, take-offs and their spread (Fig. 2, left)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse, Polygon
from matplotlib.patheffects import withStroke

from dynmeans.plots.arguments import axes_or_new
from dynmeans.records.arrays import FloatArray
from paper.flights.airports import Airport, airports
from paper.flights.trajectories import USA, Area
from paper.flows.flows import ELSEWHERE, Flow
from paper.flows.outlines import COAST, STATE, usa_outline

# Dark enough on white; regions next to each other differ in lightness too.
REGION_COLORS = {
    "Pacific": "#0072B2",
    "Mountain": "#B8860B",
    "Texas and Gulf": "#D55E00",
    "Midwest": "#009E73",
    "Southeast": "#CC79A7",
    "Northeast": "#332288",
    "Canada": "#56B4E9",
    ELSEWHERE: "#666666",
}
_NUMBER_AT = (0.62, 0.5, 0.74, 0.38, 0.84, 0.26)  # shares of the way to put a number at
_MAP_WIDTH, _TITLE_HEIGHT, _LINE_HEIGHT = 10.0, 0.5, 0.22  # inches
_LEGEND_COLUMNS = 4
_NUMBER_APART = 0.045  # of the width of the map
_NAMED_WITHIN_DEGREES = 1.2
_AIRPORTS_APART_DEGREES = 1.5
_NAME_REACH = (1.2, 2.4)  # degrees: up, down and West of an airport, and East, where its name is
_MAX_AIRPORTS = 30
_SIDE_DEGREES = 0.22  # ways there and back lie side by side, each on the right of its direction


def plot_flow_map(flows: Sequence[Flow], ax: Axes | None = None, area: Area = USA) -> Axes:
    """Draw the mean way of each flow, where it takes off, and one standard deviation of both.

    Parameters
    ----------
    flows : sequence of Flow
        From `find_flows`. Each is numbered from 1, and named in the legend.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    area : Area
        What the map shows.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes_or_new(ax, map_size(len(flows), area))
    ax.set_aspect(_stretch(area))
    ax.set_xlim(area.west, area.east)
    ax.set_ylim(area.south, area.north)
    _draw_outline(ax)
    taken: list[tuple[float, float]] = []
    for number, flow in enumerate(flows, start=1):
        _draw_flow(ax, flow)
        _draw_number(ax, flow, number, area, taken)
    for airport in _airports_to_name(flows, area, taken):
        _draw_airport(ax, airport)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title("Mean ways of the largest flows, colored by where they take off")
    handles = [
        Line2D(
            [], [], color=color_of(flow), lw=2.2, label=f"{n}  {flow.name}  ({flow.n_flights:,})"
        )
        for n, flow in enumerate(flows, start=1)
    ]
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.01),
        ncols=_LEGEND_COLUMNS,
        frameon=False,
        fontsize=8.5,
        handlelength=1.4,
    )
    return ax


def map_size(n_flows: int, area: Area = USA) -> tuple[float, float]:
    """Width and height in inches of a figure that the map fills, its title and legend included."""
    height = _MAP_WIDTH * (area.north - area.south) / (area.east - area.west) * _stretch(area)
    n_lines = -(-n_flows // _LEGEND_COLUMNS)
    return _MAP_WIDTH, height + _TITLE_HEIGHT + _LINE_HEIGHT * n_lines


def color_of(flow: Flow) -> str:
    """Return the color of the region where a flow takes off."""
    return REGION_COLORS.get(flow.region, REGION_COLORS[ELSEWHERE])


def beside(way: FloatArray, degrees: float) -> FloatArray:
    """Move a way to the right of its direction, by so many degrees."""
    step = np.gradient(way, axis=0)
    step[:, 1] *= np.cos(np.radians(way[:, 0]))
    step /= np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-12)
    right = np.stack([-step[:, 1], step[:, 0] / np.cos(np.radians(way[:, 0]))], axis=1)
    return np.asarray(way + degrees * right)


def _stretch(area: Area) -> float:
    """How much longer a degree of latitude is than one of longitude, in the middle of the map."""
    return float(1 / np.cos(np.radians((area.south + area.north) / 2)))


def _draw_outline(ax: Axes) -> None:
    outline = usa_outline()
    for kind, color, width in ((STATE, "#E4E4E4", 0.6), (COAST, "#9A9A9A", 0.9)):
        ax.add_collection(LineCollection(outline[kind], colors=color, linewidths=width, zorder=1))


def _draw_flow(ax: Axes, flow: Flow) -> None:
    color = color_of(flow)
    way = beside(flow.way, _SIDE_DEGREES)
    spread = np.hypot(flow.deviations[:, 0], flow.deviations[:, 1]) / np.sqrt(2)
    edges = [beside(flow.way, _SIDE_DEGREES + sign * spread[:, None]) for sign in (1, -1)]
    band = np.concatenate([edges[0], edges[1][::-1]])[:, ::-1]
    ax.add_patch(Polygon(band, color=color, alpha=0.10, lw=0, zorder=2))
    ax.plot(way[:, 1], way[:, 0], color=color, lw=1.8, zorder=4)
    tip, before = way[-1], way[-4]
    ax.annotate(
        "",
        xy=(tip[1], tip[0]),
        xytext=(before[1], before[0]),
        arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.8, "mutation_scale": 13},
        zorder=5,
    )
    start = flow.way[0]
    ax.add_patch(_one_sigma(start, flow.takeoff_covariance, color))
    ax.plot(start[1], start[0], "o", color=color, ms=5.5, mec="white", mew=0.7, zorder=6)


def _one_sigma(place: FloatArray, covariance: FloatArray, color: str) -> Ellipse:
    values, vectors = np.linalg.eigh(covariance)
    height, width = 2 * np.sqrt(np.maximum(values, 0))
    angle = float(np.degrees(np.arctan2(vectors[0, 1], vectors[1, 1])))
    return Ellipse(
        (float(place[1]), float(place[0])),
        float(width),
        float(height),
        angle=angle,
        facecolor=color,
        edgecolor=color,
        alpha=0.35,
        zorder=3,
    )


def _draw_number(
    ax: Axes, flow: Flow, number: int, area: Area, taken: list[tuple[float, float]]
) -> None:
    """Put the number on the way where it hides no other."""
    way = beside(flow.way, _SIDE_DEGREES)
    apart = _NUMBER_APART * (area.east - area.west)
    spots = [tuple(way[round(share * (len(way) - 1))][::-1].tolist()) for share in _NUMBER_AT]

    def room(spot: tuple[float, float]) -> float:
        return min((np.hypot(spot[0] - x, spot[1] - y) for x, y in taken), default=np.inf)

    free = [spot for spot in spots if room(spot) >= apart]
    spot = free[0] if free else max(spots, key=room)
    taken.append(spot)
    ax.annotate(
        str(number),
        spot,
        ha="center",
        va="center",
        fontsize=8,
        fontweight="bold",
        color="white",
        bbox={"boxstyle": "circle,pad=0.22", "fc": color_of(flow), "ec": "white", "lw": 0.8},
        zorder=8,
    )


def _airports_to_name(
    flows: Sequence[Flow], area: Area, numbers: Sequence[tuple[float, float]]
) -> list[Airport]:
    """Airports at the ends of flows first, then large ones, none too near to another.

    The others are left out where their name would cover the number of a flow.
    """
    ends = np.array([flow.way[end] for flow in flows for end in (0, -1)]).reshape(-1, 2)
    at_ends: list[Airport] = []
    others: list[Airport] = []
    for airport in airports():
        place = np.array([airport.latitude, airport.longitude])
        is_end = len(ends) and np.abs(ends - place).max(axis=1).min() < _NAMED_WITHIN_DEGREES
        if is_end:
            at_ends.append(airport)
        elif not any(_is_covered(number, airport) for number in numbers):
            others.append(airport)
    named: list[Airport] = []
    for airport in [*at_ends, *others]:
        is_clear = all(
            max(abs(airport.latitude - a.latitude), abs(airport.longitude - a.longitude))
            >= _AIRPORTS_APART_DEGREES
            for a in named
        )
        if is_clear and area.contains(airport.latitude, airport.longitude):
            named.append(airport)
    return named[:_MAX_AIRPORTS]


def _is_covered(number: tuple[float, float], airport: Airport) -> bool:
    east, north = number[0] - airport.longitude, number[1] - airport.latitude
    return -_NAME_REACH[0] < east < _NAME_REACH[1] and -_NAME_REACH[0] < north < _NAME_REACH[0]


def _draw_airport(ax: Axes, airport: Airport) -> None:
    ax.plot(airport.longitude, airport.latitude, "s", color="#333333", ms=2.4, zorder=7)
    ax.annotate(
        airport.code,
        (airport.longitude, airport.latitude),
        xytext=(4, 4),
        textcoords="offset points",
        fontsize=7.5,
        color="#333333",
        path_effects=[withStroke(linewidth=2.2, foreground="white")],
        zorder=9,
    )
