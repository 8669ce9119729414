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
          neighbors_(points.n_features),
          dates_(points.n_features, new_penalty) {}

    double highest(std::size_t k) const { return dates_.highest(k); }
    std::size_t n_slots() const { return neighbors_.n_slots(); }

    // Forgets the dates of the last run.
    void start() { dates_.forget(); }
    void forget() { dates_.forget(); }

    // Gaps were closed.
    void follow(const Assignment& assignment) { dates_.follow(assignment); }

    // `has_moved` marks the slots that are not as they were at the start of the last pass.
    void find(const std::vector<std::uint8_t>& has_moved, const Assignment& assignment,
              std::vector<Wish>& wishes) {
        wishes.clear();
        is_whole_ = !dates_.are_known();
        if (is_whole_)
            begin_whole_pass(assignment);
        else
            find_due(has_moved, assignment);
        if (n_due() == 0) return;
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
        found_.resize(near.size());
        pool_.for_blocks(near.size(), [&](std::size_t n, std::size_t) {
            found_[n].clear();
            std::vector<double> buffer(points_.n_features);
            const double* theta = assignment.table.center(near[n].slot);
            const auto visit = [&](std::uint32_t i) {
                const double* y = points_.row(i, buffer.data());
                const double own = squared_distance(y, theta, points_.n_features);
                if (!(own < near[n].kept)) ask(i, y, own, found_[n]);
            };
            for (std::size_t ring = 0; ring < kRings; ++ring)
                dates_.queue(near[n].slot, ring).for_each(visit);
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
    static constexpr DueKey kNoDate = std::numeric_limits<DueKey>::max();  // moves, or no label

    std::size_t n_due() const { return is_whole_ ? points_.n_points : due_.size(); }
    std::size_t due_at(std::size_t r) const { return is_whole_ ? r : due_[r]; }

    double own_cost(std::size_t i, Slot a, double* buffer, const CostTable& table) const {
        return squared_distance(points_.row(i, buffer), table.center(a), points_.n_features);
    }

    void begin_whole_pass(const Assignment& assignment) {
        dates_.start(assignment.n_members.size());
        start_highest(assignment.n_members.size());
        pool_.for_blocks(count_blocks(points_.n_points), [&](std::size_t block, std::size_t t) {
            std::vector<double> buffer(points_.n_features);
            double* highest = highest_[t].data();
            const BlockRange range = block_range(block, points_.n_points);
            for (std::size_t i = range.begin; i < range.end; ++i) {
                const Slot a = assignment.labels[i];
                if (a == kUnlabeled) continue;
                const double own = own_cost(i, a, buffer.data(), assignment.table);
                highest[a] = std::max(highest[a], own);
            }
        });
        dates_.begin_whole_pass(assignment, merged_highest());
        find_rivals(assignment);
    }

    void find_rivals(const Assignment& assignment) {
        all_.assign(assignment.n_members.size(), 1);
        neighbors_.update(assignment, all_, dates_, new_penalty_, points_.n_features, pool_);
    }

    void find_due(const std::vector<std::uint8_t>& has_moved, const Assignment& assignment) {
        std::vector<double> buffer(points_.n_features);
        dates_.begin_pass(assignment, has_moved, [&](std::size_t i) {
            return own_cost(i, assignment.labels[i], buffer.data(), assignment.table);
        });
        find_rivals(assignment);
        const auto largest_move = [&](std::size_t a, double reach,
                                      const std::vector<double>& moves) {
            double largest = 0.0;
            for (const Neighbors::Rival& rival : neighbors_.rivals(a)) {
                if (rival.keeping_cost > reach * reach) break;
                largest = std::max(largest, moves[rival.slot]);
            }
            return largest;
        };
        dates_.take_due(largest_move, due_);
        sort_due();
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
        const std::size_t n_blocks = count_blocks(n_due());
        keys_.resize(n_due());
        found_.resize(n_blocks);
        start_highest(assignment.n_members.size());
        pool_.for_blocks(n_blocks, [&](std::size_t block, std::size_t thread) {
            std::vector<Wish>& wishes = found_[block];
            double* highest = highest_[thread].data();
            wishes.clear();
            std::vector<double> buffer(points_.n_features);
            const BlockRange range = block_range(block, n_due());
            const std::size_t ahead = look_ahead(kAhead);
            for (std::size_t r = range.begin; r < range.end; ++r) {
                if (!is_whole_ && r + ahead < range.end) {
                    points_.prefetch(due_[r + ahead]);
                    prefetch(&assignment.labels[due_[r + ahead]]);
                }
                const std::size_t i = due_at(r);
                const Slot a = assignment.labels[i];
                keys_[r] = kNoDate;
                if (a == kUnlabeled) continue;
                const double* y = points_.row(i, buffer.data());
                const double own =
                    squared_distance(y, assignment.table.center(a), points_.n_features);
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
        const std::size_t n_parts = n_due() < kPointBlock ? 1 : pool_.size();
        pool_.for_blocks(n_parts, [&](std::size_t part, std::size_t) {
            for (std::size_t r = 0; r < n_due(); ++r) {
                const std::size_t i = due_at(r);
                const Slot a = assignment.labels[i];
                if (keys_[r] == kNoDate || static_cast<std::size_t>(a) % n_parts != part) continue;
                dates_.queue(a, ring_of(keys_[r])).push(keys_[r], static_cast<std::uint32_t>(i));
            }
        });
        if (is_whole_) std::vector<DueKey>().swap(keys_);
        const std::vector<double>& highest = merged_highest();
        for (std::size_t k = 0; k < highest.size(); ++k) dates_.raise_radius(k, highest[k]);
    }

    const Points<Value>& points_;
    double new_penalty_;
    ThreadPool& pool_;
    Neighbors neighbors_;
    DueDates dates_;
    bool is_whole_ = true;               // all points are looked at in this pass
    std::vector<std::uint32_t> due_;     // otherwise these
    std::vector<std::uint64_t> is_due_;  // a bit for each point
    std::vector<DueKey> keys_;           // of those that are looked at
    std::vector<std::uint8_t> all_;
    std::vector<std::vector<double>> highest_;  // one for each thread
    std::vector<std::vector<Wish>> found_;
};

}  // namespace dynmeans::passes
