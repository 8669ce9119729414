// The cost L_t that each iteration lowers (Theorem 1, Eq. 15).
//
// The distance of every point to its own center is kept: it is both the within-cluster term of L_t
// and where the next pass starts from. It is taken again only for clusters whose center moved; the
// sum of all follows by taking out what these points cost before (bins.hpp).
#pragma once

#include <algorithm>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "algorithm/marked_points.hpp"
#include "numeric/bins.hpp"
#include "numeric/squared_distance.hpp"
#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "records/remembered.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans::algorithm {

using namespace numeric;
using namespace threads;
using namespace records;

class OwnCosts {
  public:
    OwnCosts(std::size_t n_points, const Bins& bins) : bins_(bins), costs_(n_points) {}

    double operator[](std::size_t i) const { return costs_[i]; }
    double highest(std::size_t k) const { return highest_[k]; }  // over the members of slot k

    // Forgets the costs of the last run.
    void start() {
        has_costs_ = false;
        sums_.assign(bins_.n_bins(), 0.0);
        highest_.clear();
    }

    template <typename Value>
    void update(const Points<Value>& points, const Assignment& assignment, ThreadPool& pool) {
        if (!assignment.has_any_changed) return;
        assignment.follow_slots(highest_, 1);
        changed_.start(highest_.size());
        for (std::size_t k = 0; k < highest_.size(); ++k) {
            const bool is_taken = assignment.has_changed[k] || !uses(Acceleration::kMovedCosts);
            changed_.set(k, is_taken);
            if (is_taken) highest_[k] = 0.0;
        }
        parts_.resize(pool.size());
        for (Part& part : parts_) part.start(highest_.size(), points.n_features, bins_.n_bins());
        const std::size_t n_tasks = (costs_.size() + kTask - 1) / kTask;
        pool.for_blocks(n_tasks, [&](std::size_t task, std::size_t thread) {
            // Backwards: the last points are those that were summed last, and still near.
            const std::size_t begin = (n_tasks - 1 - task) * kTask;
            const BlockRange range{begin, std::min(begin + kTask, costs_.size())};
            Part& part = parts_[thread];
            const std::size_t n = changed_.list(assignment.labels.data(), range, part.list);
            update_listed(points, assignment, part.list.data(), n, part);
        });
        merge_parts();
    }

    // The within-cluster term of L_t.
    double total() const { return bins_.total(sums_.data(), 0); }

  private:
    static constexpr std::size_t kTask = 2048, kAhead = 32;  // points

    struct Part {
        std::vector<double> highest, buffer, now, before, terms_now, terms_before;
        std::vector<std::uint32_t> list;

        void start(std::size_t n_slots, std::size_t n_features, std::size_t n_bins) {
            highest.assign(n_slots, 0.0);
            buffer.resize(n_features);
            now.assign(n_bins, 0.0);
            before.assign(n_bins, 0.0);
            terms_now.resize(kTask + kSimd);
            terms_before.resize(kTask + kSimd);
        }
    };

    void merge_parts() {
        for (const Part& part : parts_) {
            for (std::size_t k = 0; k < highest_.size(); ++k)
                highest_[k] = std::max(highest_[k], part.highest[k]);
            for (std::size_t b = 0; b < sums_.size(); ++b) sums_[b] += part.now[b] - part.before[b];
        }
        has_costs_ = true;
    }

    // Of at most kTask points.
    template <typename Value>
    void update_listed(const Points<Value>& points, const Assignment& assignment,
                       const std::uint32_t* list, std::size_t n, Part& part) {
        const std::size_t ahead = look_ahead(kAhead);
        for (std::size_t r = 0; r < n; ++r) {
            if (r + ahead < n) {
                points.prefetch(list[r + ahead]);
                prefetch_to_write(&costs_[list[r + ahead]]);
            }
            const std::size_t i = list[r], k = assignment.labels[i];
            const double weight = points.weight(i);
            part.terms_before[r] = weight * costs_[i];
            costs_[i] = squared_distance(points.row(i, part.buffer.data()),
                                         assignment.table.center(k), points.n_features);
            part.terms_now[r] = weight * costs_[i];
            part.highest[k] = std::max(part.highest[k], costs_[i]);
        }
        bins_.add(part.terms_now.data(), n, part.now.data());
        if (has_costs_) bins_.add(part.terms_before.data(), n, part.before.data());
    }

    const Bins& bins_;
    bool has_costs_ = false;
    SlotMarks changed_;
    std::vector<double> costs_, highest_, sums_;
    std::vector<Part> parts_;
};

// The terms of L_t that belong to clusters: new, revival and displacement.
inline double cluster_terms(const Remembered& remembered, double new_penalty,
                            const std::int64_t* n_members, std::size_t n_slots,
                            const double* centers) {
    double total = 0.0;
    const std::size_t d = remembered.n_features;
    for (std::size_t k = 0; k < n_slots; ++k) {
        if (n_members[k] == 0) continue;
        if (k >= remembered.n_clusters) {
            total += new_penalty;
            continue;
        }
        const double moved = squared_distance(centers + k * d, remembered.center(k), d);
        total += remembered.offsets[k] + remembered.gamma[k] * moved;
    }
    return total;
}

}  // namespace dynmeans::algorithm
