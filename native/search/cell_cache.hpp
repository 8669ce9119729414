// A guess by spatial hash: rows in one cell of the space mostly find the same slot, so the slot
// that was found there last is tried first. Whether a guess is right is for others to prove.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "records/points.hpp"
#include "search/cost_table.hpp"

namespace dynmeans {

class CellCache {
  public:
    // Cells of this width, in the features that spread the centers most.
    CellCache(const CostTable& table, std::size_t n_features, double width)
        : per_width_(1.0 / width), features_(n_features), slots_(kCells, kUnlabeled) {
        std::vector<double> spreads(n_features);
        for (std::size_t j = 0; j < n_features; ++j) {
            double low = table.center(0)[j], high = low;
            for (std::size_t k = 1; k < table.size(); ++k) {
                low = std::min(low, table.center(k)[j]);
                high = std::max(high, table.center(k)[j]);
            }
            spreads[j] = high - low;
        }
        std::iota(features_.begin(), features_.end(), std::size_t{0});
        std::stable_sort(features_.begin(), features_.end(),
                         [&](std::size_t a, std::size_t b) { return spreads[a] > spreads[b]; });
        features_.resize(std::min(features_.size(), kMostFeatures));
    }

    // What was found last in the cell of y, or kUnlabeled.
    Slot& at(const double* y) {
        std::uint64_t hash = 0;
        for (const std::size_t j : features_) {
            const double place = y[j] * per_width_ + kRounds;  // its last bits count cells
            std::uint64_t bits;
            std::memcpy(&bits, &place, sizeof bits);
            hash = (hash + bits) * 0x9E3779B97F4A7C15u;
        }
        return slots_[hash >> (64 - kBits)];
    }

  private:
    static constexpr unsigned kBits = 16;
    static constexpr std::size_t kCells = std::size_t{1} << kBits, kMostFeatures = 8;
    static constexpr double kRounds = 6755399441055744.0;  // 1.5 * 2^52

    double per_width_;
    std::vector<std::size_t> features_;
    std::vector<Slot> slots_;
};

}  // namespace dynmeans
