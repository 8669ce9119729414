from typing import Annotated

import numpy
from numpy.typing import NDArray

def step(
    points: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    point_weights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    orders: Annotated[
        NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    ids: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    centers: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    ages: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    next_id: int,
    new_penalty: float,
    revival_penalty: float,
    drift: float,
    exact_revival: bool,
    elapsed: float,
) -> tuple[
    tuple[
        Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
        Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
        Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
        Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C")],
        Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    ],
    tuple[
        Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
        Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C")],
        Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
        Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    ],
    int,
]: ...
def predict(
    points: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    ids: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    centers: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    ages: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    new_penalty: float,
    revival_penalty: float,
    drift: float,
    exact_revival: bool,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]: ...
def instruction_set() -> str: ...
def gibbs(
    mixture: tuple[
        Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        float,
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        float,
        float,
    ],
    labels: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    centers: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None,
    burn_in: int,
    n_samples: int,
    thin: int,
    seed: int,
    progress: object | None,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
]: ...
def particle_learning(
    mixture: tuple[
        Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        float,
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        float,
        float,
    ],
    n_particles: int,
    seed: int,
    progress: object | None,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    float,
]: ...
def variational(
    mixture: tuple[
        Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        float,
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        float,
        float,
    ],
    labels: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    truncation: int,
    tol: float,
    max_iter: int,
    progress: object | None,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
]: ...
