// |y - theta|^2 in the one order of additions that every backend follows (decision 0006): eight
// running sums, feature j into sum j mod 8, then added in halves: 0+4, 2+6, ...; 0+2, ...; 0+1.
//
// Every partial result only grows with more features (squares are not negative, and rounding is
// monotone), so a sum over the first features that is already too large settles the matter.
#pragma once

#include <cstddef>

#include "numeric/compilers.hpp"
#include "numeric/simd.hpp"

namespace dynmeans {

constexpr std::size_t kLanes = 8;

struct LaneSums {
    Doubles lanes[kLanes / kSimd] = {};

    // Adds features [begin, end); begin is a multiple of kLanes.
    void add(const double* y, const double* theta, std::size_t begin, std::size_t end) {
        std::size_t j = begin;
        for (; j + kLanes <= end; j += kLanes) {
            for (std::size_t part = 0; part < kLanes / kSimd; ++part) {
                const std::size_t at = j + part * kSimd;
                const Doubles difference = load(y + at) - load(theta + at);
                lanes[part] += difference * difference;
            }
        }
        for (std::size_t lane = 0; j < end; ++j, ++lane) {
            const double difference = y[j] - theta[j];
            lanes[lane / kSimd][lane % kSimd] += difference * difference;
        }
    }

    double total() const {
        double sums[kLanes];
        std::memcpy(sums, lanes, sizeof sums);
        const double a = sums[0] + sums[4], b = sums[1] + sums[5];
        const double c = sums[2] + sums[6], d = sums[3] + sums[7];
        return (a + c) + (b + d);
    }
};

// The eight sums of several distances at once, one in each lane.
inline Doubles add_in_halves(const Doubles* sums) {
    const Doubles a = sums[0] + sums[4], b = sums[1] + sums[5];
    const Doubles c = sums[2] + sums[6], d = sums[3] + sums[7];
    return (a + c) + (b + d);
}

// The same for one to four features: the sums left out are zeros, which change no square.
template <std::size_t D, typename Lanes>
Lanes add_few_in_halves(const Lanes* squares) {
    static_assert(D >= 1 && D <= 4);
    if constexpr (D == 1) return squares[0];
    if constexpr (D == 2) return squares[0] + squares[1];
    if constexpr (D == 3) return (squares[0] + squares[2]) + squares[1];
    if constexpr (D == 4) return (squares[0] + squares[2]) + (squares[1] + squares[3]);
}

template <std::size_t D>
double squared_distance_of_few(const double* y, const double* theta) {
    double squares[D];
    for (std::size_t j = 0; j < D; ++j) squares[j] = (y[j] - theta[j]) * (y[j] - theta[j]);
    return add_few_in_halves<D>(squares);
}

DYNMEANS_APART inline double squared_distance_of_many(const double* y, const double* theta,
                                                      std::size_t n_features) {
    LaneSums sums;
    sums.add(y, theta, 0, n_features);
    return sums.total();
}

DYNMEANS_INLINE double squared_distance(const double* y, const double* theta,
                                        std::size_t n_features) {
    if (n_features == 2) return squared_distance_of_few<2>(y, theta);
    if (n_features == 3) return squared_distance_of_few<3>(y, theta);
    if (n_features == 4) return squared_distance_of_few<4>(y, theta);
    return squared_distance_of_many(y, theta, n_features);
}

DYNMEANS_APART inline double squared_distance_of_very_many(double limit, const double* y,
                                                           const double* theta,
                                                           std::size_t n_features) {
    constexpr std::size_t kChunk = 8 * kLanes;
    LaneSums sums;
    for (std::size_t j = 0;; j += kChunk) {
        const std::size_t end = j + kChunk < n_features ? j + kChunk : n_features;
        sums.add(y, theta, j, end);
        const double partial = sums.total();
        if (end == n_features || partial > limit) return partial;
    }
}

// The same, but left early with a partial sum once that is above `limit`.
DYNMEANS_INLINE double squared_distance_up_to(double limit, const double* y, const double* theta,
                                              std::size_t n_features) {
    if (n_features <= 8 * kLanes) return squared_distance(y, theta, n_features);
    return squared_distance_of_very_many(limit, y, theta, n_features);
}

}  // namespace dynmeans
