// A move of the deeper search: the identities of all sets at once, by linear assignment.
//
// The best ones are a matching of sets and remembered clusters whose terms are the lowest in all; a
// set left over is a new cluster for lambda. Only pairs that cost less than lambda matter. They
// fall into groups that share nothing, and most of those need no search: every set of the group
// wants another cluster. For the others, the Hungarian method.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "moves/sets.hpp"

namespace dynmeans::moves {

// Chooses a column for each row, no two the same and kNone for none, for the lowest sum of gains,
// which are never above 0: one row at a time along the shortest augmenting path.
class Matching {
  public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    void find(const std::vector<double>& gains, std::size_t n_rows, std::size_t n_columns,
              std::vector<std::size_t>& chosen) {
        n_columns_ = n_columns;
        n_all_ = n_columns + n_rows;  // columns of zeros stand for none
        u_.assign(n_rows, 0.0);
        v_.assign(n_all_, 0.0);
        holder_.assign(n_all_, kNone);
        for (std::size_t row = 0; row < n_rows; ++row) augment(row, gains);
        chosen.assign(n_rows, kNone);
        for (std::size_t c = 0; c < n_columns; ++c)
            if (holder_[c] != kNone && gains[holder_[c] * n_columns + c] < 0.0)
                chosen[holder_[c]] = c;
    }

  private:
    void augment(std::size_t row, const std::vector<double>& gains) {
        slack_.assign(n_all_, CenterOrder::kNever);
        came_from_.assign(n_all_, kNone);
        is_used_.assign(n_all_, 0);
        std::size_t column = kNone, r = row;
        while (true) {
            std::size_t nearest = kNone;
            for (std::size_t c = 0; c < n_all_; ++c) {
                if (is_used_[c]) continue;
                const double gain = c < n_columns_ ? gains[r * n_columns_ + c] : 0.0;
                const double reduced = gain - u_[r] - v_[c];
                if (reduced < slack_[c]) {
                    slack_[c] = reduced;
                    came_from_[c] = column;
                }
                if (nearest == kNone || slack_[c] < slack_[nearest]) nearest = c;
            }
            const double delta = slack_[nearest];
            u_[row] += delta;
            for (std::size_t c = 0; c < n_all_; ++c) {
                if (is_used_[c]) {
                    u_[holder_[c]] += delta;
                    v_[c] -= delta;
                } else {
                    slack_[c] -= delta;
                }
            }
            column = nearest;
            if (holder_[column] == kNone) break;
            is_used_[column] = 1;
            r = holder_[column];
        }
        while (column != kNone) {
            const std::size_t before = came_from_[column];
            holder_[column] = before == kNone ? row : holder_[before];
            column = before;
        }
    }

    std::size_t n_columns_ = 0, n_all_ = 0;
    std::vector<double> u_, v_, slack_;  // the dual prices of rows and columns
    std::vector<std::size_t> holder_, came_from_;
    std::vector<std::uint8_t> is_used_;
};

template <typename Value>
class Identities {
  public:
    explicit Identities(Sets<Value>& sets) : sets_(sets) {}

    // True if L_t fell. A group keeps what it has unless another matching is cheaper by more than
    // `least`.
    bool make(double least) {
        if (sets_.remembered().n_clusters == 0) return false;
        find_pairs();
        bool has_changed = false;
        for (std::size_t k = 0; k < sets_.size(); ++k) {
            if (is_done_[k] || pairs_[k].empty()) continue;
            gather_group(k);
            has_changed |= match_group(least);
        }
        return has_changed;
    }

  private:
    struct Pair {
        std::uint32_t set, cluster;
        double gain;
    };

    // Pairs of a gain, and those that are.
    void find_pairs() {
        const std::size_t n_sets = sets_.size();
        if (pairs_.size() < n_sets) pairs_.resize(n_sets);
        sets_of_.resize(sets_.remembered().n_clusters);
        for (auto& sets : sets_of_) sets.clear();
        is_done_.assign(n_sets, 0);
        is_in_.assign(sets_.remembered().n_clusters, 0);
        for (std::size_t k = 0; k < n_sets; ++k) {
            pairs_[k].clear();
            const double reach = sets_.new_penalty() * (sets_.widest() + 1.0 / sets_.n(k));
            const double inverse = 1.0 / sets_.n(k);
            bool is_own_seen = sets_.owner(k) == kNew;
            sets_.free_order().visit_within(sets_.mean(k), reach, [&](std::size_t j) {
                const bool is_own = static_cast<Slot>(j) == sets_.owner(k);
                is_own_seen |= is_own;
                if (is_own || sets_.may_cost_less(sets_.new_penalty(), inverse, sets_.mean(k), j))
                    add_pair(k, j, is_own);
            });
            if (!is_own_seen) add_pair(k, static_cast<std::size_t>(sets_.owner(k)), true);
        }
    }

    void add_pair(std::size_t k, std::size_t j, bool is_own) {
        const double gain =
            sets_.term(sets_.n(k), sets_.mean(k), static_cast<Slot>(j)) - sets_.new_penalty();
        if (!is_own && !(gain < 0.0)) return;
        pairs_[k].push_back({static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(j), gain});
        sets_of_[j].push_back(static_cast<std::uint32_t>(k));
    }

    // Everybody who hangs together with set k, in order.
    void gather_group(std::size_t k) {
        rows_.assign(1, static_cast<std::uint32_t>(k));
        columns_.clear();
        is_done_[k] = 1;
        for (std::size_t r = 0; r < rows_.size(); ++r)
            for (const Pair& pair : pairs_[rows_[r]]) {
                if (is_in_[pair.cluster]) continue;
                is_in_[pair.cluster] = 1;
                columns_.push_back(pair.cluster);
                for (const std::uint32_t other : sets_of_[pair.cluster])
                    if (!is_done_[other]) {
                        is_done_[other] = 1;
                        rows_.push_back(other);
                    }
            }
        std::sort(rows_.begin(), rows_.end());
        std::sort(columns_.begin(), columns_.end());
    }

    bool match_group(double least) {
        const std::size_t n_rows = rows_.size(), n_columns = columns_.size();
        gains_.assign(n_rows * n_columns, 0.0);
        double before = 0.0, after = 0.0;
        for (std::size_t r = 0; r < n_rows; ++r)
            for (const Pair& pair : pairs_[rows_[r]]) {
                const std::size_t c =
                    std::lower_bound(columns_.begin(), columns_.end(), pair.cluster) -
                    columns_.begin();
                gains_[r * n_columns + c] = std::min(pair.gain, 0.0);
                if (static_cast<Slot>(pair.cluster) != sets_.owner(rows_[r])) continue;
                before += pair.gain;
            }
        if (!choose_lowest(n_rows, n_columns)) matching_.find(gains_, n_rows, n_columns, chosen_);
        for (std::size_t r = 0; r < n_rows; ++r)
            if (chosen_[r] != Matching::kNone) after += gains_[r * n_columns + chosen_[r]];
        if (!(before - after > least)) return false;
        for (const std::uint32_t k : rows_) sets_.own(k, kNew);
        for (std::size_t r = 0; r < n_rows; ++r)
            if (chosen_[r] != Matching::kNone)
                sets_.own(rows_[r], static_cast<Slot>(columns_[chosen_[r]]));
        return true;
    }

    // Each row its lowest; false if two rows have the same.
    bool choose_lowest(std::size_t n_rows, std::size_t n_columns) {
        chosen_.assign(n_rows, Matching::kNone);
        is_wanted_.assign(n_columns, 0);
        for (std::size_t r = 0; r < n_rows; ++r) {
            const double* gains = gains_.data() + r * n_columns;
            const std::size_t lowest = std::min_element(gains, gains + n_columns) - gains;
            if (!(gains[lowest] < 0.0)) continue;
            if (is_wanted_[lowest]) return false;
            is_wanted_[lowest] = 1;
            chosen_[r] = lowest;
        }
        return true;
    }

    Sets<Value>& sets_;
    std::vector<std::vector<Pair>> pairs_;             // by set
    std::vector<std::vector<std::uint32_t>> sets_of_;  // by cluster
    std::vector<std::uint8_t> is_done_, is_in_, is_wanted_;
    std::vector<std::uint32_t> rows_, columns_;
    std::vector<double> gains_;
    std::vector<std::size_t> chosen_;
    Matching matching_;
};

}  // namespace dynmeans::moves
