// |y - theta|^2 in the one order of additions that every backend follows (decision 0006): eight
// running sums, feature j into sum j mod 8, then added in halves: 0+4, 2+6, ...; 0+2, ...; 0+1.
// Written as plain loops over eight doubles: any SIMD width computes the same bits.
//
// Every partial result only grows with more features (squares are not negative, and rounding is
// monotone), so a sum over the first features that is already too large settles the matter.
#pragma once

#include <algorithm>
#include <cstddef>

namespace dynmeans {

constexpr std::size_t kLanes = 8;

struct LaneSums {
    alignas(64) double lanes[kLanes] = {};

    // Adds features [begin, end); begin is a multiple of kLanes.
    void add(const double* y, const double* theta, std::size_t begin, std::size_t end) {
        std::size_t j = begin;
        for (; j + kLanes <= end; j += kLanes) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const double difference = y[j + lane] - theta[j + lane];
                lanes[lane] += difference * difference;
            }
        }
        for (std::size_t lane = 0; j < end; ++j, ++lane) {
            const double difference = y[j] - theta[j];
            lanes[lane] += difference * difference;
        }
    }

    double total() const {
        const double a = lanes[0] + lanes[4], b = lanes[1] + lanes[5];
        const double c = lanes[2] + lanes[6], d = lanes[3] + lanes[7];
        return (a + c) + (b + d);
    }
};

inline double squared_distance(const double* y, const double* theta, std::size_t n_features) {
    LaneSums sums;
    sums.add(y, theta, 0, n_features);
    return sums.total();
}

}  // namespace dynmeans
