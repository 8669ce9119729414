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
        parts_.resize(n_parts);
        // One wave of blocks at a time, then their parts added in the order of the blocks.
        for (std::size_t first = 0; first < n_blocks; first += n_parts) {
            const std::size_t n = std::min(n_parts, n_blocks - first);
            pool.for_blocks(n, [&](std::size_t part, std::size_t) {
                parts_[part].add_block(points, assignment,
                                       block_range(first + part, points.n_points));
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

        template <typename Value>
        void add_block(const Points<Value>& points, const Assignment& assignment,
                       BlockRange range) {
            const std::size_t d = points.n_features, n_slots = assignment.n_members.size();
            counts.assign(n_slots, 0.0);
            sums.assign(n_slots * d, 0.0);
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
    };

    void collect(const Part& part, const Assignment& assignment, std::size_t d) {
        for (std::size_t k = 0; k < counts_.size(); ++k) {
            if (!assignment.has_changed[k]) continue;
            counts_[k] += part.counts[k];
            for (std::size_t j = k * d; j < (k + 1) * d; ++j) sums_[j] += part.sums[j];
        }
    }

    std::vector<double> counts_, sums_;
    std::vector<Part> parts_;
};

template <typename Value>
void assign_params(const Points<Value>& points, const Memory& memory, ThreadPool& pool,
                   SlotSums& slot_sums, Assignment& assignment) {
    const std::size_t d = points.n_features, n_slots = assignment.n_members.size();
    slot_sums.update(points, assignment, pool);
    std::vector<double> theta(d);
    for (std::size_t k = 0; k < n_slots; ++k) {
        if (assignment.n_members[k] == 0 || !assignment.has_changed[k]) continue;
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
