// Centers sorted along their widest feature: who lies within a distance of some place is among
// those within it along that feature.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace dynmeans {

class CenterOrder {
  public:
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    void build(const double* centers, std::size_t n, std::size_t n_features) {
        sorted_.clear();
        n_ = n;
        if (n <= kFew) return;
        double widest = -1.0;
        for (std::size_t j = 0; j < n_features; ++j) {
            double low = kNever, high = -kNever;
            for (std::size_t k = 0; k < n; ++k) {
                low = std::min(low, centers[k * n_features + j]);
                high = std::max(high, centers[k * n_features + j]);
            }
            if (!(high - low > widest)) continue;
            widest = high - low;
            feature_ = j;
        }
        for (std::size_t k = 0; k < n; ++k)
            sorted_.push_back({centers[k * n_features + feature_], static_cast<std::uint32_t>(k)});
        std::sort(sorted_.begin(), sorted_.end());
    }

    // Calls visit(k) for every center that may be within the distance; of few centers, for all.
    template <typename Visit>
    void visit_within(const double* place, double squared_distance, const Visit& visit) const {
        if (sorted_.empty()) {
            for (std::size_t k = 0; k < n_; ++k) visit(k);
            return;
        }
        const double at = place[feature_];
        const double reach = std::sqrt(squared_distance) * (1.0 + 1e-9) + 1e-14 * std::abs(at);
        if (!(reach < kNever)) {
            for (const auto& [value, k] : sorted_) visit(k);
            return;
        }
        auto next = std::lower_bound(sorted_.begin(), sorted_.end(),
                                     std::make_pair(at - reach, std::uint32_t{0}));
        for (; next != sorted_.end() && next->first <= at + reach; ++next) visit(next->second);
    }

  private:
    static constexpr std::size_t kFew = 16;  // below, sorting does not pay

    std::size_t n_ = 0, feature_ = 0;
    std::vector<std::pair<double, std::uint32_t>> sorted_;
};

}  // namespace dynmeans
