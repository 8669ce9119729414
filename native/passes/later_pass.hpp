// Event-driven replay of a pass over points that have labels already, with the labels of visiting
// them one by one.
//
// First every point is compared with the clusters as they stand at the start of the pass, in any
// order and by any thread; the bounds of neighbors.hpp leave few to compare. Then only the points
// that want to move are visited, in the given order. As long as no cluster is opened, revived or
// emptied on the way, the clusters stand as they stood, so each gets what it wanted. Once one is
// (an event), two things follow. A point that wanted to move looks again at its turn, at the
// clusters that changed, and at all if the one it wanted is among them. A point that wanted to stay
// still prefers its own cluster to all but the slot that changed, so those later in the order are
// compared with that one slot; any that might prefer it (or tie) joins the points to be visited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "algorithm/marked_points.hpp"
#include "passes/neighbors.hpp"
#include "passes/own_costs.hpp"
#include "records/points.hpp"
#include "records/remembered.hpp"
#include "search/keeping_cost.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans::passes {

using namespace threads;
using namespace records;
using namespace search;
using namespace algorithm;

template <typename Value>
class LaterPass {
  public:
    LaterPass(const Points<Value>& points, const Remembered& remembered, double new_penalty,
              ThreadPool& pool)
        : points_(points),
          remembered_(remembered),
          new_penalty_(new_penalty),
          pool_(pool),
          neighbors_(points.n_features),
          wishes_of_block_(count_blocks(points.n_points)),
          buffer_(points.n_features),
          lists_(pool.size()) {}

    // Forgets the visiting order of the last run.
    void start(const Row* order) {
        order_ = order;
        position_.clear();
    }

    // `has_moved` marks the slots that are not as they were at the start of the last pass.
    void run(const OwnCosts& own, const std::vector<std::uint8_t>& has_moved,
             Assignment& assignment) {
        neighbors_.update(assignment, has_moved, own, new_penalty_, points_.n_features, pool_);
        collect_wishes(own, assignment);
        if (wishes_.empty()) return;
        if (can_change_slots(assignment))
            visit_in_order(own, assignment);
        else
            for (const Wish& wish : wishes_)
                assignment.place(wish.point, nullptr, wish.slot, remembered_);
    }

  private:
    // Beyond these, and one for eight slots, visiting every point is cheaper.
    static constexpr std::size_t kMaxChanges = 48;
    static constexpr std::size_t kAhead = 8;  // points

    static constexpr Slot kOpenNew = -2;
    static constexpr Slot kStay = -3;

    struct Wish {
        std::int32_t point;
        Slot slot;  // or kOpenNew
    };

    static Slot to_wish(std::size_t choice) {
        return choice == CostTable::kNone ? kOpenNew : static_cast<Slot>(choice);
    }
    static std::size_t to_choice(Slot wish) { return wish == kOpenNew ? CostTable::kNone : wish; }

    void collect_wishes(const OwnCosts& own, const Assignment& assignment) {
        mark_leavable(own, assignment);
        pool_.for_blocks(wishes_of_block_.size(), [&](std::size_t block, std::size_t thread) {
            std::vector<Wish>& wishes = wishes_of_block_[block];
            wishes.clear();
            std::vector<std::uint32_t>& list = lists_[thread];
            std::vector<double> buffer(points_.n_features);
            const BlockRange range = block_range(block, points_.n_points);
            const std::size_t n_listed = marks_.list(assignment.labels.data(), range, list);
            std::size_t n = 0;
            for (std::size_t r = 0; r < n_listed; ++r) {
                const std::uint32_t i = list[r];
                list[n] = i;
                n += !(own[i] < neighbors_.keeping_cost_of(assignment.labels[i]));
            }
            const std::size_t ahead = look_ahead(kAhead);
            for (std::size_t r = 0; r < n; ++r) {
                if (r + ahead < n) points_.prefetch(list[r + ahead]);
                const std::size_t i = list[r];
                const Slot a = assignment.labels[i];
                const double* y = points_.row(i, buffer.data());
                const std::size_t best =
                    neighbors_.cheapest(y, a, own[i], new_penalty_, assignment.table);
                if (best != static_cast<std::size_t>(a))
                    wishes.push_back({static_cast<std::int32_t>(i), to_wish(best)});
            }
        });
        wishes_.clear();
        for (const std::vector<Wish>& wishes : wishes_of_block_)
            wishes_.insert(wishes_.end(), wishes.begin(), wishes.end());
    }

    // Marks the slots that some member may leave.
    void mark_leavable(const OwnCosts& own, const Assignment& assignment) {
        marks_.start(assignment.n_members.size());
        for (std::size_t k = 0; k < assignment.n_members.size(); ++k)
            marks_.set(k, assignment.n_members[k] > 0 &&
                              !(own.highest(k) < neighbors_.keeping_cost_of(k)));
    }

    // Without a point that opens or revives, and with one that stays in each cluster, none.
    bool can_change_slots(const Assignment& assignment) {
        leavers_.assign(assignment.n_members.size(), 0);
        for (const Wish& wish : wishes_) {
            if (wish.slot == kOpenNew || assignment.n_members[wish.slot] == 0) return true;
            ++leavers_[assignment.labels[wish.point]];
        }
        for (std::size_t k = 0; k < leavers_.size(); ++k)
            if (leavers_[k] > 0 && leavers_[k] == assignment.n_members[k]) return true;
        return false;
    }

    using Turn = std::pair<std::int32_t, Slot>;  // position in the order, wished slot

    // Those who want to move, in order, and those who were asked on the way.
    struct Turns {
        std::vector<Turn> wished;
        std::size_t n_past = 0;  // of them
        std::priority_queue<Turn, std::vector<Turn>, std::greater<>> asked;

        bool is_empty() const { return n_past == wished.size() && asked.empty(); }

        // The first that waits; if it was asked as well, what it wished by itself counts.
        Turn next() {
            const bool is_wished = n_past < wished.size() &&
                                   (asked.empty() || wished[n_past].first <= asked.top().first);
            const Turn turn = is_wished ? wished[n_past++] : asked.top();
            while (!asked.empty() && asked.top().first == turn.first) asked.pop();
            return turn;
        }
    };

    void visit_in_order(const OwnCosts& own, Assignment& assignment) {
        find_positions();
        changed_.clear();
        Turns waiting;
        for (const Wish& wish : wishes_)
            waiting.wished.push_back({position_[wish.point], wish.slot});
        std::sort(waiting.wished.begin(), waiting.wished.end());
        const std::size_t most_changes =
            uses(Acceleration::kReplay) ? kMaxChanges + assignment.n_members.size() / 8 : 0;
        std::size_t n_changes = 0;
        while (!waiting.is_empty()) {
            prefetch_ahead(waiting, assignment);
            const auto [position, wish] = waiting.next();
            if (waiting.n_past % 64 == 0) pool_.interrupts().check();
            const auto i = static_cast<std::size_t>(order_[position]);
            const double* y = points_.row(i, buffer_.data());
            const Slot left = assignment.labels[i];
            const std::size_t choice =
                n_changes == 0 ? to_choice(wish)
                               : look_again(y, wish == kStay ? left : wish, assignment.table);
            const bool has_opened = choice == CostTable::kNone || assignment.n_members[choice] == 0;
            if (!assignment.place(i, y, choice, remembered_)) continue;
            if (++n_changes > most_changes) {
                assign_labels(points_, order_, position + 1, remembered_, new_penalty_,
                              pool_.interrupts(), assignment);
                return;
            }
            const bool has_emptied =
                left != assignment.labels[i] && assignment.n_members[left] == 0;
            if (has_opened) changed_.push_back(assignment.labels[i]);
            if (has_emptied) changed_.push_back(left);
            if (has_opened) ask_followers(assignment.labels[i], position, own, assignment, waiting);
            if (has_emptied && static_cast<std::size_t>(left) < remembered_.n_clusters)
                ask_followers(left, position, own, assignment, waiting);
        }
    }

    void prefetch_ahead(const Turns& waiting, const Assignment& assignment) const {
        const std::size_t ahead = waiting.n_past + look_ahead(kAhead);
        if (ahead >= waiting.wished.size()) return;
        const Row i = order_[waiting.wished[ahead].first];
        points_.prefetch(i);
        prefetch_to_write(&assignment.labels[i]);
    }

    // What a point chooses after events, given its choice at the start of the pass.
    std::size_t look_again(const double* y, Slot wish, const CostTable& table) const {
        const std::size_t slot = to_choice(wish);
        if (8 * changed_.size() > table.size() || !is_untouched(slot, changed_))
            return table.cheapest(y, new_penalty_, slot).slot;
        const double cost = slot == CostTable::kNone ? new_penalty_ : table.cost(y, slot);
        return compare_changed(y, {slot, cost}, changed_, table).slot;
    }

    // Gives a turn to every later point that may prefer `slot` as it now is to its own cluster.
    // Such a point is still in the cluster it started the pass in, whose center has not moved.
    void ask_followers(Slot slot, std::int32_t position, const OwnCosts& own,
                       const Assignment& assignment, Turns& waiting) {
        const CostTable& table = assignment.table;
        if (!find_near(slot, own, assignment)) return;
        pool_.for_blocks(wishes_of_block_.size(), [&](std::size_t block, std::size_t thread) {
            std::vector<Wish>& wishes = wishes_of_block_[block];
            wishes.clear();
            std::vector<std::uint32_t>& list = lists_[thread];
            std::vector<double> buffer(points_.n_features);
            const BlockRange range = block_range(block, points_.n_points);
            const std::size_t n = marks_.list(assignment.labels.data(), range, list);
            for (std::size_t r = 0; r < n; ++r) {
                const std::size_t i = list[r];
                if (own[i] < kept_[assignment.labels[i]] || position_[i] <= position) continue;
                if (table.cost(points_.row(i, buffer.data()), slot) <= own[i])
                    wishes.push_back({static_cast<std::int32_t>(i), kStay});
            }
        });
        for (const std::vector<Wish>& wishes : wishes_of_block_)
            for (const Wish& wish : wishes) waiting.asked.push({position_[wish.point], wish.slot});
    }

    // Marks the slots some of whose members may prefer `slot`; false if there is none.
    bool find_near(Slot slot, const OwnCosts& own, const Assignment& assignment) {
        const CostTable& table = assignment.table;
        const double offset = table.offset(slot), scale = table.scale(slot);
        const double share = keeping_share(scale);
        marks_.start(assignment.n_members.size());
        kept_.resize(assignment.n_members.size());
        bool is_near_any = false;
        for (std::size_t k = 0; k < neighbors_.n_slots(); ++k) {
            if (static_cast<Slot>(k) == slot || assignment.n_members[k] == 0) continue;
            const double squared_gap =
                squared_distance(table.center(k), table.center(slot), points_.n_features);
            if (share * squared_gap > own.highest(k) && squared_gap >= kTiny) continue;
            kept_[k] = keeping_cost(squared_gap, offset, scale);
            marks_.set(k, kept_[k] <= own.highest(k));
            is_near_any |= kept_[k] <= own.highest(k);
        }
        return is_near_any;
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
    Neighbors neighbors_;
    std::vector<std::vector<Wish>> wishes_of_block_;
    std::vector<Wish> wishes_;
    std::vector<std::int64_t> leavers_;
    std::vector<double> kept_, buffer_;
    SlotMarks marks_;
    std::vector<std::vector<std::uint32_t>> lists_;  // one for each thread
    std::vector<std::size_t> changed_;               // slots, by the events of this pass
};

}  // namespace dynmeans::passes
