"""The logarithm from additions, multiplications and divisions alone: the same on every machine."""

import numpy as np

from dynmeans.records.arrays import FloatArray

_LN2 = 0.6931471805599453
_TERMS = 12  # of the series; the last is below 1e-17


def rounded_logarithm(values: FloatArray) -> FloatArray:
    """Return ln x of numbers above 0, to about 1e-15.

    With x = m 2^e and t = (m - 1) / (m + 1) it is e ln 2 + 2 (t + t^3/3 + t^5/5 + ...).

    >>> float(rounded_logarithm(np.array([10.0]))[0].round(12))
    2.302585092994
    """
    fractions, exponents = np.frexp(values)
    is_low = fractions < 0.7071067811865476
    fractions = np.where(is_low, fractions * 2.0, fractions)
    exponents = np.where(is_low, exponents - 1, exponents)
    t = (fractions - 1.0) / (fractions + 1.0)
    square, series = t * t, np.zeros_like(t)
    for n in range(_TERMS, -1, -1):
        series = series * square + 1.0 / (2 * n + 1)
    return np.asarray(exponents * _LN2 + 2.0 * (t * series))
