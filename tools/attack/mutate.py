"""Random damage to bytes, and values that have broken programs before."""

import math
import random

TEXTS = (
    "", " ", "\x00", "\n", "NaN", "null", "true", "-", "1e999", "--", "'", '"', "\\", "%s", "{}",
    "=1+1", "🦊", "\ufeff", "a" * 3000, "../../etc", "*", "[1]", "\x1b[31m", "dynmeans row",
)  # fmt: skip
INTEGERS = (0, 1, -1, 255, 2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64, -(2**63))
FLOATS = (0.0, -0.0, 1e-320, 1e-12, 0.1, 1e15, 1e154, 1e300, math.inf, -math.inf, math.nan)


def damaged(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Return the bytes with one to four wounds."""
    wounded = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        rng.choice(_WOUNDS)(wounded, rng, others)
    return bytes(wounded)


def _flip_bit(data: bytearray, rng: random.Random, others: list[bytes]) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set_byte(data: bytearray, rng: random.Random, others: list[bytes]) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def _set_number(data: bytearray, rng: random.Random, others: list[bytes]) -> None:
    size = rng.choice((2, 4, 8))
    value = rng.choice(INTEGERS) % (1 << 8 * size)
    place = rng.randrange(len(data) + 1)
    data[place : place + size] = value.to_bytes(size, rng.choice(("little", "big")))


def _cut_off(data: bytearray, rng: random.Random, others: list[bytes]) -> None:
    del data[rng.randrange(len(data) + 1) :]


def _cut_out(data: bytearray, rng: random.Random, others: list[bytes]) -> None:
    place = rng.randrange(len(data) + 1)
    del data[place : place + rng.choice((1, 4, 16, 200))]


def _repeat(data: bytearray, rng: random.Random, others: list[bytes]) -> None:
    place, length = rng.randrange(len(data) + 1), rng.choice((1, 8, 64, 500))
    data[place:place] = data[place : place + length]


def _insert(data: bytearray, rng: random.Random, others: list[bytes]) -> None:
    place = rng.randrange(len(data) + 1)
    data[place:place] = rng.randbytes(rng.choice((1, 3, 30)))


def _splice(data: bytearray, rng: random.Random, others: list[bytes]) -> None:
    other = rng.choice(others) if others else b""
    start, place = rng.randrange(len(other) + 1), rng.randrange(len(data) + 1)
    data[place:] = other[start:]


_WOUNDS = (
    *(_flip_bit,) * 4,
    *(_set_byte,) * 2,
    _set_number,
    _cut_off,
    _cut_out,
    _repeat,
    _insert,
    _splice,
)
