// AssignParams: move every active cluster to its weighted mean (Eq. 12).
#pragma once

#include <algorithm>
#include <vector>

#include "assign_labels.hpp"
#include "memory.hpp"
#include "points.hpp"
#include "sums.hpp"

namespace dynmeans {

// n_kt, and n_kt * m_kt, of every slot.
class SlotSums {
  public:
    void compute(const Points& points, const std::vector<Slot>& labels, std::size_t n_slots) {
        const std::size_t d = points.n_features;
        counts_.assign(n_slots, 0.0);
        sums_.assign(n_slots * d, 0.0);
        for (std::size_t begin = 0; begin < points.n_points; begin += kBlock) {
            const std::size_t end = std::min(begin + kBlock, points.n_points);
            block_counts_.assign(n_slots, 0.0);
            block_sums_.assign(n_slots * d, 0.0);
            for (std::size_t i = begin; i < end; ++i)
                if (labels[i] != kUnlabelled) add_point(points, i, labels[i]);
            for (std::size_t k = 0; k < n_slots; ++k) counts_[k] += block_counts_[k];
            for (std::size_t j = 0; j < n_slots * d; ++j) sums_[j] += block_sums_[j];
        }
    }

    const std::vector<double>& counts() const { return counts_; }
    const double* sum(std::size_t k, std::size_t n_features) const {
        return sums_.data() + k * n_features;
    }

  private:
    void add_point(const Points& points, std::size_t i, Slot k) {
        const double weight = points.weight(i);
        const double* y = points.row(i);
        double* sum = block_sums_.data() + k * points.n_features;
        block_counts_[k] += weight;
        for (std::size_t j = 0; j < points.n_features; ++j) sum[j] += weight * y[j];
    }

    std::vector<double> counts_, sums_, block_counts_, block_sums_;
};

inline void assign_params(const Points& points, const Memory& memory, SlotSums& slot_sums,
                          Assignment& assignment) {
    const std::size_t d = points.n_features, n_slots = assignment.n_members.size();
    slot_sums.compute(points, assignment.labels, n_slots);
    std::vector<double> theta(d);
    for (std::size_t k = 0; k < n_slots; ++k) {
        if (assignment.n_members[k] == 0) continue;
        const double n = slot_sums.counts()[k];
        const double* sum = slot_sums.sum(k, d);
        const bool is_new = k >= memory.n_clusters;
        const double gamma = is_new ? 0.0 : memory.gamma[k];
        for (std::size_t j = 0; j < d; ++j) {
            const double prior = is_new ? 0.0 : memory.center(k)[j] * gamma;
            theta[j] = (prior + sum[j]) / (gamma + n);
        }
        assignment.table.set(k, theta.data(), 0.0, 1.0);
    }
    assignment.table.shrink(n_slots);
}

}  // namespace dynmeans
