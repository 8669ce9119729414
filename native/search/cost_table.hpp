// Brute-force search with SIMD: what a point compares, the cost J = offset + scale * |y - center|^2
// of every slot. An active cluster has offset 0 and scale 1, which changes no bit of its distance;
// a closed slot has an infinite offset and never wins.
//
// The slots lie in panels of kSimd, feature by feature, so that one register holds the same
// feature of several centers. A panel is left as soon as no slot of it can win any more: a cost
// over some of the features is never above the cost over all (squared_distance.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "numeric/simd.hpp"
#include "numeric/squared_distance.hpp"
#include "records/accelerations.hpp"

namespace dynmeans {

struct Choice {
    std::size_t slot;
    double cost;
};

class CostTable {
  public:
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    CostTable(std::size_t n_features, std::size_t capacity)
        : n_features_(n_features),
          n_special_(is_enabled<acceleration("few_features")>() ? n_features : 0) {
        reserve(capacity);
    }

    std::size_t size() const { return size_; }
    std::size_t n_features() const { return n_features_; }
    double* center(std::size_t k) { return rows_.data() + k * n_features_; }
    const double* center(std::size_t k) const { return rows_.data() + k * n_features_; }

    // Asks for a center that will be read soon.

    double offset(std::size_t k) const { return offsets_[k]; }
    double scale(std::size_t k) const { return scales_[k]; }

    double cost(const double* y, std::size_t k) const {
        return offsets_[k] + scales_[k] * squared_distance(y, center(k), n_features_);
    }

    // At least that cost if it is above `limit`, and exactly it otherwise. The limit is on the cost
    // of an active slot; a remembered one costs less for its distance and is looked at in full.
    double cost_up_to(double limit, const double* y, std::size_t k) const {
        if (offsets_[k] != 0.0 || scales_[k] != 1.0) return cost(y, k);
        return squared_distance_up_to(limit, y, center(k), n_features_);
    }

    // |y - center|^2 of every slot for kAtOnce rows, one array with room for capacity() of them
    // after the other: each center is fetched once for all rows. The order of additions is another
    // one, so the last bits may differ.
    static constexpr std::size_t kAtOnce = 8;
    void rough_squared_distances(const double* const* rows, double* distances) const {
        for (std::size_t base = 0; base < size_; base += kSimd) {
            const double* panel = panels_.data() + base * n_features_;
            Doubles sums[kAtOnce] = {};
            for (std::size_t j = 0; j < n_features_; ++j) {
                const Doubles centers = load(panel + j * kSimd);
                for (std::size_t r = 0; r < kAtOnce; ++r) {
                    const Doubles difference = rows[r][j] - centers;
                    sums[r] += difference * difference;
                }
            }
            for (std::size_t r = 0; r < kAtOnce; ++r)
                store(distances + r * capacity() + base, sums[r]);
        }
    }

    std::size_t capacity() const { return offsets_.size(); }

    static void consider(Choice& choice, std::size_t k, double cost) {
        if (cost < choice.cost || (cost == choice.cost && k < choice.slot)) choice = {k, cost};
    }

    std::size_t append() {
        if (size_ == offsets_.size()) reserve(2 * size_ + 1);
        return size_++;
    }

    void set(std::size_t k, const double* center_k, double offset, double scale) {
        double* row = center(k);
        if (row != center_k) std::copy(center_k, center_k + n_features_, row);
        double* lane = panels_.data() + panel_at(k) + k % kSimd;
        for (std::size_t j = 0; j < n_features_; ++j) lane[j * kSimd] = row[j];
        offsets_[k] = offset;
        scales_[k] = scale;
    }

    void close(std::size_t k) { offsets_[k] = kNever; }

    void shrink(std::size_t size) {
        for (std::size_t k = size; k < size_; ++k) close(k);
        size_ = size;
    }

    // The cheapest slot, the lowest one on a tie; kNone when every cost is above `limit`.
    // `hint` is a slot that is likely to win: it only makes the search shorter.
    Choice cheapest(const double* y, double limit, std::size_t hint) const {
        Choice choice{kNone, limit};
        if (hint < size_) consider(choice, hint, cost(y, hint));
        switch (n_special_) {
            case 1:
                return search<1>(y, choice);
            case 2:
                return search<2>(y, choice);
            case 3:
                return search<3>(y, choice);
            case 4:
                return search<4>(y, choice);
            default:
                return search<0>(y, choice);
        }
    }

    // The same with what is known already as `choice`; D is the number of features where that is
    // small, 0 otherwise.
    template <std::size_t D>
    Choice search(const double* y, Choice choice) const {
        for (std::size_t base = 0; base < size_; base += kSimd) {
            Doubles costs;
            unsigned candidates = 0;
            if constexpr (D > 0) {
                costs = few_features<D>(y, base);
                candidates = lanes_at_most(costs, choice.cost);
            } else {
                candidates = many_features(y, base, choice.cost, costs);
            }
            if (candidates == 0) continue;
            const double lowest = lowest_lane(costs);
            consider(choice, base + lowest_bit(lanes_at_most(costs, lowest)), lowest);
        }
        return choice;
    }

    // The slots of the panel at `base`, each under the number that `numbers` gives it.
    template <typename Number>
    void consider_panel(const double* y, std::size_t base, const Number* numbers,
                        Choice& choice) const {
        Doubles costs;
        for (unsigned left = many_features(y, base, choice.cost, costs); left != 0;
             left &= left - 1) {
            const unsigned lane = lowest_bit(left);
            consider(choice, static_cast<std::size_t>(numbers[base + lane]), costs[lane]);
        }
    }

  private:
    static constexpr std::size_t kChunk = 2 * kLanes;  // features between two looks at the best

    std::size_t panel_at(std::size_t k) const { return k / kSimd * kSimd * n_features_; }

    void reserve(std::size_t capacity) {
        capacity = (capacity + kSimd - 1) / kSimd * kSimd;
        rows_.resize(capacity * n_features_);
        panels_.resize(capacity * n_features_);
        offsets_.resize(capacity, kNever);
        scales_.resize(capacity, 1.0);
    }

    template <std::size_t D>
    Doubles few_features(const double* y, std::size_t base) const {
        const double* panel = panels_.data() + base * D;
        Doubles squares[D];
        for (std::size_t j = 0; j < D; ++j) {
            const Doubles difference = y[j] - load(panel + j * kSimd);
            squares[j] = difference * difference;
        }
        return load(&offsets_[base]) + load(&scales_[base]) * add_few_in_halves<D>(squares);
    }

    static void add_lanes(const double* y, const double* panel, std::size_t j, std::size_t n,
                          Doubles* sums) {
        for (std::size_t lane = 0; lane < n; ++lane) {
            const Doubles difference = y[j + lane] - load(panel + (j + lane) * kSimd);
            sums[lane] += difference * difference;
        }
    }

    unsigned many_features(const double* y, std::size_t base, double best, Doubles& costs) const {
        const double* panel = panels_.data() + base * n_features_;
        const Doubles offsets = load(&offsets_[base]), scales = load(&scales_[base]);
        Doubles sums[kLanes] = {};
        unsigned candidates = 0;
        for (std::size_t begin = 0; begin < n_features_; begin += kChunk) {
            const std::size_t end = std::min(begin + kChunk, n_features_);
            std::size_t j = begin;
            for (; j + kLanes <= end; j += kLanes) add_lanes(y, panel, j, kLanes, sums);
            add_lanes(y, panel, j, end - j, sums);
            costs = offsets + scales * add_in_halves(sums);
            candidates = lanes_at_most(costs, best);
            if (candidates == 0) break;
        }
        return candidates;
    }

    std::size_t n_features_;
    std::size_t n_special_;
    std::size_t size_ = 0;
    std::vector<double> rows_;    // (capacity, n_features)
    std::vector<double> panels_;  // (capacity / kSimd, n_features, kSimd)
    std::vector<double> offsets_;
    std::vector<double> scales_;
};

// Whether a choice made before some slots changed is still among the slots as they were.
inline bool is_untouched(std::size_t slot, const std::vector<std::size_t>& changed) {
    return std::find(changed.begin(), changed.end(), slot) == changed.end();
}

// What was the cheapest slot before those in `changed` changed, and is not one of them, is still
// the cheapest of all others: only the changed ones can be cheaper now.
inline Choice compare_changed(const double* y, Choice choice,
                              const std::vector<std::size_t>& changed, const CostTable& table) {
    for (const std::size_t k : changed)
        CostTable::consider(choice, k, table.cost_up_to(choice.cost, y, k));
    return choice;
}

}  // namespace dynmeans
