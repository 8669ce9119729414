"""AssignLabels over a cluster: proposers to the client, what happened to the workers.

Rows whose cheapest choice is an active cluster cannot change what there is to choose from, unless
a cluster empties. So only the others, the proposers, come here, are replayed in the order of their
keys, and the list of what they opened and revived goes back; each worker then labels its rows.
A cluster that empties on the way is a barrier: labels up to there stand, the rest is done again.
"""

from dataclasses import dataclass

import numpy as np

from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.bin_sums import SumArrays
from dynmeans.engine.dask.crew import Crew
from dynmeans.engine.dask.messages import Moves, Proposals, Reply, Request
from dynmeans.engine.dask.pass_log import Board, Events, FlagArray, PassLog
from dynmeans.engine.dask.worker import answer
from dynmeans.records.arrays import FloatArray, IntArray

_FIRST_ROWS = 512  # Looked at in the first round, in which every row may propose.
_MOST_GROWTH = 8
_WELCOME = 1024  # Proposers that a round is meant to have, at most.
_MOST_BYTES, _FEWEST_PROPOSERS = 2**23, 16  # Of all proposers in a round; of one task's.


@dataclass(frozen=True, slots=True)
class Remembered:
    """C_t as the arriving batch sees it: theta_old, gamma, and the cost of reviving."""

    centers: FloatArray
    gamma: FloatArray
    offsets: FloatArray
    scales: FloatArray

    @property
    def n_clusters(self) -> int:
        """Number of remembered clusters."""
        return len(self.gamma)

    def asleep(self, slots: IntArray) -> Board:
        """Some of the clusters, waiting to be revived."""
        return Board(
            self.centers[slots],
            self.offsets[slots],
            self.scales[slots],
            np.zeros(len(slots), dtype=np.uint8),
        )


@dataclass(frozen=True, slots=True)
class Talk:
    """What all requests of one pass have in common.

    `n_keys` is the number of possible keys: 2**64 for hashed rows, the number of rows for an
    order that the caller gave.
    """

    crew: Crew
    run: str
    seed: int
    n_keys: int
    n_rows: int
    remembered: Remembered
    new_penalty: float
    sums: SumArrays
    n_pass: int
    settled: PassLog | None
    has_moved: FlagArray
    kept_runs: tuple[str, ...]

    def request(self, log: PassLog, settle: int, propose: tuple[int, int] | None) -> Request:
        """Ask for labels that are final below a key, and for proposers of a range of keys."""
        n_bytes = 8 * max(1, log.board.centers.shape[1]) * self.crew.n_groups
        return Request(
            run=self.run,
            seed=self.seed,
            new_penalty=self.new_penalty,
            sums=self.sums,
            n_pass=self.n_pass,
            settled=self.settled,
            log=log,
            has_moved=self.has_moved,
            settle=settle,
            propose=propose,
            limit=max(_FEWEST_PROPOSERS, _MOST_BYTES // n_bytes),
            kept_runs=self.kept_runs,
        )

    def ask(self, log: PassLog, settle: int, propose: tuple[int, int] | None) -> list[Reply]:
        """Send such a request to all workers."""
        return self.crew.ask(answer, self.request(log, settle, propose))

    def replay(self, log: PassLog, first: int, proposals: Proposals) -> Events:
        """Visit the proposers in order: who opens, revives, or joins after all?"""
        return Events.opened(
            *compiled.replay(
                log.board_before(first).arrays,
                proposals.keys,
                proposals.rows,
                self.remembered.centers,
                self.remembered.gamma,
                self.new_penalty,
            )
        )


def first_pass(talk: Talk, log: PassLog) -> PassLog:
    """No row has a label, so none can leave and nothing empties.

    The ranges of keys grow: once the first rows have opened most of the clusters, few of the
    many others propose.
    """
    first, n_rows = 0, _FIRST_ROWS
    while first < talk.n_keys:
        width = -(-n_rows * talk.n_keys // max(1, talk.n_rows))
        last = min(first + width, talk.n_keys) - 1
        proposals = _proposals(talk.ask(log, first, (first, last)))
        log = log.happened(talk.replay(log, first, proposals))
        n_found = len(proposals.keys)
        if proposals.last == last:
            n_rows *= max(1, min(_MOST_GROWTH, _WELCOME // max(1, n_found)))
        first = proposals.last + 1
    return log


def later_pass(
    talk: Talk, log: PassLog, n_members: IntArray, replies: list[Reply]
) -> tuple[PassLog, Moves]:
    """Go through the rows again; `replies` are those to the request that looks at all of them."""
    first, end = 0, talk.n_keys
    while True:
        proposals = _proposals(replies)
        if len(proposals.keys):
            log = log.happened(talk.replay(log, first, proposals))
            first = proposals.last + 1
            replies = talk.ask(log, first, (first, end - 1) if first < end else None)
            moves = Moves.merged([_given(reply.settled) for reply in replies])
        else:
            first = end
            moves = Moves.merged([_given(reply.wished) for reply in replies])
        known, (log, first) = log, _let_clusters_empty(talk, log, n_members, moves, first)
        if first == end:
            return log, moves
        if log is not known:  # The rows beyond were shown a cluster that is gone.
            replies = talk.ask(log, first, (first, end - 1))


def _let_clusters_empty(
    talk: Talk, log: PassLog, n_members: IntArray, moves: Moves, end: int
) -> tuple[PassLog, int]:
    """Find the clusters that all their points left before any other joined.

    The last to leave decides when. Only clusters of the last pass can empty: whoever joined in
    this pass stays to its end. A new cluster that empties changes nobody's choice if nobody
    joins it later. Otherwise labels stand only up to there: returns the key they stand below.
    """
    n, known = len(n_members), set(log.events.slots[log.events.is_active == 0].tolist())
    has_left = (n_members > 0) & (moves.n_left[:n] == n_members)
    joined_late = (moves.n_joined[:n] == 0) | (moves.first_join[:n] > moves.last_leave[:n])
    emptied = [k for k in np.flatnonzero(has_left & joined_late).tolist() if k not in known]
    for k in sorted(emptied, key=lambda k: int(moves.last_leave[k])):
        key, is_new = int(moves.last_leave[k]), k >= talk.remembered.n_clusters
        if is_new and moves.n_joined[k] == 0:
            log = log.emptied(key, k, asleep=None)
            continue
        asleep = None if is_new else talk.remembered.asleep(np.array([k]))
        return log.until(key + 1).emptied(key, k, asleep), key + 1
    return log, end


def _proposals(replies: list[Reply]) -> Proposals:
    return Proposals.merged([reply.proposals for reply in replies if reply.proposals is not None])


def _given(moves: Moves | None) -> Moves:
    assert moves is not None, "the request asked for it"
    return moves
