// The Elkan bound of two centers: up to which own cost a point surely keeps its label, given how
// far apart two centers are; the argument is in center_bounds.hpp.
#pragma once

#include <algorithm>
#include <cmath>

namespace dynmeans {

constexpr double kSlack = 1e-9;
constexpr double kFarOff = 1e3;
constexpr double kTiny = 1e-280;  // below this, squares may have been rounded to nothing

// The highest own cost up to which a point surely stays, given the squared distance of the centers.
inline double keeping_cost(double squared_gap, double offset, double scale) {
    if (squared_gap < kTiny) return 0.0;
    const double gap = std::sqrt(squared_gap);
    double root = 0.5 * gap;  // scale 1, offset 0
    if (offset > 0.0 || scale < 1.0) {
        // (1 - scale) u^2 + 2 scale gap u - (offset + scale gap^2) = 0, solved without cancellation
        const double half = scale * gap, constant = offset + scale * squared_gap;
        root = constant / (half + std::sqrt(half * half + (1.0 - scale) * constant));
        // Much farther off than the centers are apart, both costs differ by less than kSlack
        // covers.
        root = std::min(root, kFarOff * gap);
        // No point costs less than the offset: so none within this root costs less than its square.
        if (gap < root) root = std::min(root, std::sqrt(offset));
    }
    const double kept = root * root * (1.0 - kSlack);
    return kept < kTiny ? 0.0 : kept;
}

// A share of the squared distance that is never above that cost: the help of the offset left out.
inline double keeping_share(double scale) {
    const double root = std::sqrt(scale) / (1.0 + std::sqrt(scale));
    return root * root * (1.0 - 2.0 * kSlack);
}

}  // namespace dynmeans
