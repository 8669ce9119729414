"""The synthetic experiment in its smallest form: every part of it, in a second or two."""

from paper.synthetic.config import SyntheticConfig


def tiny_config(**changes):
    """Every part of the experiment, on streams of four steps."""
    config = {
        "n_steps": 4,
        "new_penalties": (0.03, 0.06),
        "max_gaps": (2.5, 6.8),
        "reaches": (1.01, 1.5),
        "concentrations": (1.0,),
        "survivals": (0.05,),
        "motion_variances": (0.0025, 0.05),
        "search_clusters": 3,
        "search_streams": (1, 2),
        "search_kept": (1.0, 0.5),
        "search_sweeps": (10, 20),
        "n_clusters": (2, 3),
        "n_trials": {
            "dynamic_means": (3, 3),
            "gibbs": (1, 0),
            "variational": (2, 2),
            "particle": (2, 2),
        },
        "restarts": (1, 3),
        "sweeps": (10, 20),
        "tradeoff_trials": 2,
    }
    return SyntheticConfig(**(config | changes))
