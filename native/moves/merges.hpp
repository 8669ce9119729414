// A move of the deeper search: two sets become one. Scatter rises by n1 n2/(n1 + n2) |m1 - m2|^2,
// and of two terms one is left: that of either identity, or lambda.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "moves/sets.hpp"

namespace dynmeans {

template <typename Value>
class Merges {
  public:
    explicit Merges(Sets<Value>& sets) : sets_(sets) {}

    // The best pairs first, each set in one merge at most; true if L_t fell.
    bool make(double least) {
        find_pairs(least);
        std::sort(pairs_.begin(), pairs_.end(), [](const Pair& x, const Pair& y) {
            return std::make_tuple(-x.gain, x.a, x.b) < std::make_tuple(-y.gain, y.a, y.b);
        });
        is_merged_.assign(sets_.size(), 0);
        for (const Pair& pair : pairs_) {
            if (is_merged_[pair.a] || is_merged_[pair.b]) continue;
            is_merged_[pair.a] = is_merged_[pair.b] = 1;
            sets_.own(pair.a, kNew);
            sets_.unite(pair.a, pair.b);
            sets_.own(pair.a, pair.owner);
        }
        return !pairs_.empty();
    }

  private:
    struct Pair {
        double gain;
        std::uint32_t a, b;
        Slot owner;
    };

    // The lighter of a pair weighs n at most twice what n1 n2/(n1 + n2) comes to, and no more can
    // be saved than two terms: so the other lies near.
    void find_pairs(double least) {
        pairs_.clear();
        mean_.resize(sets_.d());
        terms_.resize(sets_.size());
        inverses_.resize(sets_.size());
        double highest = 0.0;
        for (std::size_t k = 0; k < sets_.size(); ++k) {
            terms_[k] = sets_.term(k);
            inverses_[k] = 1.0 / sets_.n(k);
            highest = std::max(highest, terms_[k]);
        }
        order_.build(sets_.mean(0), sets_.size(), sets_.d());
        for (std::size_t a = 0; a < sets_.size(); ++a) {
            order_.visit_within(sets_.mean(a), 4.0 * highest / sets_.n(a), [&](std::size_t b) {
                const bool is_lighter =
                    sets_.n(a) < sets_.n(b) || (sets_.n(a) == sets_.n(b) && a < b);
                if (is_lighter) consider(std::min(a, b), std::max(a, b), least);
            });
        }
    }

    void consider(std::size_t a, std::size_t b, double least) {
        const std::size_t d = sets_.d();
        const double apart = squared_distance(sets_.mean(a), sets_.mean(b), d);
        if (apart > (terms_[a] + terms_[b]) * (inverses_[a] + inverses_[b]) * (1.0 + 1e-9)) return;
        const double n = sets_.n(a) + sets_.n(b);
        const double rise = sets_.n(a) * sets_.n(b) / n * apart;
        if (!(terms_[a] + terms_[b] - rise > least)) return;
        // Of two new clusters nobody needs the mean; with weights of very different size a light
        // set pays with nearly all others, and reading sums would be most of the work.
        if (sets_.owner(a) != kNew || sets_.owner(b) != kNew)
            sets_.write_union_mean(a, b, n, mean_.data());
        double term = sets_.new_penalty();
        Slot owner = kNew;
        for (const Slot candidate : {sets_.owner(a), sets_.owner(b)}) {
            if (candidate == kNew) continue;
            const double other = sets_.term(n, mean_.data(), candidate);
            if (!(other < term)) continue;
            term = other;
            owner = candidate;
        }
        const double gain = terms_[a] + terms_[b] - term - rise;
        if (gain > least)
            pairs_.push_back(
                {gain, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), owner});
    }

    Sets<Value>& sets_;
    CenterOrder order_;
    std::vector<Pair> pairs_;
    std::vector<double> terms_, inverses_, mean_;  // 1/n
    std::vector<std::uint8_t> is_merged_;
};

}  // namespace dynmeans
