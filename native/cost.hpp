// The cost L_t that each iteration lowers (Theorem 1, Eq. 15).
//
// The distance of every point to its own center is kept: it is both the spread term of L_t and
// where the next pass starts from. It is taken anew only for clusters whose center moved.
#pragma once

#include <algorithm>
#include <vector>

#include "assign_labels.hpp"
#include "marked_points.hpp"
#include "memory.hpp"
#include "points.hpp"
#include "squared_distance.hpp"
#include "sums.hpp"
#include "thread_pool.hpp"

namespace dynmeans {

class OwnCosts {
  public:
    explicit OwnCosts(std::size_t n_points) : costs_(n_points), spreads_(count_blocks(n_points)) {}

    double operator[](std::size_t i) const { return costs_[i]; }
    double highest(std::size_t k) const { return highest_[k]; }  // over the members of slot k

    template <typename Value>
    void update(const Points<Value>& points, const Assignment& assignment, ThreadPool& pool) {
        if (!assignment.has_any_changed) return;
        const std::size_t n_slots = assignment.n_members.size();
        highest_.resize(n_slots);
        for (std::size_t k = 0; k < n_slots; ++k)
            if (assignment.has_changed[k]) highest_[k] = 0.0;
        parts_.resize(pool.size());
        for (Part& part : parts_) {
            part.highest.assign(n_slots, 0.0);
            part.buffer.resize(points.n_features);
        }
        const std::size_t n_tasks = (costs_.size() + kTask - 1) / kTask;
        pool.for_blocks(n_tasks, [&](std::size_t task, std::size_t thread) {
            // Backwards: the last points are those that were summed last, and still near.
            const std::size_t begin = (n_tasks - 1 - task) * kTask;
            const BlockRange range{begin, std::min(begin + kTask, costs_.size())};
            update_changed(points, assignment, range, parts_[thread]);
        });
        for (const Part& part : parts_)
            for (std::size_t k = 0; k < n_slots; ++k)
                highest_[k] = std::max(highest_[k], part.highest[k]);
        pool.for_blocks((spreads_.size() + kTogether - 1) / kTogether,
                        [&](std::size_t group, std::size_t) { sum_spreads(points, group); });
    }

    double spread() const {
        double total = 0.0;
        for (const double partial : spreads_) total += partial;
        return total;
    }

  private:
    static constexpr std::size_t kTask = 2048;   // points; less than a block, for few blocks
    static constexpr std::size_t kTogether = 4;  // blocks

    struct Part {
        std::vector<double> highest, buffer;
        std::vector<std::uint32_t> list;
    };

    template <typename Value>
    void update_changed(const Points<Value>& points, const Assignment& assignment, BlockRange range,
                        Part& part) {
        const std::size_t n =
            list_marked(assignment.labels, range, assignment.has_changed, part.list);
        for (std::size_t r = 0; r < n; ++r) {
            const std::size_t i = part.list[r], k = assignment.labels[i];
            costs_[i] = squared_distance(points.row(i, part.buffer.data()),
                                         assignment.table.center(k), points.n_features);
            part.highest[k] = std::max(part.highest[k], costs_[i]);
        }
    }

    // Several blocks side by side: within one, each addition has to wait for the one before. Points
    // without a label have no cost, and adding 0 changes nothing.
    template <typename Value>
    void sum_spreads(const Points<Value>& points, std::size_t group) {
        const std::size_t first = group * kTogether;
        const std::size_t n = std::min(kTogether, spreads_.size() - first);
        const bool are_full = n == kTogether && (first + n) * kBlock <= costs_.size();
        if (are_full) {
            double sums[kTogether] = {};
            for (std::size_t i = 0; i < kBlock; ++i)
                for (std::size_t b = 0; b < kTogether; ++b) {
                    const std::size_t at = (first + b) * kBlock + i;
                    sums[b] += points.weight(at) * costs_[at];
                }
            std::copy_n(sums, kTogether, spreads_.begin() + first);
            return;
        }
        for (std::size_t block = first; block < first + n; ++block) {
            const BlockRange range = block_range(block, costs_.size());
            double sum = 0.0;
            for (std::size_t i = range.begin; i < range.end; ++i)
                sum += points.weight(i) * costs_[i];
            spreads_[block] = sum;
        }
    }

    std::vector<double> costs_, highest_, spreads_;
    std::vector<Part> parts_;
};

// The terms of L_t that belong to clusters: new, revival and displacement.
inline double cluster_terms(const Memory& memory, const Penalties& penalties,
                            const Assignment& assignment) {
    OrderedSum terms;
    for (std::size_t k = 0; k < assignment.n_members.size(); ++k) {
        if (assignment.n_members[k] == 0) continue;
        if (k >= memory.n_clusters) {
            terms.add(penalties.new_penalty);
            continue;
        }
        const double moved =
            squared_distance(assignment.table.center(k), memory.center(k), memory.n_features);
        terms.add(memory.offsets[k] + memory.gamma[k] * moved);
    }
    return terms.total();
}

}  // namespace dynmeans
