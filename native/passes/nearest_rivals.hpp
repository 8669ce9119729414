// The four nearest rivals of a slot side by side (center_bounds.hpp), for few features: what a
// point costs at all of them is found without a branch.
#pragma once

#include <algorithm>
#include <cstddef>

#include "numeric/quads.hpp"
#include "numeric/squared_distance.hpp"
#include "search/cost_table.hpp"

namespace dynmeans {

struct NearestRivals {
    static constexpr std::size_t kMaxFeatures = 4, kMost = 4;

    double next;  // a point with an own cost below this looks at no other slot
    double offsets[kMost], scales[kMost], at[kMaxFeatures][kMost];

    void start(double next_cost) {
        next = next_cost;
        std::fill_n(offsets, kMost, CostTable::kNever);
        std::fill_n(scales, kMost, 1.0);
        for (double* feature : at) std::fill_n(feature, kMost, 0.0);
    }

    void set(std::size_t lane, std::size_t k, std::size_t n_features, const CostTable& table) {
        offsets[lane] = table.offset(k);
        scales[lane] = table.scale(k);
        for (std::size_t j = 0; j < n_features; ++j) at[j][lane] = table.center(k)[j];
    }

    // The lowest of their costs, in the bits of CostTable::cost.
    template <std::size_t D, typename Value>
    double lowest_cost(const Value* y) const {
        Quad squares[D];
        for (std::size_t j = 0; j < D; ++j) {
            const Quad difference = static_cast<double>(y[j]) - load_quad(at[j]);
            squares[j] = difference * difference;
        }
        return lowest_of_quad(load_quad(offsets) +
                              load_quad(scales) * add_few_in_halves<D>(squares));
    }

    double lowest_cost(const double* y, std::size_t n_features) const {
        if (n_features == 2) return lowest_cost<2>(y);
        if (n_features == 3) return lowest_cost<3>(y);
        return n_features == 1 ? lowest_cost<1>(y) : lowest_cost<4>(y);
    }
};

}  // namespace dynmeans
