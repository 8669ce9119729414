// One batch as it came from the caller: Y_t with an optional weight for each point.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dynmeans {

using Slot = std::int32_t;
constexpr Slot kUnlabelled = -1;

struct Points {
    const double* values;   // row-major (n_points, n_features)
    const double* weights;  // null: every point weighs 1
    std::size_t n_points;
    std::size_t n_features;

    const double* row(std::size_t i) const { return values + i * n_features; }
    double weight(std::size_t i) const { return weights ? weights[i] : 1.0; }
};

}  // namespace dynmeans
