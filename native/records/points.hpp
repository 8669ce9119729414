// One batch as it came from the caller: Y_t with an optional weight for each point. The rows may be
// float32; they are widened one at a time, which is exact, and never all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace dynmeans {

using Row = std::uint32_t;
using Slot = std::int32_t;
constexpr Slot kUnlabeled = -1;
// Points of a batch, and so slots and positions too: numbered in 32 bits, with
// room for marks below 0 or above.
constexpr std::size_t kMaxPoints = 2147483647;
static_assert(kMaxPoints <= std::numeric_limits<Slot>::max() && kUnlabeled < 0);
static_assert(kMaxPoints <= std::numeric_limits<std::int32_t>::max());
static_assert(kMaxPoints < std::numeric_limits<std::uint32_t>::max());

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

    double weight(std::size_t i) const { return weights ? weights[i] : 1.0; }
    bool takes_part(std::size_t i) const { return !weights || weights[i] != 0.0; }
};

}  // namespace dynmeans
