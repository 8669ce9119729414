// A move of the deeper search: one set becomes two, by two means of it (Lloyd's), if L_t falls and
// the two are clearer than two halves of an even spread: see algorithm/splits.py. Samples,
// the first members in the visiting order, are asked before the whole of a large set is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "moves/sets.hpp"

namespace dynmeans {

constexpr std::int64_t kFewest = 20, kFewestOfPart = 5;  // points of what is plain

inline bool may_be_separated(std::int64_t n_members) { return n_members >= kFewest; }

template <typename Value>
class Splits {
  public:
    explicit Splits(Sets<Value>& sets) : sets_(sets) {}

    // Splits every set that is clearly two, or plainly so, and the parts again; true if L_t fell.
    bool make(double least, bool require_clear_gap) {
        asks_plain_ = require_clear_gap;
        bool has_changed = false;
        d_ = sets_.d();
        for (auto* place : {&a_, &b_, &theta_}) place->resize(d_);
        for (std::size_t k = 0; k < sets_.size();) {
            if (split(k, least))
                has_changed = true;
            else
                ++k;
        }
        return has_changed;
    }

  private:
    using Members = typename Sets<Value>::Members;
    using Position = typename Sets<Value>::Position;
    static constexpr int kFirstTurns = 8, kTurns = 4;

    bool split(std::size_t k, double least) {
        const std::int64_t n_members = sets_.n_members(k);
        if (asks_plain_ ? !may_be_separated(n_members) : n_members < 2) return false;
        if (!find_halves(k, least)) return false;
        const Slot owner = sets_.owner(k);
        const auto first = sets_.cheapest_free(n_[1], b_.data());
        const auto second = sets_.cheapest_free(n_[0], a_.data());
        const double first_way = sets_.term(n_[0], a_.data(), owner) + first.term;
        const double second_way = sets_.term(n_[1], b_.data(), owner) + second.term;
        const bool is_second_kept = second_way < first_way;
        if (!(fall() + sets_.term(k) - (is_second_kept ? second_way : first_way) > least))
            return false;
        Members stay, go;
        const Members& members = sets_.listed(k);
        for (std::size_t r = 0; r < members.size(); ++r)
            (is_second_[r] ? go : stay).push_back(members[r]);
        const std::size_t added =
            sets_.divide(k, std::move(stay), std::move(go), second_bins_.data());
        sets_.own(k, kNew);
        sets_.own(is_second_kept ? added : k, owner);
        sets_.own(is_second_kept ? k : added, is_second_kept ? second.owner : first.owner);
        return true;
    }

    bool find_halves(std::size_t k, double least) {
        const std::size_t n_members = sets_.n_members(k);
        if (sets_.is_known_as_one(k) || !find_seeds(k, std::min(n_members, kFirstSample), least))
            return false;
        int turns = kFirstTurns;
        for (const std::size_t most : {kFirstSample, kSecondSample, kAll}) {
            if (!sets_.has(k, most)) return false;
            const std::size_t n = std::min(most, n_members);
            const Members& members = sets_.listed(k);
            if (!turn(k, members, n, turns) ||
                !(asks_plain_ ? is_plain(members, n) : is_clear(members, n))) {
                sets_.know_as_one(k);
                return false;
            }
            if (n == n_members) break;
            turns = kTurns;
        }
        return true;
    }

    // The member farthest from the center, and the one farthest from that; false where no split
    // can pay: the scatter that would fall is at most that about the center.
    bool find_seeds(std::size_t k, std::size_t n, double least) {
        const Members& members = sets_.listed(k);
        sets_.write_center(k, theta_.data());
        double farthest = -1.0, scatter = 0.0, lightest = CenterOrder::kNever;
        Position seed = 0;
        for (std::size_t r = 0; r < n; ++r) {
            const double e = squared_distance(sets_.point_at(members[r]), theta_.data(), d_);
            const double w = sets_.points().weight(sets_.row_at(members[r]));
            scatter += e * w;
            lightest = std::min(lightest, w);
            if (!(e > farthest)) continue;
            farthest = e;
            seed = members[r];
        }
        const Slot owner = sets_.owner(k);
        const double kept = owner == kNew ? sets_.new_penalty() : sets_.remembered().offsets[owner];
        if (n == sets_.n_members(k)) {
            const double most = (scatter + sets_.term(k)) * (1.0 + 1e-9) - kept - least;
            if (most < sets_.new_penalty() &&
                most < sets_.least_free_term(sets_.free_bound(theta_.data()), std::sqrt(farthest),
                                             lightest))
                return false;
        }
        std::copy_n(sets_.point_at(seed), d_, a_.begin());
        farthest = -1.0;
        for (std::size_t r = 0; r < n; ++r) {
            const double e = squared_distance(sets_.point_at(members[r]), a_.data(), d_);
            if (!(e > farthest)) continue;
            farthest = e;
            seed = members[r];
        }
        std::copy_n(sets_.point_at(seed), d_, b_.begin());
        return true;
    }

    // Lloyd's turns; ties stay in the first part. False where one part is empty.
    bool turn(std::size_t k, const Members& members, std::size_t n, int turns) {
        whole_bins_.assign(sets_.width(), 0.0);
        second_bins_.assign(sets_.width(), 0.0);
        first_bins_.resize(sets_.width());
        if (n == sets_.n_members(k))
            std::copy_n(sets_.bins(k), sets_.width(), whole_bins_.begin());
        else
            for (std::size_t r = 0; r < n; ++r) add<1>(members[r], whole_bins_);
        is_second_.assign(n, 0);
        std::size_t n_second = 0;
        for (int t = 0; t < turns; ++t) {
            bool has_changed = false;
            for (std::size_t r = 0; r < n; ++r) {
                const double* y = sets_.point_at(members[r]);
                const bool is_second =
                    squared_distance(y, b_.data(), d_) < squared_distance(y, a_.data(), d_);
                if (is_second == (is_second_[r] != 0)) continue;
                is_second_[r] = is_second;
                has_changed = true;
                n_second += is_second ? 1 : -1;
                is_second ? add<1>(members[r], second_bins_) : add<-1>(members[r], second_bins_);
            }
            if (!has_changed || n_second == 0 || n_second == n) break;
            for (std::size_t at = 0; at < sets_.width(); ++at)
                first_bins_[at] = whole_bins_[at] - second_bins_[at];
            find_mean(first_bins_.data(), n - n_second, n_[0], a_);
            find_mean(second_bins_.data(), n_second, n_[1], b_);
        }
        return n_second > 0 && n_second < n;
    }

    template <int Sign>
    void add(Position p, std::vector<double>& bins) {
        sets_.adder().template add<Sign>(sets_.points(), sets_.row_at(p), bins.data());
    }

    void find_mean(const double* bins, std::size_t n_members, double& n, std::vector<double>& m) {
        n = sets_.weight_of(bins, n_members);
        sets_.read_sum(bins, m.data());
        for (double& value : m) value /= n;
    }

    double fall() const {
        return n_[0] * n_[1] / (n_[0] + n_[1]) * squared_distance(a_.data(), b_.data(), d_);
    }

    // Whether the two means explain more than 3/4 of the variance along their line.
    bool is_clear(const Members& members, std::size_t n) {
        const double apart = squared_distance(a_.data(), b_.data(), d_);
        if (!(apart > 0.0)) return false;
        terms_.resize(n + kSimd);
        for (std::size_t r = 0; r < n; ++r) {
            const double* y = sets_.point_at(members[r]);
            const double e = squared_distance(y, a_.data(), d_);
            const double f = squared_distance(y, b_.data(), d_);
            const double along = (e - f) * (e - f) / (4.0 * apart), most = 0.5 * (e + f);
            terms_[r] =
                sets_.points().weight(sets_.row_at(members[r])) * (along < most ? along : most);
        }
        const double within = total(n) - 0.25 * (n_[0] + n_[1]) * apart;
        return 3.0 * within < fall();
    }

    // Whether the two means explain more than 9/10 of the whole scatter, of some points each.
    bool is_plain(const Members& members, std::size_t n) {
        const std::int64_t n_second = std::count(is_second_.begin(), is_second_.end(), 1);
        const std::int64_t n_first = static_cast<std::int64_t>(n) - n_second;
        if (std::min(n_first, n_second) < kFewestOfPart) return false;
        terms_.resize(n + kSimd);
        for (std::size_t r = 0; r < n; ++r) {
            const double* mean = is_second_[r] ? b_.data() : a_.data();
            terms_[r] = sets_.points().weight(sets_.row_at(members[r])) *
                        squared_distance(sets_.point_at(members[r]), mean, d_);
        }
        return 9.0 * total(n) < fall();
    }

    double total(std::size_t n) {
        const Bins& costs = sets_.sums().costs;
        bins_.assign(costs.n_bins(), 0.0);
        costs.add(terms_.data(), n, bins_.data());
        return costs.total(bins_.data(), 0);
    }

    Sets<Value>& sets_;
    std::size_t d_ = 0;
    bool asks_plain_ = false;
    double n_[2] = {0.0, 0.0};
    std::vector<double> a_, b_, theta_;  // the two means, and the center
    std::vector<double> whole_bins_, first_bins_, second_bins_, terms_, bins_;
    std::vector<std::uint8_t> is_second_;  // of the members
};

}  // namespace dynmeans
