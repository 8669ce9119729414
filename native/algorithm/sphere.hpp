// Centers on the unit sphere (decision 0019): a sum of points, brought to length 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "numeric/squared_distance.hpp"

namespace dynmeans {

// |x|^2, added as in squared_distance.hpp.
inline double squared_length(const double* x, std::size_t n) {
    LaneSums sums;
    std::size_t j = 0;
    for (; j + kLanes <= n; j += kLanes)
        for (std::size_t part = 0; part < kLanes / kSimd; ++part) {
            const Doubles values = load(x + j + part * kSimd);
            sums.lanes[part] += values * values;
        }
    for (std::size_t lane = 0; j < n; ++j, ++lane)
        sums.lanes[lane / kSimd][lane % kSimd] += x[j] * x[j];
    return sums.total();
}

// Writes the sum at length 1, where it may already be; the first axis for a sum of zeros. One root,
// one division a coordinate.
inline void put_on_sphere(const double* sum, double* center, std::size_t n_features) {
    const double length = std::sqrt(squared_length(sum, n_features));
    if (length > 0.0) {
        for (std::size_t j = 0; j < n_features; ++j) center[j] = sum[j] / length;
        return;
    }
    std::fill_n(center, n_features, 0.0);
    center[0] = 1.0;
}

}  // namespace dynmeans
