// Which rows of a worker are in doubt soonest: those go to the one who makes the late passes
// (border_passes.hpp), all others stay behind.
//
// A row of slot a, at u from its own center, with no other cost whose root is below l, keeps its
// slot until centers have moved by l - u (fixed_points.hpp). Of slots that are not listed up to a
// reach R, an awake one is more than 2 R from center a, so more than 2 R - u from the row; of a
// sleeping one, whose cost may grow slower than its distance, only that its root is above R is
// known. At the pace of the last pass, its own center and the fastest rival together, l - u is so
// many passes away: its date. Paces only decide who is sent; the rest follows from slacks, which
// are bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "passes/center_bounds.hpp"
#include "records/points.hpp"
#include "search/elkan_bound.hpp"

namespace dynmeans::dask {

// The highest own cost of each slot, with room for points farther off.
struct WideReach {
    static constexpr double kRoom = 1.25;
    const double* highest_own;
    double highest(std::size_t k) const { return highest_own[k] * (kRoom * kRoom); }
    double reach(std::size_t k) const { return std::sqrt(std::max(highest_own[k], kTiny)); }
};

class BorderRows {
  public:
    struct Found {
        double date;
        std::uint32_t part, row;
    };

    // `neighbors` are whole lists up to a wide reach; `moves` are those of the last pass.
    BorderRows(std::size_t limit, const CenterBounds& neighbors, const WideReach& own,
               const double* moves, const std::vector<std::uint8_t>& is_active)
        : limit_(limit), neighbors_(neighbors), own_(own), paces_(is_active.size()) {
        double fastest = kTiny;
        for (std::size_t k = 0; k < paces_.size(); ++k) fastest = std::max(fastest, moves[k]);
        for (std::size_t k = 0; k < paces_.size(); ++k) {
            if (!is_active[k]) continue;
            double near = 0.0;
            for (const CenterBounds::Rival& rival : neighbors.rivals(k))
                near = std::max(near, moves[rival.slot]);
            paces_[k] = moves[k] + near + kLeastPace * fastest;
        }
        find_calm();
    }

    // A row of slot k with a lower own cost stays behind.
    double calm(std::size_t k) const { return calm_[k]; }

    // A row that stays in slot k, for now; `bound` is what CenterBounds::look found.
    void add(std::size_t k, double own_cost, double bound, std::size_t part, std::size_t row) {
        const double u = std::max(std::sqrt(own_cost), kLeastDistance);
        const double wide = WideReach::kRoom * own_.reach(k);
        const double farther = neighbors_.has_sleeping() ? wide : 2.0 * wide - u;
        const double slack = std::min(bound, farther) * (1.0 - kSlack) - u * (1.0 + kSlack);
        add(slack / paces_[k], part, row);
    }

    // One that does not.
    void add_mover(std::size_t part, std::size_t row) { add(-1.0, part, row); }

    // Those who are sent, at most `limit`, in the order of memory.
    const std::vector<Found>& take() {
        if (found_.size() > limit_) cut();
        std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
            return a.part != b.part ? a.part < b.part : a.row < b.row;
        });
        return found_;
    }

    // No row of slot k that stays behind has less.
    std::vector<double> slacks() const {
        std::vector<double> found(paces_);
        for (double& slack : found) slack *= horizon_ * (1.0 - kSlack);
        return found;
    }

  private:
    static constexpr double kPasses = 128.0;          // who is due later is not in doubt
    static constexpr double kLeastDistance = 1e-130;  // squares of less may have been rounded off
    static constexpr double kLeastPace = 1.0 / 64.0;  // of the fastest slot's, which others follow

    void add(double date, std::size_t part, std::size_t row) {
        if (!(date < horizon_)) return;
        found_.push_back({date, static_cast<std::uint32_t>(part), static_cast<std::uint32_t>(row)});
        if (found_.size() >= 2 * limit_) cut();
    }

    // Keeps the first `limit` of those that were found.
    void cut() {
        const auto end = found_.begin() + static_cast<std::ptrdiff_t>(limit_);
        std::nth_element(found_.begin(), end, found_.end(),
                         [](const Found& a, const Found& b) { return a.date < b.date; });
        horizon_ = end->date;
        found_.erase(end, found_.end());
        const auto is_late = [&](const Found& one) { return !(one.date < horizon_); };
        found_.erase(std::remove_if(found_.begin(), found_.end(), is_late), found_.end());
        find_calm();
    }

    // A row within its slot's guard keeps it by root - u at least.
    void find_calm() {
        calm_.assign(paces_.size(), 0.0);
        for (std::size_t k = 0; k < paces_.size(); ++k) {
            if (paces_[k] == 0.0) continue;
            const double slack = std::max(0.0, horizon_ * paces_[k]);
            const double share = neighbors_.has_sleeping() ? 1.0 : 0.5;
            const double u = std::min(std::sqrt(neighbors_.keeping_cost_of(k)) - slack,
                                      WideReach::kRoom * own_.reach(k) - share * slack);
            if (u > kLeastDistance) calm_[k] = u * u * (1.0 - 8.0 * kSlack);
        }
    }

    std::size_t limit_;
    const CenterBounds& neighbors_;
    WideReach own_;
    std::vector<double> paces_, calm_;  // of each slot
    double horizon_ = kPasses;
    std::vector<Found> found_;
};

}  // namespace dynmeans::dask
