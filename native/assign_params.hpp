// AssignParams: move every active cluster to its weighted mean (Eq. 12).
//
// A sum is kept from pass to pass and taken anew, over all its points and in the fixed order, only
// for clusters whose members changed: the bits are those of summing everything every time.
#pragma once

#include <algorithm>
#include <vector>

#include "assign_labels.hpp"
#include "memory.hpp"
#include "points.hpp"
#include "sums.hpp"
#include "thread_pool.hpp"

namespace dynmeans {

// n_kt, and n_kt * m_kt, of every slot.
class SlotSums {
  public:
    // Forgets the sums of the last run.
    void start() {
        counts_.clear();
        sums_.clear();
    }

    template <typename Value>
    void update(const Points<Value>& points, const Assignment& assignment, ThreadPool& pool) {
        const std::size_t d = points.n_features, n_slots = assignment.n_members.size();
        counts_.resize(n_slots);
        sums_.resize(n_slots * d);
        for (std::size_t k = 0; k < n_slots; ++k) {
            if (!assignment.has_changed[k]) continue;
            counts_[k] = 0.0;
            std::fill_n(sums_.begin() + k * d, d, 0.0);
        }
        const std::size_t n_blocks = count_blocks(points.n_points), n_parts = pool.size();
        if (n_blocks == 1) {  // 0 + x is x: no need to go by way of a part
            add_block(points, assignment, {0, points.n_points}, counts_, sums_, buffer_);
            return;
        }
        parts_.resize(n_parts);
        // One wave of blocks at a time, then their parts added in the order of the blocks.
        for (std::size_t first = 0; first < n_blocks; first += n_parts) {
            const std::size_t n = std::min(n_parts, n_blocks - first);
            pool.for_blocks(n, [&](std::size_t part, std::size_t) {
                Part& into = parts_[part];
                into.counts.assign(n_slots, 0.0);
                into.sums.assign(n_slots * d, 0.0);
                add_block(points, assignment, block_range(first + part, points.n_points),
                          into.counts, into.sums, into.buffer);
            });
            for (std::size_t part = 0; part < n; ++part) collect(parts_[part], assignment, d);
        }
    }

    const std::vector<double>& counts() const { return counts_; }
    const double* sum(std::size_t k, std::size_t n_features) const {
        return sums_.data() + k * n_features;
    }

  private:
    struct Part {
        std::vector<double> counts, sums, buffer;
    };

    template <typename Value>
    static void add_block(const Points<Value>& points, const Assignment& assignment,
                          BlockRange range, std::vector<double>& counts, std::vector<double>& sums,
                          std::vector<double>& buffer) {
        const std::size_t d = points.n_features;
        buffer.resize(d);
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const Slot k = assignment.labels[i];
            if (k == kUnlabelled || !assignment.has_changed[k]) continue;
            const double weight = points.weight(i);
            const double* y = points.row(i, buffer.data());
            double* sum = sums.data() + k * d;
            counts[k] += weight;
            for (std::size_t j = 0; j < d; ++j) sum[j] += weight * y[j];
        }
    }

    void collect(const Part& part, const Assignment& assignment, std::size_t d) {
        for (std::size_t k = 0; k < counts_.size(); ++k) {
            if (!assignment.has_changed[k]) continue;
            counts_[k] += part.counts[k];
            for (std::size_t j = k * d; j < (k + 1) * d; ++j) sums_[j] += part.sums[j];
        }
    }

    std::vector<double> counts_, sums_, buffer_;
    std::vector<Part> parts_;
};

// theta = (gamma theta_old + n m) / (gamma + n), from n and n m; m for a new cluster.
inline void move_center(std::size_t k, double n, const double* sum, const Memory& memory,
                        CostTable& table) {
    const bool is_new = k >= memory.n_clusters;
    const double gamma = is_new ? 0.0 : memory.gamma[k];
    double* theta = table.center(k);
    for (std::size_t j = 0; j < memory.n_features; ++j) {
        const double prior = is_new ? 0.0 : memory.center(k)[j] * gamma;
        theta[j] = (prior + sum[j]) / (gamma + n);
    }
    table.set(k, theta, 0.0, 1.0);
}

template <typename Value>
void assign_params(const Points<Value>& points, const Memory& memory, ThreadPool& pool,
                   SlotSums& slot_sums, Assignment& assignment) {
    const std::size_t d = points.n_features, n_slots = assignment.n_members.size();
    slot_sums.update(points, assignment, pool);
    for (std::size_t k = 0; k < n_slots; ++k)
        if (assignment.n_members[k] > 0 && assignment.has_changed[k])
            move_center(k, slot_sums.counts()[k], slot_sums.sum(k, d), memory, assignment.table);
    assignment.table.shrink(n_slots);
}

}  // namespace dynmeans
