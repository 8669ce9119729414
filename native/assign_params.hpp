// AssignParams: move every active cluster to its weighted mean (Eq. 12).
//
// A sum is kept from pass to pass and taken anew, over all its points and in the fixed order, only
// for clusters whose members changed: the bits are those of summing everything every time. Threads
// share blocks and clusters, never the order in which one number is added to.
#pragma once

#include <algorithm>
#include <vector>

#include "assign_labels.hpp"
#include "marked_points.hpp"
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
        forget_changed(assignment, points.n_features);
        const std::size_t n_blocks = count_blocks(points.n_points);
        const std::size_t n_parts = count_parts(n_blocks, points.n_features, pool.size());
        parts_.resize(std::max(parts_.size(), n_parts));
        lists_.resize(pool.size());
        // One wave of blocks at a time, then their parts added in the order of the blocks.
        for (std::size_t first = 0; first < n_blocks; first += n_parts) {
            const std::size_t n = std::min(n_parts, n_blocks - first);
            pool.for_blocks(n, [&](std::size_t part, std::size_t thread) {
                add_block(points, assignment, block_range(first + part, points.n_points),
                          parts_[part], lists_[thread]);
            });
            collect(n, points.n_features, pool);
        }
    }

    const std::vector<double>& counts() const { return counts_; }
    const double* sum(std::size_t k, std::size_t n_features) const {
        return sums_.data() + k * n_features;
    }

  private:
    static constexpr std::size_t kPartsBytes = 4 << 20, kCollected = 8192;

    // Sums over one block, of the changed slots only.
    struct Part {
        std::vector<double> counts, sums;
    };

    void forget_changed(const Assignment& assignment, std::size_t d) {
        const std::size_t n_slots = assignment.n_members.size();
        counts_.resize(n_slots);
        sums_.resize(n_slots * d);
        columns_.resize(n_slots);
        changed_.clear();
        for (std::size_t k = 0; k < n_slots; ++k) {
            if (!assignment.has_changed[k]) continue;
            columns_[k] = changed_.size();
            changed_.push_back(k);
            counts_[k] = 0.0;
            std::fill_n(sums_.begin() + k * d, d, 0.0);
        }
    }

    // Blocks summed at a time: all, if their sums stay near; alone there is no one to wait for.
    std::size_t count_parts(std::size_t n_blocks, std::size_t d, std::size_t n_threads) const {
        if (n_threads == 1) return 1;
        const std::size_t n_bytes = (d + 1) * changed_.size() * sizeof(double);
        return std::min(n_blocks,
                        std::max(n_threads, kPartsBytes / std::max<std::size_t>(n_bytes, 1)));
    }

    template <typename Value>
    void add_block(const Points<Value>& points, const Assignment& assignment, BlockRange range,
                   Part& part, std::vector<std::uint32_t>& list) const {
        const std::size_t d = points.n_features;
        part.counts.assign(changed_.size(), 0.0);
        part.sums.assign(changed_.size() * d, 0.0);
        const std::size_t n = list_marked(assignment.labels, range, assignment.has_changed, list);
        for (std::size_t r = 0; r < n; ++r) {
            const std::size_t i = list[r], c = columns_[assignment.labels[i]];
            const double weight = points.weight(i);
            const Value* y = points.values + i * d;
            double* sum = part.sums.data() + c * d;
            part.counts[c] += weight;
            for (std::size_t j = 0; j < d; ++j) sum[j] += weight * static_cast<double>(y[j]);
        }
    }

    // Each slot by itself, so any thread may.
    void collect(std::size_t n_parts, std::size_t d, ThreadPool& pool) {
        const std::size_t n_changed = changed_.size();
        const std::size_t n_ranges =
            std::min(pool.size(), 1 + n_parts * n_changed * d / kCollected);
        pool.for_blocks(n_ranges, [&](std::size_t range, std::size_t) {
            const std::size_t end = n_changed * (range + 1) / n_ranges;
            for (std::size_t c = n_changed * range / n_ranges; c < end; ++c) {
                double* sum = sums_.data() + changed_[c] * d;
                for (std::size_t part = 0; part < n_parts; ++part) {
                    counts_[changed_[c]] += parts_[part].counts[c];
                    const double* added = parts_[part].sums.data() + c * d;
                    for (std::size_t j = 0; j < d; ++j) sum[j] += added[j];
                }
            }
        });
    }

    std::vector<double> counts_, sums_;
    std::vector<std::size_t> changed_, columns_;  // the changed slots, and their places in parts
    std::vector<Part> parts_;
    std::vector<std::vector<std::uint32_t>> lists_;  // one for each thread
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
