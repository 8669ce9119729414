// Who is due (deferred_checks.hpp): in a batch of many points a late pass looks at these, and reads
// nothing else.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "numeric/squared_distance.hpp"
#include "passes/center_bounds.hpp"
#include "passes/deferred_checks.hpp"
#include "passes/preferences.hpp"
#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans {

template <typename Value>
class DeferredPoints {
  public:
    DeferredPoints(const Points<Value>& points, double new_penalty, ThreadPool& pool)
        : points_(points),
          new_penalty_(new_penalty),
          pool_(pool),
          neighbors_(points.n_features, true),
          dates_(points.n_features, new_penalty) {}

    double highest(std::size_t k) const { return dates_.highest(k); }
    std::size_t n_slots() const { return neighbors_.n_slots(); }

    bool is_started() const { return dates_.are_known(); }
    void forget() { dates_.forget(); }

    // From here on by dates; `own` knows the highest own cost of each slot.
    template <typename Own>
    void start(const Assignment& assignment, const Own& own) {
        neighbors_.forget();
        dates_.start(assignment, [&](std::size_t k) { return own.highest(k); });
        has_begun_ = false;
    }

    // Gaps were closed.
    void follow(const Assignment& assignment) {
        if (!assignment.renamed.empty()) neighbors_.forget();
        dates_.follow(assignment);
    }

    // `has_moved` marks the slots that are not as they were at the start of the last pass.
    void find(const std::vector<std::uint8_t>& has_moved, const Assignment& assignment,
              std::vector<Preference>& preferences) {
        preferences.clear();
        find_due(has_moved, assignment);
        look(assignment, preferences);
        // In the first pass by dates, stretch by stretch, everybody is due.
        for (std::size_t i = 0; !has_begun_ && i < points_.n_points; i += kStretch) {
            const std::size_t end = std::min(i + kStretch, points_.n_points);
            due_.resize(end - i + 1);
            std::size_t n = 0;
            for (std::size_t p = i; p < end; ++p) {
                due_[n] = static_cast<std::uint32_t>(p);
                n += assignment.labels[p] != kUnlabeled;
            }
            due_.resize(n);
            look(assignment, preferences);
        }
        has_begun_ = true;
        for (const Preference& preference : preferences) dates_.wait(preference.point);
    }

    // Calls ask(point, row, own cost, list) for members of some slots that cost enough there, but
    // for those that want to move anyway.
    template <typename Ask>
    void for_members(const std::vector<NearSlot>& near, const Assignment& assignment,
                     const Ask& ask, std::vector<Preference>& asked) {
        asked.clear();
        std::vector<double> buffer(points_.n_features);
        for (const NearSlot& one : near)
            dates_.for_members(one.slot, one.kept, [&](std::uint32_t i) {
                if (assignment.labels[i] != static_cast<Slot>(one.slot)) return;
                const double* y = points_.row(i, buffer.data());
                const double own =
                    squared_distance(y, assignment.table.center(one.slot), points_.n_features);
                if (!(own < one.kept)) ask(i, y, own, asked);
            });
    }

    // Slots in `changed` are new to others, and who moved though it was not due has a date where
    // it is no more.
    void after_events(const Assignment& assignment, std::vector<Preference>& preferences,
                      const std::vector<std::size_t>& changed) {
        for (const std::size_t k : changed) dates_.mark_fresh(k);
        const auto is_before = [](const Preference& a, const Preference& b) {
            return a.point < b.point;
        };
        std::sort(preferences.begin(), preferences.end(), is_before);
        for (const Assignment::Move& move : assignment.moves) {
            if (std::binary_search(preferences.begin(), preferences.end(),
                                   Preference{move.point, 0}, is_before))
                continue;
            dates_.wait(move.point);
            dates_.mark_dirty(move.from);
        }
    }

  private:
    static constexpr std::size_t kStretch = 262144, kAtOnce = 1024;        // points
    static constexpr DueKey kNoDate = std::numeric_limits<DueKey>::max();  // moves
    static constexpr DueKey kGuarded = kNoDate - 1;                        // needs none

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
            for (const CenterBounds::Rival& rival : neighbors_.rivals(a)) {
                if (rival.keeping_cost > reach * reach) break;
                largest = std::max(largest, moves[rival.slot]);
            }
            return largest;
        };
        due_.clear();
        dates_.open_slots(
            assignment, [&](std::size_t k) { return neighbors_.keeping_cost_of(k); }, due_);
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

    // Looks at those that are due: they want to move, or get a date, or need none.
    void look(const Assignment& assignment, std::vector<Preference>& preferences) {
        if (due_.empty()) return;
        find_keys(assignment);
        for (const std::vector<Preference>& found : found_)
            preferences.insert(preferences.end(), found.begin(), found.end());
        keep_stayers();
    }

    void find_keys(const Assignment& assignment) {
        const std::size_t n_blocks = count_blocks(due_.size());
        keys_.resize(due_.size());
        slots_.resize(due_.size());
        found_.resize(n_blocks);
        start_highest(assignment.n_members.size());
        pool_.for_blocks(n_blocks, [&](std::size_t block, std::size_t thread) {
            std::vector<Preference>& preferences = found_[block];
            double* highest = highest_[thread].data();
            preferences.clear();
            std::vector<double> buffer(points_.n_features);
            const BlockRange range = block_range(block, due_.size());
            Unbounded listed[kAtOnce + 1];
            for (std::size_t begin = range.begin; begin < range.end; begin += kAtOnce) {
                const std::size_t end = std::min(begin + kAtOnce, range.end);
                const std::size_t n = list_unbounded(assignment, begin, end, buffer.data(), listed);
                for (std::size_t at = 0; at < n; ++at) {
                    const auto [own, r] = listed[at];
                    const Slot a = slots_[r];
                    const double* y = points_.row(due_[r], buffer.data());
                    const double u = std::sqrt(own);
                    const CenterBounds::Query found =
                        neighbors_.look(y, a, own, u, new_penalty_, assignment.table);
                    highest[a] = std::max(highest[a], own);
                    keys_[r] = found.slot == static_cast<std::size_t>(a)
                                   ? dates_.date(a, u, found.bound)
                                   : kNoDate;
                    if (keys_[r] == kNoDate)
                        preferences.push_back(
                            {static_cast<std::int32_t>(due_[r]), to_preference(found.slot)});
                }
            }
        });
    }

    struct Unbounded {
        double own_cost;
        std::uint32_t at;  // in due_
    };

    // Without a branch, as in slot_mask.hpp.
    std::size_t list_unbounded(const Assignment& assignment, std::size_t begin, std::size_t end,
                               double* buffer, Unbounded* listed) {
        Unbounded* next = listed;
        for (std::size_t r = begin; r < end; ++r) {
            const Slot a = assignment.labels[due_[r]];
            const double own = squared_distance(points_.row(due_[r], buffer),
                                                assignment.table.center(a), points_.n_features);
            keys_[r] = kGuarded;
            slots_[r] = a;
            *next = {own, static_cast<std::uint32_t>(r)};
            next += !(own < dates_.guarded(a));
        }
        return static_cast<std::size_t>(next - listed);
    }

    // Each thread has slots of its own.
    void keep_stayers() {
        const std::size_t n_parts = due_.size() < kPointBlock ? 1 : pool_.size();
        pool_.for_blocks(n_parts, [&](std::size_t part, std::size_t) {
            for (std::size_t begin = 0; begin < due_.size(); begin += kAtOnce) {
                const std::size_t end = std::min(begin + kAtOnce, due_.size());
                keep_some_stayers(begin, end, part, n_parts);
            }
        });
        const std::vector<double>& highest = merged_highest();
        for (std::size_t k = 0; k < highest.size(); ++k) dates_.raise_radius(k, highest[k]);
    }

    // In two lists, each without a branch.
    void keep_some_stayers(std::size_t begin, std::size_t end, std::size_t part,
                           std::size_t n_parts) {
        std::uint32_t guarded[kAtOnce + 1], dated[kAtOnce + 1];
        std::size_t n_guarded = 0, n_dated = 0;
        for (std::size_t r = begin; r < end; ++r) {
            const auto a = static_cast<std::size_t>(slots_[r]);
            const bool is_ours = n_parts == 1 || a % n_parts == part;
            guarded[n_guarded] = dated[n_dated] = static_cast<std::uint32_t>(r);
            n_guarded += is_ours & (keys_[r] == kGuarded);
            n_dated += is_ours & (keys_[r] < kGuarded);
        }
        for (std::size_t at = 0; at < n_guarded; ++at)
            dates_.guard(slots_[guarded[at]], due_[guarded[at]]);
        for (std::size_t at = 0; at < n_dated; ++at) {
            const DueKey key = keys_[dated[at]];
            dates_.queue(slots_[dated[at]], ring_of(key)).push(key, due_[dated[at]]);
        }
    }

    const Points<Value>& points_;
    double new_penalty_;
    ThreadPool& pool_;
    CenterBounds neighbors_;
    DeferredChecks dates_;
    bool has_begun_ = false;                    // every point is in its place
    std::vector<std::uint32_t> due_;            // who is looked at in this pass
    std::vector<std::uint64_t> is_due_;         // a bit for each point
    std::vector<DueKey> keys_;                  // of those that are looked at
    std::vector<Slot> slots_;                   // the same
    std::vector<std::vector<double>> highest_;  // one for each thread
    std::vector<std::vector<Preference>> found_;
};

}  // namespace dynmeans
