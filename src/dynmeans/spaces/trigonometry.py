"""sin and cos from additions and multiplications alone: the same bits on every machine.

Those of NumPy depend on the processor, and those of a GPU differ again; labels could change with
their last bits. Polynomials as in Sun's fdlibm, good to one unit in the last place.
"""

from typing import Any

import numpy as np

_BLOCK = 8192  # elements whose temporary arrays stay in the cache

# pi / 2 in three parts, the first two with zeros at the end: their multiples are exact.
_QUARTER = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
_SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def sin_and_cos(numbers: Any, turns: Any) -> tuple[Any, Any]:
    """Return both of angles in radians, of at most a few turns; float64 in any array module.

    >>> sin, cos = sin_and_cos(np, np.array([0.0, np.pi / 6, 4.0]))
    >>> bool(np.allclose(sin, np.sin([0, np.pi / 6, 4]), rtol=0, atol=2e-16)), float(cos[0])
    (True, 1.0)
    """
    if numbers is np and turns.size > _BLOCK:
        both = np.empty((2, *turns.shape))
        for start in range(0, len(turns), _BLOCK):
            block = slice(start, start + _BLOCK)
            both[:, block] = sin_and_cos(np, turns[block])
        return both[0], both[1]
    quarters = numbers.rint(turns * (2.0 / 3.141592653589793))
    x = turns - quarters * _QUARTER[0]
    x = x - quarters * _QUARTER[1]
    x = x - quarters * _QUARTER[2]
    square = x * x
    sin = x + x * (square * _polynomial(_SIN, square))
    cos = 1.0 - (0.5 * square - square * (square * _polynomial(_COS, square)))
    is_odd = quarters - 2.0 * numbers.floor(0.5 * quarters) != 0.0
    half = numbers.floor(0.5 * quarters)
    is_back = half - 2.0 * numbers.floor(0.5 * half) != 0.0
    sign = numbers.where(is_back, -1.0, 1.0)
    return (
        sign * numbers.where(is_odd, cos, sin),
        sign * numbers.where(is_odd, -sin, cos),
    )


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    total = x * coefficients[-1] + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        total = total * x + coefficient
    return total
