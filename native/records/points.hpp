// One batch as it came from the caller: Y_t with an optional weight for each point. The rows may be
// float32; they are widened one at a time, which is exact, and never all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "numeric/prefetch.hpp"

namespace dynmeans::records {

using namespace numeric;

using Row = std::uint32_t;
using Slot = std::int32_t;
constexpr Slot kUnlabeled = -1;
// A batch has at most 2^31 - 1 points (engine/checks.py), and so no more slots or positions.
static_assert(std::numeric_limits<Slot>::max() == 2147483647);

template <typename Value>
struct Points {
    const Value* values;    // row-major (n_points, n_features)
    const double* weights;  // null: every point weighs 1
    std::size_t n_points;
    std::size_t n_features;

    // Row i as doubles; `buffer` has room for one row, and may not be used.
    const double* row(std::size_t i, double* buffer) const {
        const Value* from = values + i * n_features;
        if constexpr (std::is_same_v<Value, double>) {
            return from;
        } else {
            for (std::size_t j = 0; j < n_features; ++j) buffer[j] = from[j];
            return buffer;
        }
    }

    // Asks for a row that will be read soon.
    void prefetch(std::size_t i) const {
        prefetch_row(values + i * n_features, n_features * sizeof(Value));
    }

    double weight(std::size_t i) const { return weights ? weights[i] : 1.0; }
    bool takes_part(std::size_t i) const { return !weights || weights[i] != 0.0; }
};

}  // namespace dynmeans::records
