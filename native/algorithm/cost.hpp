// The cost L_t that each iteration lowers (Theorem 1, Eq. 15).
//
// What the points of a slot cost follows from its sums: with S = sum of w y and Q = sum of w |y|^2,
// sum of w |y - theta|^2 = Q + theta (n theta - 2 S), feature by feature. The sums are exact
// (bins.hpp), so that nothing but this last line is rounded; what it cancels, far from the origin,
// double-double arithmetic has to spare. No point is looked at again.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithm/batch_sums.hpp"
#include "numeric/double_double.hpp"
#include "numeric/squared_distance.hpp"
#include "records/remembered.hpp"

namespace dynmeans {

// Of one slot with n points, or of one in each lane. `total(j)` gives S of feature j, with what
// rounding lost, and then Q and the sum of what its terms lost; `multiply` is two_product.
template <typename Lanes, typename Total, typename Multiply>
Lanes within_slots(const Pair<Lanes>& n, const Lanes* theta, std::size_t n_features,
                   const Total& total, const Multiply& multiply) {
    Pair<Lanes> cost = total(n_features);
    cost.rest += total(n_features + 1).value;
    for (std::size_t j = 0; j < n_features; ++j) {
        const Pair<Lanes> mass = multiply(n.value, theta[j]), sum = total(j);
        const Pair<Lanes> twice = two_sum(mass.value, -2.0 * sum.value);
        const Lanes rest = twice.rest + ((mass.rest + n.rest * theta[j]) - 2.0 * sum.rest);
        const Pair<Lanes> part = multiply(twice.value, theta[j]);
        const Pair<Lanes> next = two_sum(cost.value, part.value);
        cost = {next.value, cost.rest + (next.rest + (part.rest + rest * theta[j]))};
    }
    return cost.value + cost.rest;
}

template <typename Total>
double within_slot(const Pair<double>& n, const double* theta, std::size_t n_features,
                   const Total& total) {
    const auto multiply = [](double a, double b) { return two_product(a, b); };
    return std::max(0.0, within_slots(n, theta, n_features, total, multiply));
}

// The same from the sums of a slot in bins.
inline double within_slot(double n_members, const double* theta, std::size_t n_features,
                          const BatchSums& sums, const double* bins) {
    const auto total = [&](std::size_t c) { return sums.columns.precise_total(bins, c); };
    if (!sums.has_weights)
        return within_slot(Pair<double>{n_members, 0.0}, theta, n_features, total);
    return within_slot(total(0), theta, n_features, [&](std::size_t c) { return total(c + 1); });
}

// Revival and displacement of slot k, which was remembered.
inline double revival_terms(const Remembered& remembered, std::size_t k, const double* theta) {
    const double moved = squared_distance(theta, remembered.center(k), remembered.n_features);
    return remembered.offsets[k] + remembered.gamma[k] * moved;
}

// The terms of L_t that belong to clusters: new, revival and displacement.
inline double cluster_terms(const Remembered& remembered, double new_penalty,
                            const std::int64_t* n_members, std::size_t n_slots,
                            const double* centers) {
    double total = 0.0;
    for (std::size_t k = 0; k < n_slots; ++k)
        if (n_members[k] > 0)
            total += k < remembered.n_clusters
                         ? revival_terms(remembered, k, centers + k * remembered.n_features)
                         : new_penalty;
    return total;
}

}  // namespace dynmeans
