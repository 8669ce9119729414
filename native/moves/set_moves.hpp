// The deeper search: what moves of whole sets find after Algorithm 2 has stopped. Identities by
// assignment, splits, merges, single points, each only if L_t falls; passes follow, and so on until
// nothing does (decision 0017).
#pragma once

#include <functional>

#include "moves/identities.hpp"
#include "moves/merges.hpp"
#include "moves/sets.hpp"
#include "moves/single_points.hpp"
#include "moves/splits.hpp"

namespace dynmeans {

template <typename Value>
class SetMoves {
  public:
    SetMoves() : identities_(sets_), splits_(sets_), merges_(sets_), single_points_(sets_) {}
    SetMoves(const SetMoves&) = delete;  // the moves point to the sets
    SetMoves& operator=(const SetMoves&) = delete;

    // Makes passes until the trace, of which so many costs are kept, has `most`; returns whether
    // they went below those kept.
    using ContinueFrom =
        std::function<bool(const Solution& start, std::size_t n_kept, std::size_t most)>;

    // Continues from `found`, which it replaces. Few passes follow a round; they converge once no
    // more rounds do.
    void run_deep_search(const Points<Value>& points, const Remembered& remembered,
                         double new_penalty, const BatchSums& sums, const Row* order, int depth,
                         Solution& found, const ContinueFrom& continue_from);

    void start(const Points<Value>& points, const Remembered& remembered, double new_penalty,
               const BatchSums& sums) {
        sets_.start(points, remembered, new_penalty, sums);
    }

    // Makes each kind of move once, or splits only where the depth is 1. Writes the labels, members
    // and sums they come to, and returns true, if there was any.
    bool make(const Solution& found, const Row* order, int depth);

    const Sets<Value>& sets() const { return sets_; }
    const Solution& after() const { return start_; }  // what a round came to, if it moved anything

  private:
    static constexpr std::size_t kFewPasses = 4;
    static constexpr double kWorthARound = 1e-3;  // of L_t

    Sets<Value> sets_;
    Identities<Value> identities_;
    Splits<Value> splits_;
    Merges<Value> merges_;
    SinglePoints<Value> single_points_;
    Solution start_;  // labels, members and sums after a round
};

template <typename Value>
void SetMoves<Value>::run_deep_search(const Points<Value>& points, const Remembered& remembered,
                                      double new_penalty, const BatchSums& sums, const Row* order,
                                      int depth, Solution& found,
                                      const ContinueFrom& continue_from) {
    const auto& n_members = found.n_members;
    if (depth == 1 && std::none_of(n_members.begin(), n_members.end(), may_be_separated)) return;
    start(points, remembered, new_penalty, sums);
    const std::vector<double>& trace = found.cost_trace;
    bool is_last = false, has_converged = true;
    while (!is_last || !has_converged) {
        if (!is_last && make(found, order, depth)) {
            const std::size_t n = trace.size();
            const double before = trace.back();
            if (!continue_from(start_, n, n + 1 + kFewPasses)) return;
            has_converged = !has_fallen(trace.back(), trace[trace.size() - 2]);
            is_last = !(trace.back() < before * (1.0 - kWorthARound));
        } else if (has_converged) {
            return;
        } else {
            continue_from(found, trace.size() - 1, kNoLimit);
            has_converged = true;
        }
    }
}

template <typename Value>
bool SetMoves<Value>::make(const Solution& found, const Row* order, int depth) {
    sets_.take(found, order, start_);
    if (sets_.size() == 0) return false;
    const double least = kNoFall * found.cost_trace.back();
    bool has_changed = depth > 1 && identities_.make(least);
    has_changed |= splits_.make(least, depth == 1);
    has_changed |= depth > 1 && merges_.make(least);
    has_changed |= depth > 1 && single_points_.make(least);
    if (has_changed) sets_.write(start_);
    return has_changed;
}

// Compiled once for each type of values, in set_moves.cpp, not in every file that calls them.
extern template class SetMoves<double>;
extern template class SetMoves<float>;

}  // namespace dynmeans
