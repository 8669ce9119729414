// Algorithm 2, Cluster (Lloyd iterations): alternate labels and parameters until the cost stops
// falling.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "algorithm/assign_params.hpp"
#include "algorithm/cost.hpp"
#include "moves/set_moves.hpp"
#include "passes/first_pass.hpp"
#include "passes/following_pass.hpp"
#include "passes/later_pass.hpp"
#include "records/solution.hpp"

namespace dynmeans {

// What the caller chooses about the way, never about the result.
struct Execution {
    bool is_accelerated;
    Sgemm sgemm;
};

template <typename Value>
class Clusterer {
  public:
    Clusterer(const Points<Value>& points, const Remembered& remembered, const Penalties& penalties,
              const Execution& execution, const BatchSums& sums, ThreadPool& pool)
        : points_(points),
          remembered_(remembered),
          penalties_(penalties),
          pool_(pool),
          is_accelerated_(execution.is_accelerated),
          sums_(sums),
          assignment_(points.n_points, remembered),
          slot_sums_(sums) {
        if (remembered.is_on_sphere)
            following_pass_.emplace(points, remembered, penalties.new_penalty,
                                    is_accelerated_ ? execution.sgemm : nullptr, pool.interrupts());
        if (!is_accelerated_) return;
        first_pass_.emplace(points, remembered, penalties.new_penalty, execution.sgemm, pool);
        later_pass_.emplace(points, remembered, penalties.new_penalty, execution.sgemm, pool);
    }

    // Runs from nothing in the given order; the result replaces `best` if it is cheaper.
    void run(const Row* order, Solution& best) {
        make_passes(order, kNoLimit);
        if (has_risen(cost_trace_)) make_passes(order, cost_trace_.size() - 1);
        if (is_better(cost_trace_, best)) store(best);
    }

    // Moves of whole sets and passes, in turn, from the best run on.
    void run_deep_search(const Row* order, int depth, Solution& best) {
        const auto continue_best = [&](const Solution& start, std::size_t n_kept,
                                       std::size_t most) {
            const std::vector<double> kept(best.cost_trace.begin(),
                                           best.cost_trace.begin() + n_kept);
            pool_.interrupts().check();
            continue_from(start, kept, order, most);
            if (!has_fallen(cost_trace_[n_kept], kept.back())) return false;
            if (has_risen(cost_trace_)) continue_from(start, kept, order, cost_trace_.size() - 1);
            store(best);
            return true;
        };
        SetMoves<Value> moves;
        moves.run_deep_search(points_, remembered_, penalties_.new_penalty, sums_, order, depth,
                              best, continue_best);
    }

  private:
    void make_passes(const Row* order, std::size_t most) {
        assignment_.start(remembered_);
        slot_sums_.start();
        if (later_pass_) later_pass_->start(order);
        counts_.clear();
        within_.clear();
        cost_trace_.clear();
        pass_until_converged(order, most);
    }

    void continue_from(const Solution& start, const std::vector<double>& cost_trace,
                       const Row* order, std::size_t most) {
        assignment_.start_from(start.labels, start.n_members, remembered_);
        slot_sums_.start_from(start.bins);
        if (later_pass_) later_pass_->start(order);
        counts_.clear();
        within_.clear();
        cost_trace_ = cost_trace;
        if (!settle(most)) pass_until_converged(order, most);
    }

    void pass_until_converged(const Row* order, std::size_t most) {
        do {
            pool_.interrupts().check();
            make_pass(order);
            assignment_.compact_slots(remembered_.n_clusters);
        } while (!settle(most));
    }

    // Parameters and cost for the labels as they are; true if that was the last pass.
    bool settle(std::size_t most) {
        assign_params(points_, remembered_, pool_, slot_sums_, assignment_, counts_, within_);
        if (later_pass_) later_pass_->follow(assignment_);
        const double cost =
            cluster_terms(remembered_, penalties_.new_penalty, assignment_.n_members.data(),
                          assignment_.n_members.size(), assignment_.table.center(0)) +
            rounded_sum(within_.data(), within_.size(), 1);
        const bool fell = cost_trace_.empty() || has_fallen(cost, cost_trace_.back());
        cost_trace_.push_back(cost);
        return !fell || !assignment_.has_any_changed || cost_trace_.size() == most;
    }

    void make_pass(const Row* order) {
        has_moved_ = assignment_.has_changed;
        if (!is_enabled<acceleration("updated_rivals")>()) has_moved_.assign(has_moved_.size(), 1);
        const std::size_t n_moved = assignment_.moves.size();
        assignment_.start_pass();
        if (following_pass_ && cost_trace_.empty()) {
            following_pass_->run(order, assignment_);
        } else if (!is_accelerated_ ||
                   !(cost_trace_.empty() || is_enabled<acceleration("bounds")>()))
            assign_labels(points_, order, 0, remembered_, penalties_.new_penalty,
                          pool_.interrupts(), assignment_);
        else if (cost_trace_.empty()) {
            first_pass_->run(order, assignment_);
            later_pass_->start_from_first(assignment_);
        } else
            later_pass_->run(has_moved_, n_moved, assignment_);
    }

    void store(Solution& best) {
        best.labels.swap(assignment_.labels);
        best.counts.swap(counts_);
        best.centers.assign(assignment_.table.center(0),
                            assignment_.table.center(assignment_.table.size()));
        best.cost_trace = cost_trace_;
        best.n_members = assignment_.n_members;
        slot_sums_.give(best.bins);
    }

    const Points<Value>& points_;
    const Remembered& remembered_;
    const Penalties& penalties_;
    ThreadPool& pool_;
    bool is_accelerated_;
    const BatchSums& sums_;
    Assignment assignment_;
    SlotSums slot_sums_;
    std::optional<FirstPass<Value>> first_pass_;
    std::optional<FollowingPass<Value>> following_pass_;  // in its place, on the sphere
    std::optional<LaterPass<Value>> later_pass_;          // where anything is accelerated
    std::vector<double> counts_, within_, cost_trace_;
    std::vector<std::uint8_t> has_moved_;
};

}  // namespace dynmeans
