"""Chains of Gibbs sampling through whole streams: a GPU samples, processes choose and remember.

What is drawn is what `dynmeans.DDPMixture` draws from the same seed, up to the last bit of exp and
log. Chains of one size advance together: their kernel draws all samples of a batch, their processes
choose one of them for each chain and answer with what the next batch is drawn from. Processes are
forked before CuPy is loaded.
"""

import mmap
import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from dynmeans.mixture.carried_sample import choose_sample, identities, remember
from dynmeans.mixture.model import batch_prior, center_posteriors
from dynmeans.records.mixture import MixtureParameters, MixtureState
from paper.handicap import ClosestToTruth
from paper.synthetic.config import THIN, SyntheticConfig
from paper.synthetic.streams import (
    PRIOR_MEAN,
    PRIOR_VARIANCE,
    score_labels,
    stream_of,
)
from paper.synthetic.tasks import COMPARISON, HANDICAP, HONEST

WARP = 32
WIDTHS = (1, 2, 3, 4, 6, 8, 16)  # slots of a lane
FORK = multiprocessing.get_context("fork")
SMALL = 5  # clusters; chains of so few advance together whatever their settings

Row = dict[str, Any]


class Chain:
    """One stream through one setting."""

    def __init__(self, config: SyntheticConfig, task: Row) -> None:
        self.config, self.task = config, task
        self.stream = stream_of(
            config, int(task["part"] != COMPARISON), task["n_clusters"], task["trial"]
        )
        self.parameters = MixtureParameters(
            concentration=task["concentration"],
            survival=task["survival"],
            noise_variance=config.noise_variance,
            motion_variance=task["motion_variance"],
            prior_mean=PRIOR_MEAN,
            prior_variance=PRIOR_VARIANCE,
        )
        closest = ClosestToTruth(self.stream.labels, is_tracking=task["choice"] == HANDICAP)
        self.carried_sample = "best" if task["choice"] == HONEST else closest
        self.labels: list[np.ndarray] = []
        self.state = MixtureState.empty(2)

    def next_batch(self) -> tuple[Any, ...]:
        """Return what the kernel needs: points, old clusters, weight of a new one, noise, seed."""
        prior = batch_prior(self.state, self.parameters)
        sequence = np.random.SeedSequence(self.task["entropy"], spawn_key=(self.state.n_steps,))
        seed = sequence.generate_state(1, dtype=np.uint64)[0]
        old = (prior.log_weights, prior.past_counts, prior.means, prior.variances)
        points = self.stream.batches[self.state.n_steps]
        return points, old, prior.log_new_weight, prior.noise_variance, seed

    def take(self, samples: np.ndarray, log_posteriors: np.ndarray) -> None:
        """Choose one of the samples and remember it."""
        points = self.stream.batches[self.state.n_steps]
        prior = batch_prior(self.state, self.parameters)
        labels = samples.astype(np.int64)
        chosen = choose_sample(self.carried_sample, identities(labels, self.state), log_posteriors)
        seen = center_posteriors(points, labels[chosen], prior)
        costs = -log_posteriors[[chosen]]
        self.state, clustering = remember(
            self.state, labels[chosen], seen, self.parameters, 1.0, costs
        )
        self.labels.append(clustering.labels)

    def row(self) -> Row:
        """Return the row of the results, without a time."""
        key = {name: value for name, value in self.task.items() if name != "entropy"}
        scores = score_labels(self.stream, self.labels)
        return {**key, **scores, "cpu_s": None, "noise": self.config.noise}


def follow(
    conn: Connection, chains: dict[int, tuple[SyntheticConfig, Row]], samples: np.ndarray | None
) -> None:
    """Process: take some chains of a group through their streams."""
    mine = {c: Chain(*given) for c, given in chains.items()}
    n_steps = next(iter(mine.values())).config.n_steps
    conn.send({c: chain.next_batch() for c, chain in mine.items()})
    for step in range(n_steps):
        for c, (log_posteriors, best) in conn.recv().items():
            if samples is None:
                mine[c].take(best[None], log_posteriors.max(keepdims=True))
            else:
                mine[c].take(samples[c], log_posteriors)
        is_last = step == n_steps - 1
        conn.send({c: x.row() if is_last else x.next_batch() for c, x in mine.items()})


class Group:
    """Chains of the same number of points, sweeps and choice, advanced together."""

    def __init__(self, tasks: list[tuple[SyntheticConfig, Row]]) -> None:
        self.config, first = tasks[0]
        self.name = f"{first['n_clusters']} clusters, {first['effort']} sweeps, {first['choice']}"
        self.n_clusters = first["n_clusters"]
        n_points = self.n_clusters * self.config.points_per_cluster
        self.shape = (len(tasks), first["effort"] // THIN, n_points)
        self.is_honest = first["choice"] == HONEST
        self.samples = None if self.is_honest else shared_array(self.shape)
        self.step = self.n_heard = 0
        self.answers: list[Any] = [None] * len(tasks)
        self.owned: dict[Connection, range] = {}
        n_processes = min(len(tasks), 2 if self.is_honest or self.n_clusters < 20 else 5)
        for p in range(n_processes):
            ours, theirs = FORK.Pipe()
            owned = range(p, len(tasks), n_processes)
            chains = {c: tasks[c] for c in owned}
            FORK.Process(target=follow, args=(theirs, chains, self.samples), daemon=True).start()
            self.owned[ours] = owned

    def prepare(self, cp: Any, kernels: dict[int, Any]) -> None:
        """Take memory on the GPU, and let it write to ours."""
        self.cp, self.kernels = cp, kernels
        self.stream, self.event = cp.cuda.Stream(non_blocking=True), cp.cuda.Event()
        b, n_samples, n_points = self.shape
        self.drawn = cp.empty(self.shape, cp.uint16)
        self.log_posteriors = pinned(cp, (b, n_samples), np.float64)
        self.best = pinned(cp, (b, n_points), np.uint16)
        self.is_full = pinned(cp, (b,), np.int32)
        if self.samples is not None:
            cp.cuda.runtime.hostRegister(self.samples.ctypes.data, self.samples.nbytes, 0)

    def hear(self, conn: Connection) -> bool:
        """Take an answer; say whether it was the last of this batch."""
        for c, answer in conn.recv().items():
            self.answers[c] = answer
            self.n_heard += 1
        return self.n_heard == len(self.answers)

    def launch(self, at_least: int = 0) -> None:
        """Sample the batch with as many slots as it may need, or more than `at_least`."""
        self.n_heard = 0
        self.width = self._wide_enough(at_least)
        cp, (b, n_samples, n_points) = self.cp, self.shape
        *arrays, seeds = self._inputs()
        with self.stream:
            log_posteriors, is_full = cp.zeros((b, n_samples)), cp.zeros(b, cp.int32)
            arguments = (
                *(cp.asarray(a) for a in arrays),
                *(np.float64(PRIOR_MEAN), np.float64(PRIOR_VARIANCE)),
                cp.asarray(seeds),
                *(np.int32(n_points), np.int32(n_samples), np.int32(THIN)),
                *(self.drawn, log_posteriors, is_full),
            )
            memory = n_points * 10 + 2 * self.width * WARP
            self.kernels[self.width]((b,), (WARP,), arguments, shared_mem=memory)
            if self.samples is None:
                best = self.drawn[cp.arange(b), log_posteriors.argmax(axis=1)]
                best.get(out=self.best, blocking=False)
            else:
                self.drawn.get(out=self.samples, blocking=False)
            log_posteriors.get(out=self.log_posteriors, blocking=False)
            is_full.get(out=self.is_full, blocking=False)
            self.event.record()

    def _wide_enough(self, at_least: int) -> int:
        """Return slots of a lane for the old clusters and about as many new ones as may open."""
        n_old = max(len(old[0]) for _, old, *_ in self.answers)
        n_new = max(12, int(self.n_clusters * (0.3 if self.step else 1.3)))
        wide_enough = [w for w in WIDTHS if w * WARP >= n_old + n_new and w > at_least]
        if not wide_enough:
            raise RuntimeError(f"{self.name}: {n_old} old clusters and the new need more slots.")
        return wide_enough[0]

    def _inputs(self) -> list[np.ndarray]:
        """Return what the kernel reads, one entry for each chain, padded to all slots."""
        points, old, log_new, noise, seeds = zip(*self.answers, strict=True)
        slots = self.width * WARP
        padded = [np.zeros((len(old), slots, *shape)) for shape in ((), (), (2,), ())]
        for c, values in enumerate(old):
            for array, given in zip(padded, values, strict=True):
                array[c, : len(given)] = given
        n_olds = np.array([len(values[0]) for values in old], np.int32)
        return [np.stack(points), n_olds, *padded, *map(np.array, (log_new, noise, seeds))]

    def tell(self) -> bool:
        """Send what was sampled to the processes, unless slots were missing: then sample again."""
        if self.is_full.any():
            self.launch(at_least=self.width)
            return False
        self.step += 1
        for conn, owned in self.owned.items():
            conn.send({c: (self.log_posteriors[c], self.best[c]) for c in owned})
        return True

    @property
    def is_done(self) -> bool:
        """Whether the answers to come are rows."""
        return self.step == self.config.n_steps


def shared_array(shape: tuple[int, ...]) -> np.ndarray:
    """Return memory that processes forked from now on see too."""
    return np.frombuffer(mmap.mmap(-1, int(np.prod(shape)) * 2), np.uint16).reshape(shape)


def pinned(cp: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return memory that the GPU writes to by itself."""
    size = int(np.prod(shape))
    memory = cp.cuda.alloc_pinned_memory(size * np.dtype(dtype).itemsize)
    return np.frombuffer(memory, dtype, size).reshape(shape)


def compile_kernels(cp: Any) -> dict[int, Any]:
    """Return the kernel by slots of a lane, all loaded: loading waits for kernels that run."""
    source = Path(__file__).with_name("sampler.cu").read_text()
    kernels = {}
    for width in WIDTHS:
        options = (f"-DJ={width}", "--fmad=false", "--std=c++17")
        kernels[width] = cp.RawModule(code=source, options=options).get_function("gibbs")
        kernels[width].compile()
    return kernels


def groups_of(tasks: list[tuple[SyntheticConfig, Row]]) -> list[Group]:
    """Put chains that can advance together into groups, and start their processes."""
    together: dict[tuple[Any, ...], list[tuple[SyntheticConfig, Row]]] = {}
    for config, task in tasks:
        setting = (task["concentration"], task["survival"], task["motion_variance"])
        is_small = task["n_clusters"] <= SMALL
        kind = (task["n_clusters"], task["effort"], task["choice"], None if is_small else setting)
        together.setdefault(kind, []).append((config, task))
    return [Group(together[kind]) for kind in sorted(together, key=lambda k: -k[0] * k[1])]


def run_groups(groups: list[Group], until: float) -> Iterator[list[Row]]:
    """Advance all groups side by side until that time; yield the rows of each that ends."""
    import cupy as cp  # noqa: PLC0415 - after the processes of the groups were forked

    kernels = compile_kernels(cp)
    for group in groups:
        group.prepare(cp, kernels)
    of_conn = {conn: group for group in groups for conn in group.owned}
    sampling: list[Group] = []
    started = time.monotonic()
    while of_conn and time.monotonic() < until:
        for conn in wait(list(of_conn), timeout=0.001):
            group = of_conn[conn]
            is_complete = group.hear(conn)
            if group.is_done:
                del of_conn[conn]
                if is_complete:
                    yield group.answers
            elif is_complete:
                group.launch()
                sampling.append(group)
        for group in [g for g in sampling if g.event.done]:
            if group.tell():
                sampling.remove(group)
                if group.step % 20 == 0 or group.step == 3:
                    seconds = time.monotonic() - started
                    print(
                        f"{seconds:6.0f} s: {group.name}: {group.step} (J={group.width})",
                        flush=True,
                    )
