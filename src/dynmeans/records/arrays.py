"""The array types that cross functions."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
BatchArray = npt.NDArray[np.float64] | npt.NDArray[np.float32]
