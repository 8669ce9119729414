// A move of the deeper search: the identities of all sets at once, by linear assignment.
//
// The best ones are a matching of sets and remembered clusters whose terms are the lowest in all; a
// set left over is a new cluster for lambda. Only pairs that cost less than lambda matter. They
// fall into groups that share nothing, and most of those need no search: every set of the group
// wants another cluster. For the others, the Hungarian method.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "moves/sets.hpp"

namespace dynmeans {

// Chooses a column for each row, no two the same and kNone for none, for the lowest sum of gains:
// one row at a time along the shortest augmenting path (Dijkstra's method on the reduced gains;
// ties go to the lowest column). Only pairs that gain are looked at, and beside them each row has a
// column of its own, at no gain, that stands for none.
class Matching {
  public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    struct Pair {
        std::size_t column;
        double gain;
    };

    // The pairs of row r are those from starts[r] on, by column.
    void find(const std::vector<Pair>& pairs, const std::vector<std::size_t>& starts,
              std::size_t n_columns, std::vector<std::size_t>& chosen) {
        const std::size_t n_rows = starts.size() - 1, n_all = n_columns + n_rows;
        u_.assign(n_rows, 0.0);
        v_.assign(n_all, 0.0);
        holders_.assign(n_all, kNone);
        lengths_.assign(n_all, CenterOrder::kNever);
        is_settled_.assign(n_all, 0);
        came_from_.resize(n_all);
        for (std::size_t row = 0; row < n_rows; ++row) augment(row, pairs, starts, n_columns);
        chosen.assign(n_rows, kNone);
        for (std::size_t c = 0; c < n_columns; ++c)
            if (holders_[c] != kNone) chosen[holders_[c]] = c;
    }

  private:
    using Waiting = std::pair<double, std::size_t>;  // length and column

    void augment(std::size_t row, const std::vector<Pair>& pairs,
                 const std::vector<std::size_t>& starts, std::size_t n_columns) {
        waiting_ = {};
        std::size_t column = kNone, r = row;
        double length = 0.0;
        while (true) {
            for (std::size_t p = starts[r]; p < starts[r + 1]; ++p)
                reach(pairs[p].column, length + (pairs[p].gain - u_[r] - v_[pairs[p].column]),
                      column);
            reach(n_columns + r, length + (0.0 - u_[r] - v_[n_columns + r]), column);
            do {
                length = waiting_.top().first;
                column = waiting_.top().second;
                waiting_.pop();
            } while (length != lengths_[column]);  // it was reached on a shorter path since
            r = holders_[column];
            if (r == kNone) break;
            is_settled_[column] = 1;
            settled_.push_back(column);
        }
        u_[row] += length;
        for (const std::size_t c : settled_) {
            u_[holders_[c]] += length - lengths_[c];
            v_[c] -= length - lengths_[c];
        }
        while (column != kNone) {
            const std::size_t before = came_from_[column];
            holders_[column] = before == kNone ? row : holders_[before];
            column = before;
        }
        for (const std::size_t c : reached_) {
            lengths_[c] = CenterOrder::kNever;
            is_settled_[c] = 0;
        }
        reached_.clear();
        settled_.clear();
    }

    void reach(std::size_t c, double length, std::size_t from) {
        if (is_settled_[c] || !(length < lengths_[c])) return;
        lengths_[c] = length;
        came_from_[c] = from;
        reached_.push_back(c);
        waiting_.push({length, c});
    }

    std::vector<double> u_, v_, lengths_;  // the dual prices of rows and columns; of paths
    std::vector<std::size_t> holders_, came_from_, reached_, settled_;
    std::vector<std::uint8_t> is_settled_;
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<Waiting>> waiting_;
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
        gains_.clear();
        starts_.assign(1, 0);
        double before = 0.0, after = 0.0;
        for (const std::uint32_t k : rows_) {
            for (const Pair& pair : pairs_[k]) {
                const std::size_t c =
                    std::lower_bound(columns_.begin(), columns_.end(), pair.cluster) -
                    columns_.begin();
                if (pair.gain < 0.0) gains_.push_back({c, pair.gain});
                if (static_cast<Slot>(pair.cluster) == sets_.owner(k)) before += pair.gain;
            }
            std::sort(gains_.begin() + starts_.back(), gains_.end(),
                      [](const auto& x, const auto& y) { return x.column < y.column; });
            starts_.push_back(gains_.size());
        }
        if (!choose_lowest()) matching_.find(gains_, starts_, columns_.size(), chosen_);
        for (std::size_t r = 0; r < rows_.size(); ++r)
            for (std::size_t p = starts_[r]; p < starts_[r + 1]; ++p)
                if (gains_[p].column == chosen_[r]) after += gains_[p].gain;
        if (!(before - after > least)) return false;
        for (const std::uint32_t k : rows_) sets_.own(k, kNew);
        for (std::size_t r = 0; r < rows_.size(); ++r)
            if (chosen_[r] != Matching::kNone)
                sets_.own(rows_[r], static_cast<Slot>(columns_[chosen_[r]]));
        return true;
    }

    // Each row its lowest; false if two rows have the same.
    bool choose_lowest() {
        chosen_.assign(rows_.size(), Matching::kNone);
        is_wanted_.assign(columns_.size(), 0);
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            double lowest = 0.0;
            for (std::size_t p = starts_[r]; p < starts_[r + 1]; ++p) {
                if (!(gains_[p].gain < lowest)) continue;
                lowest = gains_[p].gain;
                chosen_[r] = gains_[p].column;
            }
            if (chosen_[r] == Matching::kNone) continue;
            if (is_wanted_[chosen_[r]]) return false;
            is_wanted_[chosen_[r]] = 1;
        }
        return true;
    }

    Sets<Value>& sets_;
    std::vector<std::vector<Pair>> pairs_;             // by set
    std::vector<std::vector<std::uint32_t>> sets_of_;  // by cluster
    std::vector<std::uint8_t> is_done_, is_in_, is_wanted_;
    std::vector<std::uint32_t> rows_, columns_;
    std::vector<Matching::Pair> gains_;  // of the group, by row
    std::vector<std::size_t> starts_;    // of each row
    std::vector<std::size_t> chosen_;
    Matching matching_;
};

}  // namespace dynmeans
