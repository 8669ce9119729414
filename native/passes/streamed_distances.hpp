// Who may move, for few features: every pass sweeps the rows once, takes the distance of each to
// its own center and holds it against the Elkan bound of its slot (center_bounds.hpp). A distance
// of a few features takes less time than reading one that was kept.
//
// The highest own cost of a slot is known before the sweep: what it was in the last one, and as
// much more as the center has moved since; points that came are looked at. That is above the
// true one, so that a slot may get a rival too many, never one too few.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "numeric/squared_distance.hpp"
#include "passes/center_bounds.hpp"
#include "passes/preferences.hpp"
#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans {

template <typename Value>
class StreamedDistances {
  public:
    static constexpr std::size_t kMaxFeatures = NearestRivals::kMaxFeatures;

    StreamedDistances(const Points<Value>& points, double new_penalty, ThreadPool& pool)
        : points_(points), new_penalty_(new_penalty), pool_(pool), neighbors_(points.n_features) {}

    double highest(std::size_t k) const { return highest_[k]; }  // at least, of slot k
    std::size_t n_slots() const { return neighbors_.n_slots(); }

    // Forgets the last run.
    void start() { is_whole_ = true; }

    // After a first pass, in which nobody joined a cluster at a cost above lambda, and before its
    // centers move: that is enough to know, and saves a sweep.
    void start_from_first(const Assignment& assignment) {
        highest_.assign(assignment.n_members.size(), new_penalty_);
        centers_.assign(assignment.table.center(0),
                        assignment.table.center(assignment.n_members.size()));
        is_whole_ = false;
    }

    // Centers have moved.
    void follow(const Assignment& assignment) {
        const std::size_t n_slots = assignment.n_members.size();
        if (is_whole_) {
            highest_.assign(n_slots, 0.0);
            const std::vector<double> all(n_slots, 0.0);
            sweep(assignment, all, false, [](std::size_t, std::size_t, double) {});
        } else {
            assignment.follow_slots(highest_, 1);
            assignment.follow_slots(centers_, points_.n_features);
            let_centers_move(assignment);
        }
        is_whole_ = false;
        centers_.assign(assignment.table.center(0), assignment.table.center(n_slots));
    }

    // `has_moved` marks the slots that are not as they were at the start of the last pass.
    void find(const std::vector<std::uint8_t>& has_moved, const Assignment& assignment,
              std::vector<Preference>& preferences) {
        neighbors_.update(assignment, has_moved, *this, new_penalty_, points_.n_features, pool_);
        std::vector<double> bounds(assignment.n_members.size(), kNever);
        for (std::size_t k = 0; k < bounds.size(); ++k) {
            if (assignment.n_members[k] > 0) bounds[k] = neighbors_.keeping_cost_of(k);
            highest_[k] = std::min(highest_[k], bounds[k]);
        }
        start_lists();
        sweep(assignment, bounds, true, [&](std::size_t block, std::size_t i, double own) {
            double buffer[kMaxFeatures];
            const Slot a = assignment.labels[i];
            const std::size_t best =
                neighbors_.cheapest(points_.row(i, buffer), a, own, new_penalty_, assignment.table);
            if (best != static_cast<std::size_t>(a))
                found_[block].push_back({static_cast<std::int32_t>(i), to_preference(best)});
        });
        join_lists(found_, preferences);
    }

    // Calls ask(point, row, own cost, list) for members of some slots that cost enough there.
    template <typename Ask>
    void for_members(const std::vector<NearSlot>& near, const Assignment& assignment,
                     const Ask& ask, std::vector<Preference>& asked) {
        std::vector<double> kept(assignment.n_members.size(), kNever);
        for (const NearSlot& one : near) kept[one.slot] = one.kept;
        start_lists();
        if (!near.empty())
            sweep(assignment, kept, false, [&](std::size_t block, std::size_t i, double own) {
                double buffer[kMaxFeatures];
                ask(i, points_.row(i, buffer), own, found_[block]);
            });
        join_lists(found_, asked);
    }

  private:
    static constexpr double kNever = std::numeric_limits<double>::infinity();
    static constexpr std::size_t kAtOnce = 1024;  // points

    struct UnboundedRow {
        double own_cost;
        std::uint32_t point;
    };

    void start_lists() {
        found_.resize(count_blocks(points_.n_points));
        for (std::vector<Preference>& found : found_) found.clear();
    }

    // Raises the bounds on own costs by what the centers moved since the sweep.
    void let_centers_move(const Assignment& assignment) {
        const std::size_t d = points_.n_features;
        const CostTable& table = assignment.table;
        for (std::size_t k = 0; k < highest_.size(); ++k) {
            if (!assignment.has_changed[k]) continue;
            const double gap = squared_distance(table.center(k), centers_.data() + k * d, d);
            const double root =
                std::sqrt(std::max(highest_[k], kTiny)) + std::sqrt(std::max(gap, kTiny));
            highest_[k] = root * root * (1.0 + kSlack);
        }
        for (const Assignment::Move& move : assignment.moves) {
            double buffer[kMaxFeatures];
            const Slot k = assignment.labels[move.point];
            const double* y = points_.row(move.point, buffer);
            highest_[k] = std::max(highest_[k], squared_distance(y, table.center(k), d));
        }
    }

    // Calls visit(block, point, own cost) for the points whose own cost reaches the bound of their
    // slot, and raises the highest costs to theirs; if asked so, only for those that the nearest
    // rivals of their slot do not settle.
    template <typename Visit>
    void sweep(const Assignment& assignment, const std::vector<double>& bounds, bool by_rivals,
               const Visit& visit) {
        switch (points_.n_features) {
            case 1:
                return sweep_few<1>(assignment, bounds, by_rivals, visit);
            case 2:
                return sweep_few<2>(assignment, bounds, by_rivals, visit);
            case 3:
                return sweep_few<3>(assignment, bounds, by_rivals, visit);
            default:
                return sweep_few<4>(assignment, bounds, by_rivals, visit);
        }
    }

    template <std::size_t D, typename Visit>
    void sweep_few(const Assignment& assignment, const std::vector<double>& bounds, bool by_rivals,
                   const Visit& visit) {
        fill_sides<D>(assignment, bounds);
        highest_of_threads_.assign(pool_.size(), highest_);
        pool_.for_blocks(count_blocks(points_.n_points), [&](std::size_t block, std::size_t t) {
            std::vector<double>& highest = highest_of_threads_[t];
            const BlockRange range = block_range(block, points_.n_points);
            UnboundedRow listed[kAtOnce + 1];
            for (std::size_t begin = range.begin; begin < range.end; begin += kAtOnce) {
                const std::size_t end = std::min(begin + kAtOnce, range.end);
                std::size_t n = list<D>(assignment.labels.data(), begin, end, listed);
                for (std::size_t r = 0; r < n; ++r) {
                    double& most = highest[assignment.labels[listed[r].point]];
                    most = std::max(most, listed[r].own_cost);
                }
                if (by_rivals) n = list_tempted<D>(assignment.labels.data(), listed, n);
                for (std::size_t r = 0; r < n; ++r)
                    visit(block, listed[r].point, listed[r].own_cost);
            }
        });
        for (const std::vector<double>& highest : highest_of_threads_)
            for (std::size_t k = 0; k < highest_.size(); ++k)
                highest_[k] = std::max(highest_[k], highest[k]);
    }

    // The center and the bound of each slot side by side, after those of points without a label,
    // which reach no bound.
    template <std::size_t D>
    void fill_sides(const Assignment& assignment, const std::vector<double>& bounds) {
        sides_.assign((bounds.size() + 1) * (D + 1), std::numeric_limits<double>::quiet_NaN());
        for (std::size_t k = 0; k < bounds.size(); ++k) {
            double* side = sides_.data() + (k + 1) * (D + 1);
            std::copy_n(assignment.table.center(k), D, side);
            side[D] = bounds[k];
        }
    }

    // Without a branch, as in slot_mask.hpp.
    template <std::size_t D>
    std::size_t list(const Slot* labels, std::size_t begin, std::size_t end,
                     UnboundedRow* listed) const {
        static_assert(kUnlabeled == -1);
        const double* sides = sides_.data() + (D + 1);
        const Value* row = points_.values + begin * D;
        UnboundedRow* next = listed;
        for (std::size_t i = begin; i < end; ++i, row += D) {
            const double* side = sides + labels[i] * static_cast<std::ptrdiff_t>(D + 1);
            double squares[D];
            for (std::size_t j = 0; j < D; ++j)
                squares[j] = (row[j] - side[j]) * (row[j] - side[j]);
            const double own = add_few_in_halves<D>(squares);
            *next = {own, static_cast<std::uint32_t>(i)};
            next += own >= side[D];
        }
        return static_cast<std::size_t>(next - listed);
    }

    // Leaves out those that cost less in their own slot than in its nearest rivals, and enough less
    // than in any other.
    template <std::size_t D>
    std::size_t list_tempted(const Slot* labels, UnboundedRow* listed, std::size_t n) const {
        UnboundedRow* next = listed;
        for (std::size_t r = 0; r < n; ++r) {
            const UnboundedRow one = listed[r];
            const NearestRivals& rivals = neighbors_.nearest(labels[one.point]);
            const double lowest = rivals.template lowest_cost<D>(points_.values + one.point * D);
            *next = one;
            next += !((one.own_cost < lowest) & (one.own_cost < rivals.next));
        }
        return static_cast<std::size_t>(next - listed);
    }

    const Points<Value>& points_;
    double new_penalty_;
    ThreadPool& pool_;
    CenterBounds neighbors_;
    bool is_whole_ = true;  // no cost is known
    std::vector<double> highest_;
    std::vector<double> centers_;  // of the last sweep
    std::vector<double> sides_;    // (n_slots + 1, n_features + 1)
    std::vector<std::vector<double>> highest_of_threads_;
    std::vector<std::vector<Preference>> found_;
};

}  // namespace dynmeans
