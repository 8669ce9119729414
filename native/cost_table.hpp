// What a point compares: the cost J = offset + scale * |y - center|^2 of every slot. An active
// cluster has offset 0 and scale 1, which changes no bit of its distance; a closed slot has an
// infinite offset and never wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "squared_distance.hpp"

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
        : n_features_(n_features), by_feature_(n_features <= kMaxByFeature) {
        reserve(capacity);
    }

    std::size_t size() const { return size_; }
    double* center(std::size_t k) { return rows_.data() + k * n_features_; }
    const double* center(std::size_t k) const { return rows_.data() + k * n_features_; }

    std::size_t append() {
        if (size_ == capacity_) reserve(2 * capacity_);
        return size_++;
    }

    void set(std::size_t k, const double* center_k, double offset, double scale) {
        double* row = center(k);
        if (row != center_k) std::copy(center_k, center_k + n_features_, row);
        if (by_feature_)
            for (std::size_t j = 0; j < n_features_; ++j) columns_[j * capacity_ + k] = row[j];
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
        switch (by_feature_ ? n_features_ : 0) {
            case 1:
                return cheapest_by_feature<1>(y, limit);
            case 2:
                return cheapest_by_feature<2>(y, limit);
            case 3:
                return cheapest_by_feature<3>(y, limit);
            case 4:
                return cheapest_by_feature<4>(y, limit);
            default:
                return cheapest_by_row(y, limit, hint);
        }
    }

  private:
    static constexpr std::size_t kMaxByFeature = 4;
    static constexpr std::size_t kWidth = 16;  // slots compared side by side
    static constexpr std::size_t kChunk = 64;  // features between two looks at the limit

    void reserve(std::size_t capacity) {
        capacity = (capacity / kWidth + 1) * kWidth;
        rows_.resize(capacity * n_features_);
        offsets_.resize(capacity, kNever);
        scales_.resize(capacity, 1.0);
        if (by_feature_) {
            columns_.assign(capacity * n_features_, 0.0);
            for (std::size_t k = 0; k < size_; ++k)
                for (std::size_t j = 0; j < n_features_; ++j)
                    columns_[j * capacity + k] = center(k)[j];
        }
        capacity_ = capacity;
    }

    // Few features: sixteen slots side by side, each lane keeping its first lowest.
    template <std::size_t D>
    Choice cheapest_by_feature(const double* y, double limit) const {
        double best[kWidth];
        std::int64_t base_of_best[kWidth];
        for (std::size_t lane = 0; lane < kWidth; ++lane) {
            best[lane] = kNever;
            base_of_best[lane] = 0;
        }
        for (std::size_t base = 0; base < size_; base += kWidth) {
            for (std::size_t lane = 0; lane < kWidth; ++lane) {
                double squares[4] = {};
                for (std::size_t j = 0; j < D; ++j) {
                    const double difference = y[j] - columns_[j * capacity_ + base + lane];
                    squares[j] = difference * difference;
                }
                const double distance = (squares[0] + squares[2]) + (squares[1] + squares[3]);
                const double cost = offsets_[base + lane] + scales_[base + lane] * distance;
                const bool lower = cost < best[lane];
                best[lane] = lower ? cost : best[lane];
                base_of_best[lane] = lower ? static_cast<std::int64_t>(base) : base_of_best[lane];
            }
        }
        Choice choice{kNone, limit};
        for (std::size_t lane = 0; lane < kWidth; ++lane)
            consider(choice, static_cast<std::size_t>(base_of_best[lane]) + lane, best[lane]);
        return choice;
    }

    // Many features: one slot at a time, dropped as soon as its partial cost is too high.
    Choice cheapest_by_row(const double* y, double limit, std::size_t hint) const {
        Choice choice{kNone, limit};
        if (hint < size_) compare_row(y, hint, choice);
        for (std::size_t k = 0; k < size_; ++k)
            if (k != hint) compare_row(y, k, choice);
        return choice;
    }

    void compare_row(const double* y, std::size_t k, Choice& choice) const {
        if (offsets_[k] > choice.cost) return;
        LaneSums sums;
        double cost = kNever;
        for (std::size_t j = 0; j < n_features_; j += kChunk) {
            sums.add(y, center(k), j, std::min(j + kChunk, n_features_));
            cost = offsets_[k] + scales_[k] * sums.total();
            if (cost > choice.cost) return;
        }
        consider(choice, k, cost);
    }

    static void consider(Choice& choice, std::size_t k, double cost) {
        if (cost < choice.cost || (cost == choice.cost && k < choice.slot)) choice = {k, cost};
    }

    std::size_t n_features_;
    bool by_feature_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::vector<double> rows_;     // (capacity, n_features)
    std::vector<double> columns_;  // (n_features, capacity), for few features
    std::vector<double> offsets_;
    std::vector<double> scales_;
};

}  // namespace dynmeans
