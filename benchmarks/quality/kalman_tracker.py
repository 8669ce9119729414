"""What a tracking engineer would write: clusters of a batch, Kalman filters, Hungarian matching."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dynmeans import DPMeans
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass
class Track:
    """One filter of constant velocity; all axes share a covariance."""

    id: int
    state: FloatArray  # places, then velocities: shape (2, n_features)
    covariance: FloatArray
    n_missed: int = 0


def track_batches(
    batches: list[FloatArray], new_penalty: float, max_gap: float, acceleration: float = 0.05
) -> list[IntArray]:
    """Cluster each batch with DP-means, match its clusters to the tracks, update the filters."""
    noise, gate = new_penalty / 16, new_penalty
    tracks: list[Track] = []
    labels, next_id = [], 0
    for points in batches:
        _let_time_pass(tracks, acceleration * noise)
        if not len(points):
            labels.append(np.empty(0, dtype=np.int64))
            continue
        model = DPMeans(new_penalty, random_state=0).fit(points)
        centers = model.cluster_centers_
        counts = np.bincount(model.labels_, minlength=len(centers))
        ids = np.full(len(centers), -1)
        for row, k in _matches(tracks, centers, gate):
            ids[k] = tracks[row].id
            _update(tracks[row], centers[k], noise / counts[k])
        for k in np.flatnonzero(ids < 0):
            state = np.vstack([centers[k], np.zeros(centers.shape[1])])
            tracks.append(Track(next_id, state, np.diag([noise / counts[k], noise])))
            ids[k] = next_id
            next_id += 1
        tracks = [track for track in tracks if track.n_missed <= max_gap]
        labels.append(ids[model.labels_])
    return labels


def _let_time_pass(tracks: list[Track], q: float) -> None:
    move = np.array([[1.0, 1.0], [0.0, 1.0]])
    for track in tracks:
        track.state = move @ track.state
        track.covariance = move @ track.covariance @ move.T + q * np.array([[1 / 3, 0.5], [0.5, 1]])
        track.n_missed += 1


def _matches(tracks: list[Track], centers: FloatArray, gate: float) -> list[tuple[int, int]]:
    if not tracks:
        return []
    squares = cdist([track.state[0] for track in tracks], centers, "sqeuclidean")
    reach = gate + np.array([9 * track.covariance[0, 0] for track in tracks])[:, None]
    pairs = zip(*linear_sum_assignment(np.minimum(squares, 10 * reach)), strict=True)
    return [(int(i), int(j)) for i, j in pairs if squares[i, j] <= reach[i, 0]]


def _update(track: Track, center: FloatArray, noise: float) -> None:
    gain = track.covariance[:, 0] / (track.covariance[0, 0] + noise)
    track.state = track.state + np.outer(gain, center - track.state[0])
    track.covariance = track.covariance - np.outer(gain, track.covariance[0])
    track.n_missed = 0
