// Late passes over the rows in doubt alone, with the members, sums and centers of the whole batch.
//
// As long as no slot is opened, revived or emptied, rows choose by the clusters as they stood when
// the pass began, in any order. So passes over some rows are passes over all, while no row that
// stayed behind can want to move (fixed_points.hpp). Before a pass in which one might, or in which
// a slot may change, it is for those who hold all rows to go on.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "algorithm/assign_params.hpp"
#include "algorithm/cost.hpp"
#include "passes/fixed_points.hpp"
#include "passes/move_candidates.hpp"
#include "passes/preferences.hpp"
#include "records/solution.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans::dask {

class BorderPasses {
  public:
    std::vector<double> last_centers;     // before the last pass
    std::vector<std::uint8_t> has_moved;  // slots, since the start
    std::size_t n_passes = 0;             // in which anybody moved
    bool is_over = false;                 // converged

    BorderPasses(const Points<double>& rows, const Remembered& remembered, double new_penalty,
                 const BatchSums& sums, ThreadPool& pool)
        : rows_(rows),
          remembered_(remembered),
          new_penalty_(new_penalty),
          pool_(pool),
          assignment_(rows.n_points, remembered),
          slot_sums_(sums),
          candidates_(rows, new_penalty, nullptr, pool) {}

    // The labels are those of the rows, the rest is of the whole batch.
    void start(const Solution& whole) {
        assignment_.start_from(whole.labels, whole.n_members, remembered_);
        slot_sums_.start_from(whole.bins);
        candidates_.start();
        counts_.clear();
        within_.clear();
        costs_.clear();
        has_moved.assign(whole.n_members.size(), 0);
        n_passes = 0;
        is_over = false;
        settle();
    }

    // As many passes as can be made.
    void run(const Solution& whole, FixedPoints& left_behind) {
        make_passes(left_behind);
        // Without a new cluster only rounding can raise the cost: whoever holds all rows finds out.
        if (has_risen(costs_)) start(whole);
    }

    std::vector<double> centers() const {
        const CostTable& table = assignment_.table;
        return {table.center(0), table.center(table.size())};
    }

    // The costs are those at the start and after every pass.
    Solution solution() const {
        return {assignment_.labels,        counts_, centers(), costs_, assignment_.n_members,
                slot_sums_.bins_of_slots()};
    }

  private:
    void make_passes(FixedPoints& left_behind) {
        while (!is_over) {
            if (left_behind.may_be_due(assignment_.table)) return;
            const std::vector<std::uint8_t> moved = assignment_.has_changed;
            const std::size_t n_moved = assignment_.moves.size();
            assignment_.start_pass();
            candidates_.find(moved, n_moved, assignment_, preferences_);
            if (can_change_slots(preferences_, assignment_, leavers_)) return;
            if (preferences_.empty()) {
                costs_.push_back(costs_.back());
                is_over = true;
                return;
            }
            last_centers = centers();
            ++n_passes;
            for (const Preference& preference : preferences_)
                assignment_.place(preference.point, nullptr, preference.slot, remembered_);
            slot_sums_.add_moves(rows_, assignment_, pool_);
            settle();
            for (std::size_t k = 0; k < has_moved.size(); ++k)
                has_moved[k] |= assignment_.has_changed[k];
            is_over = !has_fallen(costs_.back(), costs_[costs_.size() - 2]);
        }
    }

    // Parameters and cost for the labels as they are.
    void settle() {
        move_centers(slot_sums_, remembered_, assignment_, counts_, within_);
        candidates_.follow(assignment_);
        costs_.push_back(cluster_terms(remembered_, new_penalty_, assignment_.n_members.data(),
                                       assignment_.n_members.size(), assignment_.table.center(0)) +
                         rounded_sum(within_.data(), within_.size(), 1));
    }

    const Points<double>& rows_;
    const Remembered& remembered_;
    double new_penalty_;
    ThreadPool& pool_;
    Assignment assignment_;
    SlotSums slot_sums_;
    MoveCandidates<double> candidates_;
    std::vector<double> counts_, within_, costs_;
    std::vector<Preference> preferences_;
    std::vector<std::int64_t> leavers_;
};

}  // namespace dynmeans::dask
