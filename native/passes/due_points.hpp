// Who is due (due_dates.hpp): in a batch of many points a late pass looks at these, and reads
// nothing else.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "numeric/squared_distance.hpp"
#include "passes/due_dates.hpp"
#include "passes/neighbors.hpp"
#include "passes/wishes.hpp"
#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans::passes {

using namespace numeric;
using namespace threads;
using namespace records;
using namespace algorithm;

template <typename Value>
class DuePoints {
  public:
    DuePoints(const Points<Value>& points, double new_penalty, ThreadPool& pool)
        : points_(points),
          new_penalty_(new_penalty),
          pool_(pool),
          neighbors_(points.n_features, true),
          dates_(points.n_features, new_penalty),
          lists_(pool.size()) {}

    double highest(std::size_t k) const { return dates_.highest(k); }
    std::size_t n_slots() const { return neighbors_.n_slots(); }

    bool is_started() const { return dates_.are_known(); }
    void forget() { dates_.forget(); }

    // From here on by dates; `own` knows the highest own cost of each slot.
    template <typename Own>
    void start(const Assignment& assignment, const Own& own) {
        neighbors_.forget();
        dates_.start(assignment, [&](std::size_t k) { return own.highest(k); });
    }

    // Gaps were closed.
    void follow(const Assignment& assignment) {
        if (!assignment.renamed.empty()) neighbors_.forget();
        dates_.follow(assignment);
    }

    // `has_moved` marks the slots that are not as they were at the start of the last pass.
    void find(const std::vector<std::uint8_t>& has_moved, const Assignment& assignment,
              std::vector<Wish>& wishes) {
        wishes.clear();
        find_due(has_moved, assignment);
        if (due_.empty()) return;
        look(assignment);
        join_lists(found_, wishes);
        date_stayers(assignment);
        for (const Wish& wish : wishes) dates_.wait(wish.point);
    }

    // Calls ask(point, row, own cost, list) for members of some slots that cost enough there, but
    // for those that want to move anyway.
    template <typename Ask>
    void for_members(const std::vector<NearSlot>& near, const Assignment& assignment,
                     const Ask& ask, std::vector<Wish>& asked) {
        opened_.start(assignment.n_members.size());
        kept_.resize(assignment.n_members.size());
        for (const NearSlot& one : near) {
            opened_.set(one.slot, true);
            kept_[one.slot] = one.kept;
        }
        found_.assign(near.empty() ? 0 : count_blocks(points_.n_points), {});
        for_marked(assignment, found_.size(),
                   [&](std::size_t block, std::size_t i, const double* y, double own) {
                       if (!(own < kept_[assignment.labels[i]])) ask(i, y, own, found_[block]);
                   });
        join_lists(found_, asked);
    }

    // Slots in `changed` are new to others, and who moved though it was not due has a date where
    // it is no more.
    void after_events(const Assignment& assignment, std::vector<Wish>& wishes,
                      const std::vector<std::size_t>& changed) {
        for (const std::size_t k : changed) dates_.mark_fresh(k);
        const auto is_before = [](const Wish& a, const Wish& b) { return a.point < b.point; };
        std::sort(wishes.begin(), wishes.end(), is_before);
        for (const Assignment::Move& move : assignment.moves) {
            if (std::binary_search(wishes.begin(), wishes.end(), Wish{move.point, 0}, is_before))
                continue;
            dates_.wait(move.point);
            dates_.mark_dirty(move.from);
        }
    }

  private:
    static constexpr std::size_t kAhead = 16;                              // points
    static constexpr DueKey kNoDate = std::numeric_limits<DueKey>::max();  // moves, or needs none

    double own_cost(std::size_t i, Slot a, double* buffer, const CostTable& table) const {
        return squared_distance(points_.row(i, buffer), table.center(a), points_.n_features);
    }

    void find_due(const std::vector<std::uint8_t>& has_moved, const Assignment& assignment) {
        std::vector<double> buffer(points_.n_features);
        dates_.begin_pass(assignment, has_moved, [&](std::size_t i) {
            return own_cost(i, assignment.labels[i], buffer.data(), assignment.table);
        });
        neighbors_.update(assignment, has_moved, dates_, new_penalty_, points_.n_features, pool_);
        const auto largest_move = [&](std::size_t a, double reach,
                                      const std::vector<double>& moves) {
            double largest = 0.0;
            for (const Neighbors::Rival& rival : neighbors_.rivals(a)) {
                if (rival.keeping_cost > reach * reach) break;
                largest = std::max(largest, moves[rival.slot]);
            }
            return largest;
        };
        const bool has_opened = dates_.open_slots(
            assignment, [&](std::size_t k) { return neighbors_.keeping_cost_of(k); }, opened_);
        dates_.take_due(largest_move, due_);
        sort_due();
        if (has_opened) list_opened(assignment);
    }

    // Calls visit(block, point, row, own cost) for the members of marked slots.
    template <typename Visit>
    void for_marked(const Assignment& assignment, std::size_t n_blocks, const Visit& visit) {
        pool_.for_blocks(n_blocks, [&](std::size_t block, std::size_t thread) {
            std::vector<std::uint32_t>& list = lists_[thread];
            std::vector<double> buffer(points_.n_features);
            const BlockRange range = block_range(block, points_.n_points);
            const std::size_t n = opened_.list(assignment.labels.data(), range, list);
            for (std::size_t r = 0; r < n; ++r) {
                const double* y = points_.row(list[r], buffer.data());
                const double* theta = assignment.table.center(assignment.labels[list[r]]);
                visit(block, list[r], y, squared_distance(y, theta, points_.n_features));
            }
        });
    }

    // Members of opened slots that their guard does not hold are due.
    void list_opened(const Assignment& assignment) {
        found_due_.assign(count_blocks(points_.n_points), {});
        for_marked(assignment, found_due_.size(),
                   [&](std::size_t block, std::size_t i, const double*, double own) {
                       if (!(own < dates_.guarded(assignment.labels[i])))
                           found_due_[block].push_back(static_cast<std::uint32_t>(i));
                   });
        for (const std::vector<std::uint32_t>& found : found_due_)
            due_.insert(due_.end(), found.begin(), found.end());
    }

    // In the order of memory, where they are many.
    void sort_due() {
        if (due_.size() < points_.n_points / 256) return;
        is_due_.assign((points_.n_points + 63) / 64, 0);
        for (const std::uint32_t i : due_) is_due_[i / 64] |= std::uint64_t{1} << (i % 64);
        std::size_t n = 0;
        for (std::size_t w = 0; w < is_due_.size(); ++w)
            for (std::uint64_t bits = is_due_[w]; bits != 0; bits &= bits - 1)
                due_[n++] = static_cast<std::uint32_t>(64 * w + lowest_bit(bits));
    }

    void start_highest(std::size_t n_slots) {
        highest_.resize(pool_.size());
        for (std::vector<double>& highest : highest_) highest.assign(n_slots, -1.0);
    }

    const std::vector<double>& merged_highest() {
        for (std::size_t t = 1; t < highest_.size(); ++t)
            for (std::size_t k = 0; k < highest_[0].size(); ++k)
                highest_[0][k] = std::max(highest_[0][k], highest_[t][k]);
        return highest_[0];
    }

    void look(const Assignment& assignment) {
        const std::size_t n_blocks = count_blocks(due_.size());
        keys_.resize(due_.size());
        found_.resize(n_blocks);
        start_highest(assignment.n_members.size());
        pool_.for_blocks(n_blocks, [&](std::size_t block, std::size_t thread) {
            std::vector<Wish>& wishes = found_[block];
            double* highest = highest_[thread].data();
            wishes.clear();
            std::vector<double> buffer(points_.n_features);
            const BlockRange range = block_range(block, due_.size());
            const std::size_t ahead = look_ahead(kAhead);
            for (std::size_t r = range.begin; r < range.end; ++r) {
                if (r + ahead < range.end) {
                    points_.prefetch(due_[r + ahead]);
                    prefetch(&assignment.labels[due_[r + ahead]]);
                }
                const std::size_t i = due_[r];
                const Slot a = assignment.labels[i];
                const double* y = points_.row(i, buffer.data());
                const double own =
                    squared_distance(y, assignment.table.center(a), points_.n_features);
                keys_[r] = kNoDate;
                if (own < dates_.guarded(a)) continue;
                const double u = std::sqrt(own);
                const Neighbors::Look found =
                    neighbors_.look(y, a, own, u, new_penalty_, assignment.table);
                highest[a] = std::max(highest[a], own);
                if (found.slot == static_cast<std::size_t>(a))
                    keys_[r] = dates_.date(a, u, found.bound);
                else
                    wishes.push_back({static_cast<std::int32_t>(i), to_wish(found.slot)});
            }
        });
    }

    // Each thread has slots of its own.
    void date_stayers(const Assignment& assignment) {
        const std::size_t n_parts = due_.size() < kPointBlock ? 1 : pool_.size();
        pool_.for_blocks(n_parts, [&](std::size_t part, std::size_t) {
            for (std::size_t r = 0; r < due_.size(); ++r) {
                const std::size_t i = due_[r];
                const Slot a = assignment.labels[i];
                if (keys_[r] == kNoDate || static_cast<std::size_t>(a) % n_parts != part) continue;
                dates_.queue(a, ring_of(keys_[r])).push(keys_[r], static_cast<std::uint32_t>(i));
            }
        });
        const std::vector<double>& highest = merged_highest();
        for (std::size_t k = 0; k < highest.size(); ++k) dates_.raise_radius(k, highest[k]);
    }

    const Points<Value>& points_;
    double new_penalty_;
    ThreadPool& pool_;
    Neighbors neighbors_;
    DueDates dates_;
    SlotMarks opened_;
    std::vector<std::vector<std::uint32_t>> lists_;  // one for each thread
    std::vector<std::vector<std::uint32_t>> found_due_;
    std::vector<double> kept_;
    std::vector<std::uint32_t> due_;            // who is looked at in this pass
    std::vector<std::uint64_t> is_due_;         // a bit for each point
    std::vector<DueKey> keys_;                  // of those that are looked at
    std::vector<std::vector<double>> highest_;  // one for each thread
    std::vector<std::vector<Wish>> found_;
};

}  // namespace dynmeans::passes
