// Event-driven replay of a pass over points that have labels already, with the labels of visiting
// them one by one.
//
// First it is found out which points want to move, given the clusters as they stand at the start of
// the pass, in any order and by any thread (move_candidates.hpp). Then only these are visited, in
// the given order. As long as no cluster is opened, revived or emptied on the way, the clusters
// stand as they stood, so each gets what it wanted. Once one is (an event), two things follow. A
// point that wanted to move looks again at its turn, at the clusters that changed, and at all if
// the one it wanted is among them. A point that wanted to stay still prefers its own cluster to all
// but the slot that changed, so those later in the order are compared with that one slot; any that
// might prefer it (or tie) joins the points to be visited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "passes/move_candidates.hpp"
#include "passes/preferences.hpp"
#include "records/points.hpp"
#include "records/remembered.hpp"
#include "search/elkan_bound.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans {

template <typename Value>
class LaterPass {
  public:
    LaterPass(const Points<Value>& points, const Remembered& remembered, double new_penalty,
              Sgemm sgemm, ThreadPool& pool)
        : points_(points),
          remembered_(remembered),
          new_penalty_(new_penalty),
          pool_(pool),
          candidates_(points, new_penalty, sgemm, pool),
          buffer_(points.n_features) {}

    // Forgets the last run.
    void start(const Row* order) {
        order_ = order;
        position_.clear();
        candidates_.start();
    }

    // After a first pass, before centers move.
    void start_from_first(const Assignment& assignment) {
        candidates_.start_from_first(assignment);
    }

    // After every pass, once gaps were closed and centers moved.
    void follow(const Assignment& assignment) { candidates_.follow(assignment); }

    // `has_moved` marks the slots that are not as they were at the start of the last pass,
    // `n_moved` counts the points that moved in it.
    void run(const std::vector<std::uint8_t>& has_moved, std::size_t n_moved,
             Assignment& assignment) {
        candidates_.find(has_moved, n_moved, assignment, preferences_);
        if (preferences_.empty()) return;
        if (can_change_slots(preferences_, assignment, leavers_))
            visit_in_order(assignment);
        else
            for (const Preference& preference : preferences_)
                assignment.place(preference.point, nullptr, preference.slot, remembered_);
    }

  private:
    // Beyond these, and one for eight slots, visiting every point is cheaper.
    static constexpr std::size_t kMaxChanges = 48;

    using Turn = std::pair<std::int32_t, Slot>;  // position in the order, wished slot

    // Those who want to move, in order, and those who were asked on the way.
    struct Turns {
        std::vector<Turn> preferred;
        std::size_t n_past = 0;  // of them
        std::priority_queue<Turn, std::vector<Turn>, std::greater<>> asked;

        bool is_empty() const { return n_past == preferred.size() && asked.empty(); }

        // The first that waits; if it was asked as well, what it wished by itself counts.
        Turn next() {
            const bool is_preferred =
                n_past < preferred.size() &&
                (asked.empty() || preferred[n_past].first <= asked.top().first);
            const Turn turn = is_preferred ? preferred[n_past++] : asked.top();
            while (!asked.empty() && asked.top().first == turn.first) asked.pop();
            return turn;
        }
    };

    void visit_in_order(Assignment& assignment) {
        find_positions();
        changed_.clear();
        Turns waiting;
        for (const Preference& preference : preferences_)
            waiting.preferred.push_back({position_[preference.point], preference.slot});
        std::sort(waiting.preferred.begin(), waiting.preferred.end());
        const std::size_t most_changes = is_enabled<acceleration("replay")>()
                                             ? kMaxChanges + assignment.n_members.size() / 8
                                             : 0;
        std::size_t n_changes = 0;
        while (!waiting.is_empty()) {
            const auto [position, preference] = waiting.next();
            if (waiting.n_past % 64 == 0) pool_.interrupts().check();
            const auto i = static_cast<std::size_t>(order_[position]);
            const double* y = points_.row(i, buffer_.data());
            const Slot left = assignment.labels[i];
            const std::size_t choice =
                n_changes == 0
                    ? to_choice(preference)
                    : look_again(y, preference == kStay ? left : preference, assignment.table);
            const bool has_opened = choice == CostTable::kNone || assignment.n_members[choice] == 0;
            if (!assignment.place(i, y, choice, remembered_)) continue;
            if (++n_changes > most_changes) {
                assign_labels(points_, order_, position + 1, remembered_, new_penalty_,
                              pool_.interrupts(), assignment);
                candidates_.forget();
                return;
            }
            const bool has_emptied =
                left != assignment.labels[i] && assignment.n_members[left] == 0;
            if (has_opened) changed_.push_back(assignment.labels[i]);
            if (has_emptied) changed_.push_back(left);
            if (has_opened) ask_followers(assignment.labels[i], position, assignment, waiting);
            if (has_emptied && static_cast<std::size_t>(left) < remembered_.n_clusters)
                ask_followers(left, position, assignment, waiting);
        }
        if (n_changes > 0) candidates_.after_events(assignment, preferences_, changed_);
    }

    // What a point chooses after events, given its choice at the start of the pass.
    std::size_t look_again(const double* y, Slot preference, const CostTable& table) const {
        const std::size_t slot = to_choice(preference);
        if (8 * changed_.size() > table.size() || !is_untouched(slot, changed_))
            return table.cheapest(y, new_penalty_, slot).slot;
        const double cost = slot == CostTable::kNone ? new_penalty_ : table.cost(y, slot);
        return compare_changed(y, {slot, cost}, changed_, table).slot;
    }

    // Gives a turn to every later point that may prefer `slot` as it now is to its own cluster.
    // Such a point is still in the cluster it started the pass in, whose center has not moved.
    void ask_followers(Slot slot, std::int32_t position, const Assignment& assignment,
                       Turns& waiting) {
        const CostTable& table = assignment.table;
        find_near(slot, assignment);
        const auto ask = [&](std::size_t i, const double* y, double own,
                             std::vector<Preference>& found) {
            if (position_[i] > position && table.cost(y, slot) <= own)
                found.push_back({static_cast<std::int32_t>(i), kStay});
        };
        candidates_.for_members(near_, assignment, ask, asked_);
        for (const Preference& preference : asked_)
            waiting.asked.push({position_[preference.point], preference.slot});
    }

    // The slots some of whose members may prefer `slot`.
    void find_near(Slot slot, const Assignment& assignment) {
        const CostTable& table = assignment.table;
        const double offset = table.offset(slot), scale = table.scale(slot);
        const double share = keeping_share(scale);
        near_.clear();
        for (std::size_t k = 0; k < candidates_.n_slots(); ++k) {
            if (static_cast<Slot>(k) == slot || assignment.n_members[k] == 0) continue;
            const double squared_gap =
                squared_distance(table.center(k), table.center(slot), points_.n_features);
            if (share * squared_gap > candidates_.highest(k) && squared_gap >= kTiny) continue;
            const double kept = keeping_cost(squared_gap, offset, scale);
            if (kept <= candidates_.highest(k)) near_.push_back({k, kept});
        }
    }

    void find_positions() {
        if (!position_.empty()) return;
        position_.resize(points_.n_points);
        pool_.for_blocks(count_blocks(points_.n_points), [&](std::size_t block, std::size_t) {
            const BlockRange range = block_range(block, points_.n_points);
            for (std::size_t p = range.begin; p < range.end; ++p)
                position_[order_[p]] = static_cast<std::int32_t>(p);
        });
    }

    const Points<Value>& points_;
    const Remembered& remembered_;
    double new_penalty_;
    ThreadPool& pool_;
    const Row* order_ = nullptr;
    std::vector<std::int32_t> position_;
    MoveCandidates<Value> candidates_;
    std::vector<Preference> preferences_, asked_;
    std::vector<std::int64_t> leavers_;
    std::vector<NearSlot> near_;
    std::vector<double> buffer_;
    std::vector<std::size_t> changed_;  // slots, by the events of this pass
};

}  // namespace dynmeans
