// Random numbers for the samplers: xoshiro256++ (Blackman and Vigna), seeded through splitmix64.
// One seed, one sequence, on every machine.
#pragma once

#include <cmath>
#include <cstdint>

namespace dynmeans {

class Random {
  public:
    explicit Random(std::uint64_t seed) {
        for (std::uint64_t& word : words_) {
            seed += 0x9E3779B97F4A7C15u;
            std::uint64_t mixed = seed;
            mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
            mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
            word = mixed ^ (mixed >> 31);
        }
    }

    // In [0, 1), a multiple of 2^-53.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    // Standard normal by the polar method; the second of each pair is kept for the next call.
    double normal() {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        double a = 0.0, b = 0.0, s = 0.0;
        do {
            a = 2.0 * uniform() - 1.0;
            b = 2.0 * uniform() - 1.0;
            s = a * a + b * b;
        } while (s >= 1.0 || s == 0.0);
        const double scale = std::sqrt(-2.0 * std::log(s) / s);
        spare_ = b * scale;
        has_spare_ = true;
        return a * scale;
    }

  private:
    static std::uint64_t rotate_left(std::uint64_t x, int by) {
        return (x << by) | (x >> (64 - by));
    }

    std::uint64_t next() {
        const std::uint64_t result = rotate_left(words_[0] + words_[3], 23) + words_[0];
        const std::uint64_t shifted = words_[1] << 17;
        words_[2] ^= words_[0];
        words_[3] ^= words_[1];
        words_[1] ^= words_[2];
        words_[0] ^= words_[3];
        words_[2] ^= shifted;
        words_[3] = rotate_left(words_[3], 45);
        return result;
    }

    std::uint64_t words_[4];
    double spare_ = 0.0;
    bool has_spare_ = false;
};

}  // namespace dynmeans
