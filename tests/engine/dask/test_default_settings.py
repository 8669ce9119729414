"""With default settings a cluster gives the bits of memory, whatever the chunks and the workers."""

import dask.array as da
import default_streams
import pytest
from dask_streams import uneven_chunks

N_STREAMS, N_STREAMS_SLOW = 4, 170  # of each number of workers


def check_stream(seed):
    default_streams.check_stream(seed, in_chunks)


def in_chunks(rng, rows):
    return da.from_array(rows, chunks=(uneven_chunks(rng, len(rows)), (rows.shape[1],)))


@pytest.mark.parametrize("seed", range(N_STREAMS))
def test_memory_and_a_cluster_give_the_same_labels(client, seed):
    check_stream(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(N_STREAMS_SLOW))
def test_memory_and_any_number_of_workers_give_the_same_labels(client_of_many, seed):
    check_stream(1000 * len(client_of_many.nthreads()) + seed)
