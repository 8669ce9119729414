"""AssignLabels over a cluster: proposers to the client, what they changed to the workers.

Rows whose cheapest choice is an active cluster cannot change what there is to choose from, unless
a cluster empties. So only the others, the proposers, come here, are replayed in the order of their
turns, and the list of what they opened and revived goes back; each worker then labels its rows.
A cluster that empties on the way is a barrier: labels up to there stand, the rest is done again.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynmeans.algorithm.assign_labels import RevivalCosts, revival_costs
from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.messages import (
    Labeling,
    Moves,
    OrderRun,
    Proposals,
    Reply,
    Request,
)
from dynmeans.engine.dask.pass_log import ClusterTable, PassLog, SlotChanges
from dynmeans.engine.dask.turns import are_before, to_turn
from dynmeans.engine.dask.workers import Workers
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

_FIRST_ROWS = 512  # Looked at in the first round, in which every row may propose.
_MAX_GROWTH = 8
_WELCOME = 1024  # Proposers that a round is meant to have, at most.
_MAX_BYTES, _MIN_PROPOSERS = 2**23, 16  # Of all proposers in a round; of one piece's.


@dataclass(frozen=True)
class Remembered:
    """C_t as the arriving batch sees it, and what it costs to revive its clusters."""

    state: ClusterState
    penalties: Penalties

    @cached_property
    def gamma(self) -> FloatArray:
        """The confidence left in each cluster."""
        return prior_weights(self.state, self.penalties)

    @cached_property
    def costs(self) -> RevivalCosts:
        """Offset and scale of reviving each cluster."""
        return revival_costs(self.state, self.penalties)

    @property
    def arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, bool]:
        """As the compiled module takes it."""
        costs, is_on_sphere = self.costs, self.penalties.is_on_sphere
        return self.state.centers, self.gamma, costs.offsets, costs.scales, is_on_sphere

    def asleep(self, slots: IntArray) -> ClusterTable:
        """Some of the clusters, waiting to be revived."""
        offsets, scales = self.costs.offsets[slots], self.costs.scales[slots]
        is_active = np.zeros(len(slots), dtype=np.uint8)
        return ClusterTable(self.state.centers[slots], offsets, scales, is_active)


@dataclass(frozen=True, slots=True)
class PassRequests:
    """What all requests of one pass have in common."""

    workers: Workers
    n_rows: int
    remembered: Remembered
    before: Labeling
    kept_runs: tuple[str, ...]

    @classmethod
    def of(
        cls,
        workers: Workers,
        n_rows: int,
        remembered: Remembered,
        run: OrderRun,
        kept_runs: tuple[str, ...] = (),
    ) -> "PassRequests":
        """Begin a run: no row has a label."""
        before = Labeling(run, 0, None, 0, np.empty(0, dtype=np.uint8))
        return cls(workers, n_rows, remembered, before, kept_runs)

    @property
    def end(self) -> int:
        """After every turn."""
        return self.before.run.end

    def ask(
        self, log: PassLog, settle: int, propose: tuple[int, int] | None, gather: int = 0
    ) -> list[Reply]:
        """Ask for labels that are final before a turn, and for proposers of a range of turns."""
        n_bytes = 8 * max(1, log.table.centers.shape[1]) * self.workers.n_pieces
        limit = max(_MIN_PROPOSERS, _MAX_BYTES // n_bytes)
        return self.workers.ask(
            Request(self.before, log, settle, propose, limit, gather, self.kept_runs)
        )

    def replay(self, log: PassLog, first: int, proposals: Proposals) -> SlotChanges:
        """Visit the proposers in order: who opens, revives, or joins after all?"""
        remembered = self.remembered
        return SlotChanges.new_slots(
            *compiled.replay(
                log.table_before(first).arrays,
                proposals.turns,
                proposals.rows,
                remembered.state.centers,
                remembered.gamma,
                remembered.penalties.new_penalty,
                remembered.penalties.is_on_sphere,
            )
        )


def first_pass(requests: PassRequests) -> tuple[PassLog, Moves]:
    """No row has a label, so none can leave and nothing empties.

    The ranges of turns grow: once the first rows have opened most of the clusters, few of the
    many others propose.
    """
    n_remembered = requests.remembered.state.n_clusters
    log = PassLog.start(requests.remembered.asleep(np.arange(n_remembered)))
    first, n_rows, end = 0, _FIRST_ROWS, requests.end
    while first < end:
        width = -(-n_rows * end // requests.n_rows)
        last = min(first + width, end) - 1
        proposals = _proposals(requests.ask(log, first, (first, last)))
        log = log.add(requests.replay(log, first, proposals))
        if proposals.last == last:
            n_rows *= max(1, min(_MAX_GROWTH, _WELCOME // max(1, proposals.n_unlike)))
        first = proposals.last + 1
    replies = requests.ask(log, end, None)
    return log, Moves.merge([_input_arrays(reply.settled) for reply in replies])


def later_pass(
    requests: PassRequests, log: PassLog, n_members: IntArray, replies: list[Reply]
) -> tuple[PassLog, Moves]:
    """Visit the rows again; `replies` are those to the request that looks at all of them."""
    first, end = 0, requests.end
    while True:
        proposals = _proposals(replies)
        if len(proposals.turns):
            log = log.add(requests.replay(log, first, proposals))
            first = proposals.last + 1
            replies = requests.ask(log, first, (first, end - 1) if first < end else None)
            moves = Moves.merge([_input_arrays(reply.settled) for reply in replies])
        else:
            first = end
            moves = Moves.merge([_input_arrays(reply.wished) for reply in replies])
        known, (log, first) = log, _let_clusters_empty(requests, log, n_members, moves, first)
        if first == end:
            return log, moves
        if log is not known:  # The rows beyond were shown a cluster that is gone.
            replies = requests.ask(log, first, (first, end - 1))


def _let_clusters_empty(
    requests: PassRequests, log: PassLog, n_members: IntArray, moves: Moves, end: int
) -> tuple[PassLog, int]:
    """Find the clusters that all their points left before any other joined.

    The last to leave decides when. Only clusters of the last pass can empty: a row that joined in
    this pass stays to its end. A new cluster that empties changes no one's choice if no one
    joins it later. Otherwise labels stand only up to there: returns the turn they stand before.
    """
    n, known = len(n_members), set(log.changes.slots[log.changes.is_active == 0].tolist())
    has_left = (n_members > 0) & (moves.n_left[:n] == n_members)
    joined_late = (moves.n_joined[:n] == 0) | are_before(moves.last_leave, moves.first_join)[:n]
    emptied = [k for k in np.flatnonzero(has_left & joined_late).tolist() if k not in known]
    for k in sorted(emptied, key=lambda k: to_turn(moves.last_leave[k])):
        turn, is_new = to_turn(moves.last_leave[k]), k >= requests.remembered.state.n_clusters
        if is_new and moves.n_joined[k] == 0:
            log = log.add_emptied(turn, k, asleep=None)
            continue
        asleep = None if is_new else requests.remembered.asleep(np.array([k]))
        return log.until(turn + 1).add_emptied(turn, k, asleep), turn + 1
    return log, end


def _proposals(replies: list[Reply]) -> Proposals:
    return Proposals.merge([reply.proposals for reply in replies if reply.proposals is not None])


def _input_arrays(moves: Moves | None) -> Moves:
    assert moves is not None, "the request asked for it"
    return moves
