// Who may move, by Elkan bounds and own costs: the distance of every point to its own center is
// kept, and taken again where that center moved. For many features, where every cluster is near
// every other: a point with many rivals asks the filter through BLAS.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "algorithm/slot_mask.hpp"
#include "numeric/squared_distance.hpp"
#include "passes/center_bounds.hpp"
#include "passes/preferences.hpp"
#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "search/blas_filter.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans {

template <typename Value>
class CachedDistances {
  public:
    CachedDistances(const Points<Value>& points, double new_penalty, Sgemm sgemm, ThreadPool& pool)
        : points_(points),
          new_penalty_(new_penalty),
          pool_(pool),
          neighbors_(points.n_features),
          filter_(sgemm, points.n_features),
          lists_(pool.size()),
          of_filter_(pool.size()) {}

    double highest(std::size_t k) const { return highest_[k]; }  // over the members of slot k
    std::size_t n_slots() const { return neighbors_.n_slots(); }

    // Forgets the costs of the last run.
    void start() {
        highest_.clear();
        is_whole_ = true;
    }

    // Gives the memory back; start() comes next.
    void release() { std::vector<double>().swap(costs_); }

    // Centers have moved.
    void follow(const Assignment& assignment) {
        if (!assignment.has_any_changed) return;
        costs_.resize(points_.n_points);
        assignment.follow_slots(highest_, 1);
        marks_.start(highest_.size());
        for (std::size_t k = 0; k < highest_.size(); ++k) {
            const bool is_taken = is_whole_ || assignment.has_changed[k] ||
                                  !is_enabled<acceleration("updated_distances")>();
            marks_.set(k, is_taken);
            if (is_taken) highest_[k] = 0.0;
        }
        highest_of_threads_.resize(pool_.size());
        for (std::vector<double>& highest : highest_of_threads_)
            highest.assign(highest_.size(), 0.0);
        const std::size_t n_tasks = (costs_.size() + kTask - 1) / kTask;
        pool_.for_blocks(n_tasks, [&](std::size_t task, std::size_t thread) {
            // Backwards: the last points are those that were summed last, and still near.
            const std::size_t begin = (n_tasks - 1 - task) * kTask;
            const BlockRange range{begin, std::min(begin + kTask, costs_.size())};
            const std::size_t n = marks_.list(assignment.labels.data(), range, lists_[thread]);
            update_listed(assignment, lists_[thread].data(), n, highest_of_threads_[thread]);
        });
        is_whole_ = false;
        for (const std::vector<double>& highest : highest_of_threads_)
            for (std::size_t k = 0; k < highest_.size(); ++k)
                highest_[k] = std::max(highest_[k], highest[k]);
    }

    // `has_moved` marks the slots that are not as they were at the start of the last pass.
    void find(const std::vector<std::uint8_t>& has_moved, const Assignment& assignment,
              std::vector<Preference>& preferences) {
        neighbors_.update(assignment, has_moved, *this, new_penalty_, points_.n_features, pool_);
        find_bounds(assignment);
        const std::size_t most_rivals = prepare_filter(assignment);
        found_.resize(count_blocks(points_.n_points));
        pool_.for_blocks(found_.size(), [&](std::size_t block, std::size_t thread) {
            std::vector<Preference>& found = found_[block];
            found.clear();
            std::vector<std::uint32_t>& list = lists_[thread];
            std::vector<double> buffer(points_.n_features);
            const BlockRange range = block_range(block, points_.n_points);
            const std::size_t n = list_restless(assignment, range, list);
            std::size_t n_filtered = 0;
            for (std::size_t r = 0; r < n; ++r) {
                const std::size_t i = list[r];
                const Slot a = assignment.labels[i];
                if (neighbors_.count_rivals(a, costs_[i]) > most_rivals) {
                    list[n_filtered++] = list[r];
                    continue;
                }
                const double* y = points_.row(i, buffer.data());
                const std::size_t best =
                    neighbors_.cheapest(y, a, costs_[i], new_penalty_, assignment.table);
                if (best != static_cast<std::size_t>(a))
                    found.push_back({static_cast<std::int32_t>(i), to_preference(best)});
            }
            find_filtered(assignment, list.data(), n_filtered, of_filter_[thread], found);
        });
        filter_.learn(of_filter_);
        join_lists(found_, preferences);
    }

    // Calls ask(point, row, own cost, list) for members of some slots that cost enough there.
    template <typename Ask>
    void for_members(const std::vector<NearSlot>& near, const Assignment& assignment,
                     const Ask& ask, std::vector<Preference>& asked) {
        marks_.start(assignment.n_members.size());
        kept_.resize(assignment.n_members.size());
        for (const NearSlot& one : near) {
            marks_.set(one.slot, true);
            kept_[one.slot] = one.kept;
        }
        found_.resize(near.empty() ? 0 : count_blocks(points_.n_points));
        pool_.for_blocks(found_.size(), [&](std::size_t block, std::size_t thread) {
            std::vector<Preference>& found = found_[block];
            found.clear();
            std::vector<std::uint32_t>& list = lists_[thread];
            std::vector<double> buffer(points_.n_features);
            const BlockRange range = block_range(block, points_.n_points);
            const std::size_t n = marks_.list(assignment.labels.data(), range, list);
            for (std::size_t r = 0; r < n; ++r) {
                const std::size_t i = list[r];
                if (costs_[i] < kept_[assignment.labels[i]]) continue;
                ask(i, points_.row(i, buffer.data()), costs_[i], found);
            }
        });
        join_lists(found_, asked);
    }

  private:
    static constexpr std::size_t kTask = 2048;                         // points
    static constexpr std::size_t kFilterSlots = 64, kFilterShare = 8;  // slots, for one rival

    // Returns how many rivals a point looks at one by one; more are left to the filter.
    std::size_t prepare_filter(const Assignment& assignment) {
        const std::size_t most = assignment.n_members.size() / kFilterShare;
        if (!is_enabled<acceleration("filter")>() || !filter_.is_available() ||
            assignment.n_members.size() < kFilterSlots || neighbors_.most_rivals() <= most)
            return assignment.n_members.size();
        filter_.prepare(assignment.table, new_penalty_);
        if (!has_learned_) learn_features(assignment, most);
        return most;
    }

    // Lets a sample of the points show how many features tell the slots apart: after a whole pass
    // the filter would learn it too late.
    void learn_features(const Assignment& assignment, std::size_t most_rivals) {
        has_learned_ = true;
        const std::size_t step = 1 + points_.n_points / BlasFilter::kRows;
        std::vector<std::uint32_t> sample;
        for (std::size_t i = 0; i < points_.n_points; i += step)
            if (assignment.labels[i] != kUnlabeled &&
                neighbors_.count_rivals(assignment.labels[i], costs_[i]) > most_rivals)
                sample.push_back(static_cast<std::uint32_t>(i));
        Choice choices[BlasFilter::kRows];
        for (std::size_t before = 0; !sample.empty() && filter_.n_used() != before;) {
            if (before > 0) filter_.prepare(assignment.table, new_penalty_);
            before = filter_.n_used();
            filter_.find(points_, sample.data(), 0, sample.size(), assignment.table, of_filter_[0],
                         choices);
            filter_.learn(of_filter_);
        }
    }

    void find_filtered(const Assignment& assignment, const std::uint32_t* list, std::size_t n,
                       BlasFilter::Scratch& scratch, std::vector<Preference>& found) const {
        Choice choices[BlasFilter::kRows];
        for (std::size_t begin = 0; begin < n; begin += BlasFilter::kRows) {
            const std::size_t end = std::min(begin + BlasFilter::kRows, n);
            filter_.find(points_, list, begin, end, assignment.table, scratch, choices);
            for (std::size_t r = begin; r < end; ++r)
                if (choices[r - begin].slot != static_cast<std::size_t>(assignment.labels[list[r]]))
                    found.push_back({static_cast<std::int32_t>(list[r]),
                                     to_preference(choices[r - begin].slot)});
        }
    }

    // Of at most kTask points.
    void update_listed(const Assignment& assignment, const std::uint32_t* list, std::size_t n,
                       std::vector<double>& highest) {
        std::vector<double> buffer(points_.n_features);
        for (std::size_t r = 0; r < n; ++r) {
            const std::size_t i = list[r], k = assignment.labels[i];
            costs_[i] = squared_distance(points_.row(i, buffer.data()), assignment.table.center(k),
                                         points_.n_features);
            highest[k] = std::max(highest[k], costs_[i]);
        }
    }

    // Which own costs are too low for any member to leave, after that of points without a label.
    void find_bounds(const Assignment& assignment) {
        constexpr double kNever = std::numeric_limits<double>::infinity();
        bounds_.assign(assignment.n_members.size() + 1, kNever);
        for (std::size_t k = 0; k < assignment.n_members.size(); ++k)
            if (assignment.n_members[k] > 0) bounds_[k + 1] = neighbors_.keeping_cost_of(k);
    }

    // Without a branch, as in slot_mask.hpp.
    std::size_t list_restless(const Assignment& assignment, BlockRange range,
                              std::vector<std::uint32_t>& list) const {
        list.resize(std::max(list.size(), range.end - range.begin + 1));
        const double *bounds = bounds_.data() + 1, *costs = costs_.data();
        const Slot* labels = assignment.labels.data();
        std::uint32_t* next = list.data();
        for (std::size_t i = range.begin; i < range.end; ++i) {
            *next = static_cast<std::uint32_t>(i);
            next += !(costs[i] < bounds[labels[i]]);
        }
        return static_cast<std::size_t>(next - list.data());
    }

    const Points<Value>& points_;
    double new_penalty_;
    ThreadPool& pool_;
    CenterBounds neighbors_;
    BlasFilter filter_;
    SlotMask marks_;
    bool has_learned_ = false;                       // how many features the filter takes
    bool is_whole_ = true;                           // no cost is known
    std::vector<std::vector<std::uint32_t>> lists_;  // one for each thread
    std::vector<BlasFilter::Scratch> of_filter_;     // the same
    std::vector<std::vector<Preference>> found_;
    std::vector<double> costs_, highest_, kept_, bounds_;
    std::vector<std::vector<double>> highest_of_threads_;
};

}  // namespace dynmeans
