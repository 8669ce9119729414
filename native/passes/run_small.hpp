// Whether a batch is small, and Algorithm 2 on one.
#pragma once

#include <cstddef>

#include "algorithm/batch_sums.hpp"
#include "algorithm/visiting_orders.hpp"
#include "records/solution.hpp"

namespace dynmeans {

// Beyond, a table with every cost takes longer than the bounds that leave most of it out.
constexpr std::size_t kMostPoints = 512, kMostFeatures = 16, kMostClusters = 64;

inline bool is_small_batch(std::size_t n_points, std::size_t n_features, std::size_t n_clusters) {
    return n_points <= kMostPoints && n_features <= kMostFeatures && n_clusters <= kMostClusters;
}

// Once for each visiting order; for values of 64 and 32 bits, compiled in run_small.cpp.
template <typename Value>
Solution run_small(const Points<Value>& points, Orders& orders, const Remembered& remembered,
                   const Penalties& penalties, const BatchSums& sums);

}  // namespace dynmeans
