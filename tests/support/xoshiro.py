"""The random numbers of the compiled samplers, in Python integers."""

import math

MASK = 2**64 - 1


def _rotate_left(x, by):
    return ((x << by) | (x >> (64 - by))) & MASK


class Xoshiro:
    """xoshiro256++ seeded through splitmix64; normal numbers by the polar method."""

    def __init__(self, seed):
        self.words, self.spare = [], None
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            mixed = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
            self.words.append(mixed ^ (mixed >> 31))

    def next(self):
        s = self.words
        result = (_rotate_left((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = _rotate_left(s[3], 45)
        return result

    def random(self):
        return (self.next() >> 11) * 2.0**-53

    def standard_normal(self):
        if self.spare is not None:
            value, self.spare = self.spare, None
            return value
        while True:
            a, b = 2 * self.random() - 1, 2 * self.random() - 1
            s = a * a + b * b
            if 0 < s < 1:
                break
        scale = math.sqrt(-2 * math.log(s) / s)
        self.spare = b * scale
        return a * scale
