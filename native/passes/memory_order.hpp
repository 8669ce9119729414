// The rest of a first pass in the order of memory, with the labels of visiting the points in their
// own order: rows read one after the other come many times as fast as rows from anywhere.
//
// Once most clusters are there, nearly every point finds an active one. It keeps that, whatever its
// turn, but for slots that are opened or revived before it (events): joining moves nothing, and
// nothing empties in this pass. Only points that find no active cluster can cause an event, and
// what they do depends on each other alone. So all points search first, in the order of memory;
// those few are visited by their turns; and points that prefer the slot of an event before their
// turn get it. Only for these the turn is looked up. Who can prefer such a slot at all, the Elkan
// bound tells (keeping_cost.hpp). For few features.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "numeric/squared_distance.hpp"
#include "records/points.hpp"
#include "records/remembered.hpp"
#include "search/center_search.hpp"
#include "search/keeping_cost.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans::passes {

using namespace numeric;
using namespace threads;
using namespace records;
using namespace search;
using namespace algorithm;

template <typename Value>
class MemoryOrder {
  public:
    static constexpr std::size_t kMaxFeatures = 4;

    MemoryOrder(const Points<Value>& points, const Remembered& remembered, double new_penalty,
                ThreadPool& pool)
        : points_(points), remembered_(remembered), new_penalty_(new_penalty), pool_(pool) {}

    // Gives a label to every point from `position` of the order on; those before have theirs.
    void run(const Row* order, std::size_t position, CenterSearch& search, Assignment& assignment) {
        found_.assign(count_blocks(points_.n_points), {});
        find_active(search, assignment);
        if (!mark_found()) return;
        find_turns(order, position);
        events_.clear();
        visit(order, search, assignment);
        if (events_.empty()) return;
        for (std::vector<Row>& found : found_) found.clear();
        find_tempted(assignment);
        if (!mark_found()) return;
        find_turns(order, events_.front().position + 1);
        for (const std::uint32_t p : turns_) look_again(order[p], p, assignment);
    }

  private:
    static constexpr std::size_t kChunk = CenterSearch::kChunk;

    struct Event {
        std::size_t slot, position;
    };

    // The labels of points that choose an active slot; lists the others.
    void find_active(CenterSearch& search, Assignment& assignment) {
        search.prepare(assignment.table, points_.n_points);
        pool_.for_blocks(found_.size(), [&](std::size_t block, std::size_t thread) {
            const BlockRange range = block_range(block, points_.n_points);
            std::array<Row, kChunk + 1> rows;
            std::array<Choice, kChunk> choices;
            for (std::size_t from = range.begin; from < range.end; from += kChunk) {
                std::size_t n = 0;
                for (std::size_t i = from; i < std::min(from + kChunk, range.end); ++i) {
                    rows[n] = static_cast<Row>(i);
                    n += int{assignment.labels[i] == kUnlabeled} & int{points_.takes_part(i)};
                }
                search.find(points_, rows.data(), 0, n, assignment.table, thread, choices.data());
                for (std::size_t r = 0; r < n; ++r) {
                    const std::size_t k = choices[r].slot;
                    if (k == CostTable::kNone || assignment.n_members[k] == 0)
                        found_[block].push_back(rows[r]);
                    else
                        assignment.labels[rows[r]] = static_cast<Slot>(k);
                }
            }
        });
        search.learn();
    }

    // A bit for each of the found rows; false if there is none.
    bool mark_found() {
        is_found_.assign((points_.n_points + 63) / 64, 0);
        n_found_ = 0;
        for (const std::vector<Row>& found : found_) {
            n_found_ += found.size();
            for (const Row i : found) is_found_[i / 64] |= std::uint64_t{1} << (i % 64);
        }
        return n_found_ > 0;
    }

    // The positions of the found rows from `position` on, in order.
    void find_turns(const Row* order, std::size_t position) {
        turns_.resize(n_found_ + 1);
        std::size_t n = 0;
        for (std::size_t p = position; p < points_.n_points && n < n_found_; ++p) {
            turns_[n] = static_cast<std::uint32_t>(p);
            n += is_found_[order[p] / 64] >> (order[p] % 64) & 1;
        }
        turns_.resize(n);
    }

    void visit(const Row* order, CenterSearch& search, Assignment& assignment) {
        double buffer[kMaxFeatures];
        for (const std::uint32_t p : turns_) {
            const double* y = points_.row(order[p], buffer);
            const Choice choice = search.cheapest(y, assignment.table, CostTable::kNone);
            if (!assignment.place(order[p], y, choice.slot, remembered_)) continue;
            const auto k = static_cast<std::size_t>(assignment.labels[order[p]]);
            search.update(k, assignment.table);
            events_.push_back({k, p});
        }
    }

    // Lists the points that prefer the slot of an event to their own.
    void find_tempted(const Assignment& assignment) {
        find_near_events(assignment);
        pool_.for_blocks(found_.size(), [&](std::size_t block, std::size_t) {
            const BlockRange range = block_range(block, points_.n_points);
            double buffer[kMaxFeatures];
            for (std::size_t i = range.begin; i < range.end; ++i) {
                const Slot a = assignment.labels[i];
                if (a == kUnlabeled) continue;
                const double* y = points_.row(i, buffer);
                const double own =
                    squared_distance(y, assignment.table.center(a), points_.n_features);
                if (own < kept_[a]) continue;
                for (const std::uint32_t e : near_[a]) {
                    if (assignment.table.cost(y, events_[e].slot) > own) continue;
                    found_[block].push_back(static_cast<Row>(i));
                    break;
                }
            }
        });
    }

    // For each slot, the events that a member may prefer, and the own cost below which none does.
    // Members of slots of events came by their turns.
    void find_near_events(const Assignment& assignment) {
        const CostTable& table = assignment.table;
        const std::size_t n_slots = assignment.n_members.size();
        near_.assign(n_slots, {});
        kept_.assign(n_slots, std::numeric_limits<double>::infinity());
        std::vector<std::uint8_t> is_new(n_slots, 0);
        for (const Event& event : events_) is_new[event.slot] = 1;
        for (std::size_t a = 0; a < n_slots; ++a) {
            if (is_new[a] || assignment.n_members[a] == 0) continue;
            for (std::size_t e = 0; e < events_.size(); ++e) {
                const double gap = squared_distance(table.center(a), table.center(events_[e].slot),
                                                    points_.n_features);
                const double kept = keeping_cost(gap, 0.0, 1.0);
                if (kept > new_penalty_) continue;
                near_[a].push_back(static_cast<std::uint32_t>(e));
                kept_[a] = std::min(kept_[a], kept);
            }
        }
    }

    // A point whose turn is at position p, among the slots of events before.
    void look_again(std::size_t i, std::size_t p, Assignment& assignment) const {
        double buffer[kMaxFeatures];
        const double* y = points_.row(i, buffer);
        const auto a = static_cast<std::size_t>(assignment.labels[i]);
        Choice choice{a, assignment.table.cost(y, a)};
        for (const std::uint32_t e : near_[a])
            if (events_[e].position < p)
                CostTable::consider(choice, events_[e].slot,
                                    assignment.table.cost(y, events_[e].slot));
        assignment.labels[i] = static_cast<Slot>(choice.slot);
    }

    const Points<Value>& points_;
    const Remembered& remembered_;
    double new_penalty_;
    ThreadPool& pool_;
    std::vector<std::vector<Row>> found_;  // by blocks
    std::size_t n_found_ = 0;
    std::vector<std::uint64_t> is_found_;  // a bit for each point
    std::vector<std::uint32_t> turns_;     // positions
    std::vector<Event> events_;
    std::vector<std::vector<std::uint32_t>> near_;  // events, of each slot
    std::vector<double> kept_;
};

}  // namespace dynmeans::passes
