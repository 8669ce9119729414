// One set of a batch in two, over parts whose labels are sets: what Lloyd's turns of a split need
// (moves/splits.hpp). Sums are in bins, which are merged by adding them, in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithm/batch_sums.hpp"
#include "dask/part.hpp"
#include "numeric/squared_distance.hpp"

namespace dynmeans::dask {

// The means of two halves; a row is in the second if it is nearer to that; ties are in the first.
struct TwoMeans {
    const double *a, *b;
    std::size_t n_features;

    bool is_second(const double* y) const {
        return squared_distance(y, b, n_features) < squared_distance(y, a, n_features);
    }
};

// Calls `visit(part, row, y)` for each row of set k.
template <typename Value, typename Visit>
void for_each_member(const std::vector<Part<Value>>& parts, Slot k, Visit visit) {
    std::vector<double> buffer;
    for (const Part<Value>& part : parts) {
        buffer.resize(part.points.n_features);
        for (std::size_t i = 0; i < part.points.n_points; ++i)
            if (part.labels[i] == k) visit(part, i, part.points.row(i, buffer.data()));
    }
}

struct SecondHalf {
    std::int64_t n_changed = 0, n_members = 0;  // rows that were in the other half before; members
    std::vector<double> bins;
};

// The second half of set k by `now`; by `before` (null: none is in it) some rows were in it.
template <typename Value>
SecondHalf take_second(const std::vector<Part<Value>>& parts, Slot k, const TwoMeans* before,
                       const TwoMeans& now, const BatchSums& sums) {
    SecondHalf found;
    found.bins.resize(sums.columns.size());
    PointAdder adder(sums);
    for_each_member(parts, k, [&](const Part<Value>& part, std::size_t i, const double* y) {
        const bool is_second = now.is_second(y);
        found.n_changed += is_second != (before && before->is_second(y));
        if (!is_second) return;
        ++found.n_members;
        adder.add(part.points, i, found.bins.data());
    });
    return found;
}

// The scatter of set k about the means of its halves, which are those by `halves`, in bins.
template <typename Value>
std::vector<double> scatter_of(const std::vector<Part<Value>>& parts, Slot k,
                               const TwoMeans& halves, const TwoMeans& means,
                               const BatchSums& sums) {
    std::vector<double> bins(sums.costs.n_bins()), terms;
    const auto add = [&] {
        const std::size_t n = terms.size();
        terms.resize(n + kSimd);
        sums.costs.add(terms.data(), n, bins.data());
        terms.clear();
    };
    for_each_member(parts, k, [&](const Part<Value>& part, std::size_t i, const double* y) {
        const double* mean = halves.is_second(y) ? means.b : means.a;
        terms.push_back(part.points.weight(i) * squared_distance(y, mean, means.n_features));
        if (terms.size() == kPointBlock) add();
    });
    add();
    return bins;
}

}  // namespace dynmeans::dask
