// The cost L_t that each iteration lowers (Theorem 1, Eq. 15).
//
// The distance of every point to its own center is kept: it is both the spread term of L_t and
// where the next pass starts from. It is taken anew only for clusters whose center moved.
#pragma once

#include <algorithm>
#include <vector>

#include "assign_labels.hpp"
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
        const std::size_t n_slots = assignment.n_members.size();
        highest_.resize(n_slots);
        for (std::size_t k = 0; k < n_slots; ++k)
            if (assignment.has_changed[k]) highest_[k] = 0.0;
        parts_.resize(pool.size());
        for (Part& part : parts_) {
            part.highest.assign(n_slots, 0.0);
            part.buffer.resize(points.n_features);
        }
        pool.for_blocks(spreads_.size(), [&](std::size_t block, std::size_t thread) {
            const BlockRange range = block_range(block, points.n_points);
            spreads_[block] = update_block(points, assignment, range, parts_[thread]);
        });
        for (const Part& part : parts_)
            for (std::size_t k = 0; k < n_slots; ++k)
                highest_[k] = std::max(highest_[k], part.highest[k]);
    }

    double spread() const {
        double total = 0.0;
        for (const double partial : spreads_) total += partial;
        return total;
    }

  private:
    struct Part {
        std::vector<double> highest, buffer;
    };

    template <typename Value>
    double update_block(const Points<Value>& points, const Assignment& assignment, BlockRange range,
                        Part& part) {
        double spread = 0.0;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const Slot k = assignment.labels[i];
            if (k == kUnlabelled) continue;
            if (assignment.has_changed[k]) {
                costs_[i] = squared_distance(points.row(i, part.buffer.data()),
                                             assignment.table.center(k), points.n_features);
                part.highest[k] = std::max(part.highest[k], costs_[i]);
            }
            spread += points.weight(i) * costs_[i];
        }
        return spread;
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
