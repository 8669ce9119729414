"""What a state says of points, by any backend."""

from dynmeans.engine.batch import take_rows


def predict_labels(points, state, penalties, execution, elapsed=0.0):
    """Return the identity and the cost of each point."""
    return take_rows(points, state.n_features).predict(state, penalties, execution, elapsed)
