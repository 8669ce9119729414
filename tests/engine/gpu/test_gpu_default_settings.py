"""With default settings a GPU gives the bits of memory, in whatever order the rows come."""

import pytest
from default_streams import check_stream

pytestmark = pytest.mark.gpu
N_STREAMS = 500


@pytest.mark.parametrize("seed", range(N_STREAMS))
def test_memory_and_a_gpu_give_the_same_labels(seed):
    check_stream(seed, lambda rng, rows: rows, backend="gpu")
