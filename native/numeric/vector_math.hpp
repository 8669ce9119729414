// exp and log of several doubles side by side, right to the last bit or two. Only additions and
// multiplications, one lane like the other: the width of the register changes no result.
#pragma once

#include <cstdint>
#include <cstring>

#include "numeric/simd.hpp"
#include "numeric/squared_distance.hpp"

namespace dynmeans {

#if defined(DYNMEANS_PLAIN_LANES)
using Bits = ScalarSimd<std::int64_t, kSimd>;
#else
using Bits [[gnu::vector_size(kSimd * sizeof(std::int64_t))]] = std::int64_t;
#endif

inline Bits bits_of(Doubles values) {
    Bits bits;
    std::memcpy(&bits, &values, sizeof bits);
    return bits;
}

inline Doubles from_bits(Bits bits) {
    Doubles values;
    std::memcpy(&values, &bits, sizeof values);
    return values;
}

// Added to a number below 2^51 it leaves the nearest integer in the lowest bits.
constexpr double kToInteger = 0x1.8p52;
constexpr std::int64_t kToIntegerBits = 0x4338000000000000;
// log 2 in two parts; the first times an exponent is exact.
constexpr double kLogTwoHigh = 0x1.62e42feep-1, kLogTwoLow = 0x1.a39ef35793c76p-33;

// For arguments of at most 0; below -700 it stays at e^-700.
inline Doubles exp_of(Doubles x) {
    constexpr double kPerLogTwo = 1.4426950408889634, kLowest = -700.0;
    x = select(x < kLowest, fill(kLowest), x);
    const Doubles shifted = x * kPerLogTwo + kToInteger;
    const Doubles n = shifted - kToInteger;
    const Doubles r = (x - n * kLogTwoHigh) - n * kLogTwoLow;
    // |r| < 0.35: the series is exact to rounding after r^13.
    constexpr double kOverFactorials[] = {1.0 / 479001600,
                                          1.0 / 39916800,
                                          1.0 / 3628800,
                                          1.0 / 362880,
                                          1.0 / 40320,
                                          1.0 / 5040,
                                          1.0 / 720,
                                          1.0 / 120,
                                          1.0 / 24,
                                          1.0 / 6,
                                          0.5,
                                          1.0,
                                          1.0};
    Doubles sum = fill(1.0 / 6227020800);
    for (const double coefficient : kOverFactorials) sum = sum * r + coefficient;
    return from_bits(bits_of(sum) + (bits_of(shifted) << 52));
}

// For positive arguments that are neither subnormal nor infinite.
inline Doubles log_of(Doubles x) {
    constexpr std::int64_t kRootOfHalf = 0x3fe6a09e667f3bcd;
    const Bits exponent = (bits_of(x) - kRootOfHalf) >> 52;
    const Doubles n = from_bits(exponent + kToIntegerBits) - kToInteger;
    // m from sqrt(1/2) to sqrt 2, and log m = 2 (s + s^3 / 3 + s^5 / 5 + ...), s at most 0.172.
    const Doubles m = from_bits(bits_of(x) - (exponent << 52));
    const Doubles s = (m - 1.0) / (m + 1.0), z = s * s;
    constexpr double kOverOdd[] = {2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11,
                                   2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3,  2.0};
    Doubles sum = fill(2.0 / 21);
    for (const double coefficient : kOverOdd) sum = sum * z + coefficient;
    return n * kLogTwoHigh + (s * sum + n * kLogTwoLow);
}

// Room for n values in whole runs of eight.
constexpr std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// Sum of term(0), term(kSimd), ... up to n, a multiple of eight: eight running sums in every case.
template <typename Term>
double sum_over(std::size_t n, const Term& term) {
    LaneSums sums;
    for (std::size_t i = 0; i < n; i += kLanes)
        for (std::size_t part = 0; part < kLanes / kSimd; ++part)
            sums.lanes[part] += term(i + part * kSimd);
    return sums.total();
}

}  // namespace dynmeans
