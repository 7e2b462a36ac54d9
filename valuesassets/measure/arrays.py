"""The type of arrays of numbers, for all packages that compute."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
