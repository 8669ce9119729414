"""Eq. 4: the mixture that becomes Dynamic Means as its noise goes to 0."""

import math

import numpy.typing as npt

from dynmeans.inputs.numbers import check_number
from dynmeans.records.mixture import MixtureParameters
from dynmeans.records.penalties import Penalties


def low_variance_mixture(
    penalties: Penalties,
    noise_variance: float,
    n_features: int,
    *,
    prior_mean: npt.ArrayLike = 0.0,
    prior_variance: float = 1.0,
) -> MixtureParameters:
    """Return alpha, xi and q tied to sigma by lambda, tau and Q (Eq. 4), in logarithms.

        alpha = (1 + rho / sigma)^(d/2) exp(-lambda / (2 sigma)),  xi = tau sigma,
        q = exp(-Q / (2 sigma))

    Examples
    --------
    >>> from dynmeans import Penalties
    >>> tied = low_variance_mixture(Penalties(0.04, max_gap=6.8, reach=1.01), 2e-5, 2)
    >>> round(tied.log_concentration, 2), tied.concentration  # exp(-989) is not a double
    (-989.18, 0.0)
    """
    sigma = check_number("noise_variance", noise_variance, above=0)
    rho = check_number("prior_variance", prior_variance, above=0)
    return MixtureParameters(
        log_concentration=n_features / 2 * math.log1p(rho / sigma)
        - penalties.new_penalty / (2 * sigma),
        log_survival=-penalties.revival_penalty / (2 * sigma),
        noise_variance=sigma,
        motion_variance=penalties.drift * sigma,
        prior_mean=prior_mean,
        prior_variance=rho,
    )
