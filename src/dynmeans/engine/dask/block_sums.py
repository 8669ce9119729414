"""Sums over blocks of rows added up in the order of the blocks, whoever holds them.

The bits of a total depend on the order of its terms (decision 0006), so blocks cannot be added
where they lie and the results added again. Where they are few they come to the client. Where they
are many, each worker adds up a share of the slots over all blocks, and only totals come.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from distributed import Client, Future

from dynmeans.engine.dask.messages import BlockSums
from dynmeans.records.arrays import FloatArray

MOST_BYTES_HERE = 2**22  # Sums of all blocks that the client adds up itself.


@dataclass(frozen=True, slots=True)
class Share:
    """Totals of some of the slots, and how many bytes they were added up from."""

    totals: FloatArray
    n_bytes: int


def add_blocks(parts: list[BlockSums]) -> FloatArray:
    """Add the sums of the blocks one by one."""
    totals = np.zeros(parts[0].sums.shape[1:])
    sums_of = {
        block: sums
        for part in parts
        for block, sums in zip(part.blocks.tolist(), part.sums, strict=True)
    }
    for block in sorted(sums_of):
        totals += sums_of[block]
    return totals


def share_adding(
    client: Client, parts: list[Future], n_columns: int, n_shares: int
) -> list[Future]:
    """Let workers add up a share of the columns each."""
    edges = np.linspace(0, n_columns, n_shares + 1).astype(int).tolist()
    return [
        client.submit(
            add_share,
            [client.submit(take_columns, part, begin, end, pure=False) for part in parts],
            pure=False,
        )
        for begin, end in pairwise(edges)
    ]


def take_columns(part: BlockSums, begin: int, end: int) -> BlockSums:
    """Some of the slots, over all blocks of a worker."""
    return replace(part, sums=np.ascontiguousarray(part.sums[:, begin:end]))


def add_share(parts: list[BlockSums]) -> Share:
    """Add up some of the slots over all blocks."""
    return Share(add_blocks(parts), sum(part.sums.nbytes for part in parts))


def without_sums(part: BlockSums) -> BlockSums:
    """What else the client wants to know."""
    return replace(part, sums=part.sums[:0], blocks=part.blocks[:0])
