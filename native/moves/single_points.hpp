// A move of the deeper search: one point to another set, at what that truly costs (Hartigan's rule;
// see algorithm/single_points.py). Only members of sets with few points are asked.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "moves/sets.hpp"

namespace dynmeans {

template <typename Value>
class SinglePoints {
  public:
    explicit SinglePoints(Sets<Value>& sets) : sets_(sets) {}

    // In visiting order; true if L_t fell.
    bool make(double least) {
        d_ = sets_.d();
        collect();
        if (asked_.empty()) return false;
        find_centers();
        bool has_changed = false;
        for (const auto& [position, home] : asked_) has_changed |= move(position, home, least);
        return has_changed;
    }

  private:
    using Position = typename Sets<Value>::Position;
    static constexpr std::size_t kFew = 16;     // points
    static constexpr std::size_t kMany = 1000;  // sets, of which no lists are made
    static constexpr std::uint32_t kNobody = Sets<Value>::kNobody;

    void collect() {
        asked_.clear();
        for (std::size_t k = 0; k < sets_.size(); ++k) {
            if (sets_.n_members(k) > kFew) continue;
            for (const Position p : sets_.listed(k))
                asked_.push_back({p, static_cast<std::uint32_t>(k)});
        }
        std::sort(asked_.begin(), asked_.end());
    }

    void find_centers() {
        const std::size_t n = sets_.size();
        centers_.resize(n * d_);
        masses_.resize(n);
        double lightest = CenterOrder::kNever;
        for (std::size_t k = 0; k < n; ++k) {
            refresh(k);
            if (sets_.n_members(k) > 0) lightest = std::min(lightest, masses_[k]);
        }
        if (near_.size() < n) near_.resize(n);
        has_near_.assign(n, 0);
        free_.resize(n);
        has_free_.assign(n, 0);
        least_inverse_ = 1.0 / lightest;
        order_.build(centers_.data(), n, d_);
        has_changed_.assign(n, 0);
        changed_.clear();
        has_freed_ = false;
    }

    void refresh(std::size_t k) {
        masses_[k] = sets_.mass(k);
        if (sets_.n_members(k) > 0) sets_.write_center(k, centers_.data() + k * d_);
    }

    struct Near {
        double distance;
        std::uint32_t set;
    };

    // All other sets by how far their centers are, found once for a set: a point that is u from its
    // center and within r of another has that center within u + r of its own.
    const std::vector<Near>& near_of(std::size_t k) {
        if (has_near_[k]) return near_[k];
        has_near_[k] = 1;
        near_[k].clear();
        const double* center = centers_.data() + k * d_;
        for (std::size_t b = 0; b < has_near_.size(); ++b)
            if (b != k)
                near_[k].push_back(
                    {std::sqrt(squared_distance(center, centers_.data() + b * d_, d_)),
                     static_cast<std::uint32_t>(b)});
        std::sort(near_[k].begin(), near_[k].end(),
                  [](const Near& x, const Near& y) { return x.distance < y.distance; });
        return near_[k];
    }

    void mark(std::size_t k) {
        if (k >= masses_.size()) {
            masses_.resize(k + 1);
            centers_.resize((k + 1) * d_);
            has_changed_.resize(k + 1, 0);
        }
        refresh(k);
        if (has_changed_[k]) return;
        has_changed_[k] = 1;
        changed_.push_back(static_cast<std::uint32_t>(k));
    }

    // No point of set k that far from its center costs less by itself.
    double least_alone(std::size_t k, double away, double w) {
        if (has_freed_ || has_changed_[k]) return 0.0;
        if (!has_free_[k]) free_[k] = sets_.free_bound(centers_.data() + k * d_);
        has_free_[k] = 1;
        return sets_.least_free_term(free_[k], std::sqrt(away), w);
    }

    struct Choice {
        double cost = CenterOrder::kNever;
        std::uint32_t set = kNobody;
    };

    bool move(Position p, std::size_t k, double least) {
        const double* y = sets_.point_at(p);
        const double w = sets_.points().weight(sets_.row_at(p));
        const bool is_alone = sets_.n_members(k) == 1;
        const double left = masses_[k] - w;
        if (!is_alone && !(left > 0.0)) return false;
        const double away = squared_distance(y, centers_.data() + k * d_, d_);
        const double saved = is_alone ? sets_.term(k) : masses_[k] * w / left * away;
        if (!(saved > least)) return false;
        Choice best;
        const auto consider = [&](std::size_t b) {
            if (b == k || sets_.n_members(b) == 0) return;
            const double g = masses_[b];
            const double paid = g * w / (g + w) * squared_distance(y, centers_.data() + b * d_, d_);
            if (paid < best.cost || (paid == best.cost && b < best.set))
                best = {paid, static_cast<std::uint32_t>(b)};
        };
        const double reach = saved * (1.0 / w + least_inverse_);  // squared
        if (has_changed_[k] || has_near_.size() > kMany) {
            order_.visit_within(y, reach, [&](std::size_t b) {
                if (!has_changed_[b]) consider(b);
            });
        } else {
            const double farthest = std::sqrt(reach) + std::sqrt(away);
            for (const Near& other : near_of(k)) {
                if (other.distance > farthest * (1.0 + 1e-9)) break;
                if (!has_changed_[other.set]) consider(other.set);
            }
        }
        for (const std::uint32_t b : changed_) consider(b);
        Slot owner = kNew;
        if (!is_alone && saved - least_alone(k, away, w) > least) {
            const auto free = sets_.cheapest_free(w, y, saved);
            if (free.term < best.cost) best = {free.term, kNobody};
            owner = free.owner;
        }
        if (!(saved - best.cost > least)) return false;
        const Slot held = sets_.owner(k);
        const std::size_t to = sets_.move(p, k, best.set);
        if (best.set == kNobody) sets_.own(to, owner);
        has_freed_ |= is_alone && held != kNew;
        mark(k);
        mark(to);
        return true;
    }

    Sets<Value>& sets_;
    std::size_t d_ = 0;
    std::vector<std::pair<Position, std::uint32_t>> asked_;
    CenterOrder order_;
    double least_inverse_ = 0.0;
    bool has_freed_ = false;                             // an identity, in this sweep
    std::vector<typename Sets<Value>::FreeBound> free_;  // where `has_free_`
    std::vector<double> centers_, masses_;
    std::vector<std::vector<Near>> near_;  // where `has_near_`
    std::vector<std::uint8_t> has_changed_, has_near_, has_free_;
    std::vector<std::uint32_t> changed_;  // sets that are not where `order_` has them
};

}  // namespace dynmeans
