"""Chains of Gibbs sampling through whole streams: a kernel samples, processes choose and remember.

What is drawn is what `dynmeans.DDPMixture` draws from the same seed, up to rounding in exp and log.
"""

import multiprocessing
import queue
import threading
import time
import traceback
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np

from dynmeans.experiments.handicap import ClosestToTruth
from dynmeans.experiments.synthetic.config import SyntheticConfig
from dynmeans.experiments.synthetic.streams import (
    PRIOR_MEAN,
    PRIOR_VARIANCE,
    score_labels,
    stream_of,
)
from dynmeans.mixture.carried_sample import choose_sample, identities, remember
from dynmeans.mixture.model import batch_prior, center_posteriors
from dynmeans.records.mixture import MixtureParameters, MixtureState

WARP = 32
WIDTHS = (1, 2, 3, 4, 6, 8, 16, 64)  # slots of a lane
FORK = multiprocessing.get_context("fork")


@dataclass
class Chain:
    """One stream through one setting."""

    config: SyntheticConfig
    task: dict
    labels: list = field(default_factory=list)
    state: MixtureState = field(default_factory=lambda: MixtureState.empty(2))

    def __post_init__(self):
        """Make the stream, and what ranks the samples."""
        task = self.task
        is_search = int(task["part"] == "search")
        self.stream = stream_of(self.config, is_search, task["n_clusters"], task["trial"])
        self.parameters = MixtureParameters(
            concentration=task["concentration"],
            survival=task["survival"],
            noise_variance=self.config.noise_variance,
            motion_variance=task["motion_variance"],
            prior_mean=PRIOR_MEAN,
            prior_variance=PRIOR_VARIANCE,
        )
        is_tracking = task["choice"] == "handicap"
        is_honest = task["choice"] == "honest"
        truth = ClosestToTruth(self.stream.labels, is_tracking=is_tracking)
        self.carry = "best" if is_honest else truth

    def prior(self):
        """Return what the kernel needs for the next batch."""
        prior = batch_prior(self.state, self.parameters)
        sequence = np.random.SeedSequence(self.task["entropy"], spawn_key=(self.state.n_steps,))
        seed = int(sequence.generate_state(1, dtype=np.uint64)[0])
        old = (prior.log_weights, prior.past_counts, prior.means, prior.variances)
        return self.stream.batches[self.state.n_steps], old, prior.log_new_weight, seed

    def take(self, labels, log_posteriors):
        """Choose one of the samples and remember it."""
        points = self.stream.batches[self.state.n_steps]
        prior = batch_prior(self.state, self.parameters)
        labels = labels.astype(np.int64)
        chosen = choose_sample(self.carry, identities(labels, self.state), log_posteriors)
        seen = center_posteriors(points, labels[chosen], prior)
        costs = -log_posteriors[[chosen]]
        self.state, clustering = remember(
            self.state, labels[chosen], seen, self.parameters, 1.0, costs
        )
        self.labels.append(clustering.labels)

    def row(self):
        """Return the row of the results."""
        key = {name: value for name, value in self.task.items() if name != "entropy"}
        scores = score_labels(self.stream, self.labels)
        return {**key, **scores, "cpu_s": None, "noise": self.config.noise}


def keep(conn):
    """Worker: own some chains of a group; answer samples with what is needed for the next batch."""
    while True:
        config, tasks, shape, path = conn.recv()
        chains = {c: Chain(config, task) for c, task in tasks.items()}
        samples = np.memmap(path, np.uint16, "r", shape=shape) if path else None
        conn.send({c: chain.prior() for c, chain in chains.items()})
        for step in range(config.n_steps):
            given = conn.recv()
            for c, chain in chains.items():
                log_posteriors, best = given[c]
                if best is not None:
                    chain.take(best[None], log_posteriors.max(keepdims=True))
                else:
                    chain.take(samples[c], log_posteriors)
            is_last = step == config.n_steps - 1
            conn.send({c: chain.row() if is_last else chain.prior() for c, chain in chains.items()})


class Workers:
    """Processes, forked before the GPU is touched, that groups take and give back."""

    def __init__(self, n):
        self.free = queue.SimpleQueue()
        self.lock = threading.Lock()  # a group takes all it wants at once
        for _ in range(n):
            ours, theirs = FORK.Pipe()
            FORK.Process(target=keep, args=(theirs,), daemon=True).start()
            self.free.put(ours)

    def take(self, n):
        """Return n of them, when there are."""
        with self.lock:
            return [self.free.get() for _ in range(n)]

    def give_back(self, workers):
        """Let others have them."""
        for worker in workers:
            self.free.put(worker)


class Group:
    """Chains of the same number of points, sweeps and choice, advanced together."""

    def __init__(self, config, tasks):
        self.config, self.tasks = config, tasks
        self.n_points = tasks[0]["n_clusters"] * config.points_per_cluster
        self.n_samples, self.is_honest = tasks[0]["effort"] // 5, tasks[0]["choice"] == "honest"
        self.shape = (len(tasks), self.n_samples, self.n_points)
        is_heavy = not self.is_honest and np.prod(self.shape) > 2e7
        self.n_workers = min(len(tasks), 6 if is_heavy else 2)

    def start(self, workers):
        """Give the workers their chains."""
        path = None if self.is_honest else f"/dev/shm/gibbs-{id(self)}"
        self.memory = np.memmap(path, np.uint16, "w+", shape=self.shape) if path else None
        self.workers, self.path = workers, path
        for w, worker in enumerate(workers):
            mine = {c: self.tasks[c] for c in range(w, len(self.tasks), len(workers))}
            worker.send((self.config, mine, self.shape, path))

    def answers(self):
        """Collect what the workers say of every chain."""
        said = {}
        for worker in self.workers:
            said |= worker.recv()
        return [said[c] for c in range(len(self.tasks))]

    def run(self, cp, kernels):
        """Take all chains through their streams; return the rows."""
        started = time.monotonic()
        stream = cp.cuda.Stream(non_blocking=True)
        samples = cp.empty(self.shape, cp.uint16)
        answers = self.answers()
        for step in range(self.config.n_steps):
            with stream:
                log_posteriors = self.sample(cp, kernels, answers, samples, step)
                best = [None] * len(self.tasks)
                if self.is_honest:
                    chosen = cp.asarray(log_posteriors.argmax(axis=1))
                    best = samples[cp.arange(len(self.tasks)), chosen].get()
                else:
                    self.memory[:] = samples.get()
            for w, worker in enumerate(self.workers):
                mine = range(w, len(self.tasks), len(self.workers))
                worker.send({c: (log_posteriors[c], best[c]) for c in mine})
            answers = self.answers()
            if step % 20 == 19:
                print(f"  {time.monotonic() - started:.0f} s: step {step + 1} of {self.shape}", flush=True)
        if self.path:
            Path(self.path).unlink()
        return answers

    def sample(self, cp, kernels, answers, samples, step):
        """Run the kernel with as many slots as are needed; return the log posteriors."""
        n_old = max(len(old[0]) for _, old, _, _ in answers)
        k = self.tasks[0]["n_clusters"]
        wanted = n_old + max(12, int(1.3 * k if step == 0 else 0.3 * k))
        for width in (w for w in WIDTHS if w * WARP >= wanted):
            log_posteriors, is_full = self.launch(cp, kernels[width], width, answers, samples)
            if not is_full.any():
                return log_posteriors
        raise RuntimeError(f"{n_old} remembered clusters and the new ones need more slots.")

    def launch(self, cp, kernel, width, answers, samples):
        """Run the kernel once."""
        b, slots = len(answers), width * WARP
        arrays = [np.zeros((b, slots)) for _ in range(2)] + [np.zeros((b, slots, 2)), np.zeros((b, slots))]
        for c, (_, old, _, _) in enumerate(answers):
            for array, values in zip(arrays, old, strict=True):
                array[c, : len(values)] = values
        points = cp.asarray(np.stack([points for points, _, _, _ in answers]))
        log_weights, past, means, variances = (cp.asarray(a) for a in arrays)
        log_posteriors = cp.zeros((b, self.n_samples))
        is_full = cp.zeros(b, cp.int32)
        kernel(
            (b,),
            (WARP,),
            (
                points,
                cp.arange(b, dtype=cp.int32),
                np.int32(self.n_points),
                cp.asarray(np.array([len(old[0]) for _, old, _, _ in answers], np.int32)),
                log_weights,
                past,
                means,
                variances,
                cp.asarray(np.array([new for _, _, new, _ in answers])),
                cp.full(b, self.config.noise_variance),
                np.float64(PRIOR_MEAN),
                np.float64(PRIOR_VARIANCE),
                cp.asarray(np.array([seed for _, _, _, seed in answers], np.uint64)),
                np.int32(self.n_samples),
                np.int32(5),
                samples,
                log_posteriors,
                is_full,
            ),
            shared_mem=self.n_points * 10 + 2 * slots,
        )
        return log_posteriors.get(), is_full.get()


class Kernels(dict):
    """The kernel by slots of a lane, compiled when it is first needed."""

    def __init__(self, cp):
        self.cp, self.lock = cp, threading.Lock()

    def __missing__(self, width):
        with self.lock:
            source = Path(__file__).with_name("sampler.cu").read_text()
            options = (f"-DJ={width}", "--fmad=false", "--std=c++17")
            kernel = self.cp.RawModule(code=source, options=options).get_function("gibbs")
            return self.setdefault(width, kernel)


class Device:
    """The GPU, its kernels and the processes beside it."""

    def __init__(self, cp, workers):
        self.cp, self.workers, self.kernels = cp, workers, Kernels(cp)

    def rows(self, config, tasks):
        """Run the tasks, groups of one size side by side; yield rows group by group."""

        def kind(task):
            is_crowded = task["concentration"] >= 10 or task["survival"] >= 0.3
            size = task["n_clusters"]
            return -size * task["effort"], size, task["choice"], is_crowded

        done = queue.SimpleQueue()
        groups = [Group(config, list(g)) for _, g in groupby(sorted(tasks, key=kind), kind)]

        def run(group):
            workers = self.workers.take(group.n_workers)
            try:
                group.start(workers)
                done.put(group.run(self.cp, self.kernels))
                self.workers.give_back(workers)
            except Exception:
                traceback.print_exc()
                done.put([])

        for group in groups:
            threading.Thread(target=run, args=(group,), daemon=True).start()
        for _ in groups:
            yield done.get()
