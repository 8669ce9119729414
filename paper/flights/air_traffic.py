"""A week of simulated air traffic over the USA, with the true flow of every flight.

The paper's messages of March 2013 are not public. This makes as many flights between real
airports, on great circles that the wind bends, in the banks of hubs and with quiet nights, and
messages from them as a receiver would have them: with noise, gaps and errors.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dynmeans.inputs.numbers import check_number
from dynmeans.records.arrays import FloatArray, IntArray
from paper.flights.airports import airports
from paper.flights.flight_paths import FlightPaths, unit_vectors
from paper.flights.globe import distance_km
from paper.flights.received_messages import ReceivedMessages, receive_messages

N_FLIGHTS = 17_895  # of the paper
WEEK_BEGIN, WEEK_END = 1_363_915_800.0, 1_364_472_000.0  # 22 March 2013, 1:30, to 28 March, 12:00

_SHORTEST_KM, _LONGEST_KM = 450.0, 4600.0
_EVENNESS = 0.7  # 1 leaves most flights to a few large airports
_BANKS = np.array([6.5, 8.5, 11.0, 13.5, 16.0, 18.5, 20.5])  # local hours
_BANK_HOURS = 0.3  # standard deviation
_SHARE_IN_BANKS = 0.7
_LAST_HOUR, _RED_EYE_HOUR = 22.0, 22.8
_RED_EYE_SHARE = 0.15  # of long flights to the East
_QUIET_SATURDAY = 0.8
_SATURDAY = 2  # days after a Thursday, the first of January 1970
_CRUISE_KNOTS, _WIND_KNOTS = 450.0, 55.0
# Sideways, in units of the distance: the airway of a flow, the wind of a day, one pilot.
_AIRWAY, _WIND, _PILOT = 0.025, 0.02, 0.008


@dataclass(frozen=True, slots=True, eq=False)
class AirTraffic:
    """Flights with their true flows, and the messages received from them.

    Attributes
    ----------
    flight_ids : list of str
    flows : list of str
        Names of the flows, as "ATL-ORD"; `labels` are places in this list.
    labels : IntArray of shape (n_flights,)
        Flow of each flight; -1 for those that are broken on purpose.
    confidences : FloatArray of shape (n_flights,)
        How typical the flight is of its flow, from 0 to 1: the weight of its label.
    takeoff_times : FloatArray of shape (n_flights,)
        Seconds since 1970 (UTC).
    messages : ReceivedMessages
    """

    flight_ids: list[str]
    flows: list[str]
    labels: IntArray
    confidences: FloatArray
    takeoff_times: FloatArray
    messages: ReceivedMessages = field(repr=False)

    def save(self, folder: str | Path) -> tuple[Path, Path]:
        """Write messages.parquet and flights.parquet; return their paths."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        messages, flights = folder / "messages.parquet", folder / "flights.parquet"
        pq.write_table(self.messages.to_table(self.flight_ids), messages)
        names = [self.flows[label] if label >= 0 else None for label in self.labels.tolist()]
        columns = {
            "flight": self.flight_ids,
            "flow": pa.array(names, type=pa.string()),
            "confidence": self.confidences,
            "takeoff": self.takeoff_times,
        }
        pq.write_table(pa.table(columns), flights)
        return messages, flights


def air_traffic(
    n_flights: int = N_FLIGHTS,
    *,
    rng: np.random.Generator,
    n_flows: int = 100,
    broken_share: float = 0.05,
    seconds_between: float = 60.0,
) -> AirTraffic:
    """Simulate the paper's week.

    Parameters
    ----------
    n_flights : int
        Flights that a careful filter keeps.
    rng : numpy.random.Generator
        Source of all randomness.
    n_flows : int
        Pairs of airports that are flown, each way counted; the busiest ones.
    broken_share : float
        Further flights, as a share of `n_flights`, whose messages a careful filter rejects: with
        a long hole, only a few messages, a jump, or a way out of the area.
    seconds_between : float
        Mean time between two messages of a flight.

    Examples
    --------
    >>> traffic = air_traffic(200, rng=np.random.default_rng(0))
    >>> len(traffic.flight_ids), traffic.flows[0]
    (210, 'ORD-ATL')
    """
    for name, count in (("n_flights", n_flights), ("n_flows", n_flows)):
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise ValueError(f"{name} must be an integer of at least 1, got {count!r}.")
    broken_share = check_number("broken_share", broken_share, at_least=0)
    seconds_between = check_number("seconds_between", seconds_between, above=0)
    pairs, popularity = _busiest_pairs(n_flows)
    n_all = n_flights + round(broken_share * n_flights)
    labels = rng.choice(len(pairs), size=n_all, p=popularity)
    is_broken = np.arange(n_all) >= n_flights
    takeoffs = _takeoff_times(pairs[labels], rng)
    paths, deviations = _bent_paths(pairs, labels, takeoffs, rng)
    messages = receive_messages(paths, takeoffs, is_broken, seconds_between, rng)
    codes = [airport.code for airport in airports()]
    return AirTraffic(
        [f"F{number:06d}" for number in range(n_all)],
        [f"{codes[i]}-{codes[j]}" for i, j in pairs.tolist()],
        np.where(is_broken, -1, labels),
        np.where(is_broken, 0.0, np.exp(-0.5 * (deviations / 1.5) ** 2)),
        takeoffs,
        messages,
    )


def _busiest_pairs(n_flows: int) -> tuple[IntArray, FloatArray]:
    """Pairs of airports by the product of their traffic, fewer the farther apart; both ways."""
    table = airports()
    latitude = np.array([a.latitude for a in table])
    longitude = np.array([a.longitude for a in table])
    traffic = np.array([a.traffic for a in table])
    first, second = np.triu_indices(len(table), 1)
    km = distance_km(latitude[first], longitude[first], latitude[second], longitude[second])
    weight = (traffic[first] * traffic[second]) ** _EVENNESS / np.maximum(km, 1000.0)
    weight[(km < _SHORTEST_KM) | (km > _LONGEST_KM)] = 0.0
    n_pairs = min(-(-n_flows // 2), np.count_nonzero(weight))
    busiest = np.argsort(-weight, kind="stable")[:n_pairs]
    there = np.stack([first[busiest], second[busiest]], axis=1)
    pairs = np.stack([there[:, ::-1], there], axis=1).reshape(-1, 2)[:n_flows]
    shares = np.repeat(weight[busiest], 2)[: len(pairs)]
    return pairs, shares / shares.sum()


def _takeoff_times(pairs: IntArray, rng: np.random.Generator) -> FloatArray:
    """Draw times in the week: in banks by day, few at night, fewer on Saturday."""
    table = airports()
    offsets = np.array([a.utc_offset for a in table])[pairs[:, 0]]
    eastward = np.array([a.longitude for a in table])[pairs]
    is_far_east = eastward[:, 1] - eastward[:, 0] > 25
    days = np.arange(WEEK_BEGIN // 86400 - 1, WEEK_END // 86400 + 2)
    busy = np.where(days % 7 == _SATURDAY, _QUIET_SATURDAY, 1.0)
    times = np.empty(len(pairs))
    left = np.arange(len(pairs))
    while left.size:
        n = len(left)
        bank = rng.choice(_BANKS, size=n) + rng.normal(0, _BANK_HOURS, size=n)
        spread = rng.uniform(_BANKS[0] - 0.5, _LAST_HOUR, size=n)
        hours = np.where(rng.random(n) < _SHARE_IN_BANKS, bank, spread)
        is_late = is_far_east[left] & (rng.random(n) < _RED_EYE_SHARE)
        hours = np.where(is_late, _RED_EYE_HOUR + rng.normal(0, 0.4, size=n), hours)
        day = rng.choice(days, size=n, p=busy / busy.sum())
        times[left] = day * 86400 + (hours - offsets[left]) * 3600
        left = left[(times[left] < WEEK_BEGIN) | (times[left] >= WEEK_END)]
    return times


def _bent_paths(
    pairs: IntArray, labels: IntArray, takeoffs: FloatArray, rng: np.random.Generator
) -> tuple[FlightPaths, FloatArray]:
    """Ways of all flights, and how far each pilot is from the usual one, in deviations."""
    table = airports()
    places = unit_vectors(
        np.array([a.latitude for a in table]), np.array([a.longitude for a in table])
    )
    origins, destinations = places[pairs[labels, 0]], places[pairs[labels, 1]]
    airway = rng.normal(0, _AIRWAY, size=len(pairs))
    day = (takeoffs // 86400 - takeoffs.min() // 86400).astype(np.int64)
    # The jet stream moves North and South from day to day; flights follow or avoid it alike.
    jet = np.cumsum(rng.normal(0, 0.7, size=day.max() + 1))
    follows = rng.normal(0, 1, size=len(pairs))
    pilot = rng.normal(0, 1, size=len(labels))
    aside = airway[labels] + _WIND * follows[labels] * np.tanh(jet[day]) + _PILOT * pilot
    east = np.sum(np.cross(origins, destinations)[:, 2:], axis=1)
    wind = _WIND_KNOTS * (1 + 0.3 * np.tanh(jet[day])) * np.clip(2 * east, -1, 1)
    cruise = _CRUISE_KNOTS + wind + rng.normal(0, 10, size=len(labels))
    still = FlightPaths(origins, destinations, cruise, np.zeros(1), np.zeros(1))
    waves = rng.normal(0, _PILOT, size=len(labels))
    lengths = still.lengths
    paths = FlightPaths(origins, destinations, cruise, aside * lengths, waves * lengths)
    return paths, pilot
