// The first half of a pass over parts: every row in a range of turns looks at the clusters as they
// stand at the beginning of that range.
//
// A row whose cheapest choice is an active cluster can cause no event while none empties, so it may
// be left where it is. The others, the proposers, are handed to the one who replays them in order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "dask/part.hpp"
#include "dask/rows_in_doubt.hpp"
#include "passes/center_bounds.hpp"
#include "search/cell_cache.hpp"
#include "search/center_search.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans::dask {

struct Proposals {
    std::vector<Turn> turns;
    std::vector<double> rows;
    std::size_t n_found = 0;  // all of them; the first are kept
};

class ProposalList {
  public:
    void add(const Turn& turn, std::size_t part, std::size_t row) {
        found_.push_back({turn, part, row});
    }

    // All rows of a part in this range that take part.
    template <typename Value>
    void add_rows(const Part<Value>& part, std::size_t p, const TurnRange& range) {
        for (std::size_t i = 0; i < part.points.n_points; ++i)
            if (part.points.takes_part(i) && part.is_in(i, range)) add(part.turn(i), p, i);
    }

    // The first `limit`, by increasing turn; with their places in the piece and their weights, if
    // these are asked for.
    template <typename Value>
    Proposals take(const std::vector<Part<Value>>& parts, std::size_t limit, std::size_t n_features,
                   std::vector<std::int64_t>* places = nullptr,
                   std::vector<double>* weights = nullptr) {
        Proposals kept;
        kept.n_found = found_.size();
        const std::size_t n = std::min(limit, found_.size());
        std::partial_sort(found_.begin(), found_.begin() + n, found_.end(),
                          [](const Found& a, const Found& b) { return a.turn < b.turn; });
        std::vector<double> buffer(n_features);
        std::vector<std::size_t> edges(1, 0);
        for (const Part<Value>& part : parts) edges.push_back(edges.back() + part.points.n_points);
        for (std::size_t f = 0; f < n; ++f) {
            kept.turns.push_back(found_[f].turn);
            const double* y = parts[found_[f].part].points.row(found_[f].row, buffer.data());
            kept.rows.insert(kept.rows.end(), y, y + n_features);
            if (!places) continue;
            places->push_back(static_cast<std::int64_t>(edges[found_[f].part] + found_[f].row));
            weights->push_back(parts[found_[f].part].points.weight(found_[f].row));
        }
        return kept;
    }

  private:
    struct Found {
        Turn turn;
        std::size_t part, row;
    };
    std::vector<Found> found_;
};

// `own` knows the highest own cost of each slot.
template <typename Own>
void find_neighbors(const ClusterTable& clusters, const Own& own, double new_penalty,
                    CenterBounds& neighbors) {
    const Remembered nothing(nullptr, clusters.n_features, {}, {}, {});
    Assignment assignment(0, nothing);
    assignment.table = clusters.table;
    assignment.n_members.assign(clusters.is_active.begin(), clusters.is_active.end());
    const std::vector<std::uint8_t> all(clusters.is_active.size(), 1);
    InterruptCheck interrupts([] { return false; });
    ThreadPool pool(1, interrupts);
    neighbors.update(assignment, all, own, new_penalty, clusters.n_features, pool);
}

// Rows that have no label yet. The cost of the choice is kept in `own`.
//
// The clusters stand still meanwhile. So where rows are many, a slot is guessed first
// (cell_cache.hpp): a row that costs less there than the slot keeps (center_bounds.hpp) is at home.
template <typename Value>
class UnlabeledProposals {
  public:
    UnlabeledProposals(const ClusterTable& clusters, double new_penalty, Sgemm sgemm)
        : clusters_(clusters),
          new_penalty_(new_penalty),
          search_(clusters.n_features, new_penalty, sgemm, 1),
          buffer_(clusters.n_features) {
        search_.build(clusters.table);
    }

    void find(const std::vector<Part<Value>>& parts, const TurnRange& range,
              ProposalList& proposals) {
        for (std::size_t p = 0; p < parts.size(); ++p) {
            const std::size_t n = list_rows(parts[p], range);
            if (p == 0 && n * parts.size() > kRowsOfSlot * clusters_.table.size()) start_guessing();
            for (std::size_t begin = 0; begin < n; begin += kPointBlock) {
                const std::size_t end = std::min(begin + kPointBlock, n);
                guess(parts[p], begin, end);
                search(parts[p], p, proposals);
                if (2 * missed_.size() > end - begin && begin >= kTried) memory_.reset();
            }
        }
    }

  private:
    static constexpr std::size_t kFewest = 32;              // slots
    static constexpr std::size_t kRowsOfSlot = 64;          // fewer, and guesses do not pay
    static constexpr std::size_t kTried = 4 * kPointBlock;  // rows

    struct AnyReach {
        double new_penalty;
        double highest(std::size_t) const { return new_penalty; }
    };

    std::size_t list_rows(const Part<Value>& part, const TurnRange& range) {
        rows_.resize(std::max(rows_.size(), part.points.n_points + 1));
        Row* next = rows_.data();
        for (std::size_t i = 0; i < part.points.n_points; ++i) {
            *next = static_cast<Row>(i);
            next += part.is_in(i, range) && part.points.takes_part(i);
        }
        return static_cast<std::size_t>(next - rows_.data());
    }

    void start_guessing() {
        if (clusters_.n_features <= CenterGrid::kMaxFeatures || clusters_.table.size() < kFewest)
            return;  // found as fast
        memory_.emplace(clusters_.table, clusters_.n_features, std::sqrt(new_penalty_));
        CenterBounds neighbors(clusters_.n_features, true);
        find_neighbors(clusters_, AnyReach{new_penalty_}, new_penalty_, neighbors);
        for (std::size_t k = 0; k < clusters_.is_active.size(); ++k)
            keeping_.push_back(clusters_.is_active[k] ? neighbors.keeping_cost_of(k) : 0.0);
    }

    // Lists the rows that have to search.
    void guess(const Part<Value>& part, std::size_t begin, std::size_t end) {
        missed_.clear();
        if (!memory_) {
            missed_.assign(rows_.begin() + begin, rows_.begin() + end);
            return;
        }
        for (std::size_t r = begin; r < end; ++r) {
            const auto i = static_cast<std::size_t>(rows_[r]);
            const double* y = part.points.row(i, buffer_.data());
            const Slot k = memory_->at(y);
            if (k != kUnlabeled) {
                part.own[i] = squared_distance(y, clusters_.table.center(k), clusters_.n_features);
                part.next[i] = k;
                if (part.own[i] < keeping_[k]) continue;
            }
            missed_.push_back(rows_[r]);
        }
    }

    void search(const Part<Value>& part, std::size_t p, ProposalList& proposals) {
        choices_.resize(missed_.size());
        search_.prepare(clusters_.table, missed_.size());
        // As many as are listed: the search looks ahead in the list.
        const Points<Value> listed{part.points.values, nullptr, missed_.size(),
                                   part.points.n_features};
        for (std::size_t from = 0; from < missed_.size(); from += CenterSearch::kChunk)
            search_.find(listed, missed_.data(), from,
                         std::min(from + CenterSearch::kChunk, missed_.size()), clusters_.table, 0,
                         choices_.data() + from);
        search_.learn();
        for (std::size_t m = 0; m < missed_.size(); ++m) {
            const auto i = static_cast<std::size_t>(missed_[m]);
            part.own[i] = choices_[m].cost;
            part.next[i] = kProposer;
            if (!clusters_.is_free_to_join(choices_[m].slot)) {
                proposals.add(part.turn(i), p, i);
                continue;
            }
            part.next[i] = static_cast<Slot>(choices_[m].slot);
            if (memory_) memory_->at(part.points.row(i, buffer_.data())) = part.next[i];
        }
    }

    const ClusterTable& clusters_;
    double new_penalty_;
    CenterSearch search_;
    std::optional<CellCache> memory_;
    std::vector<double> keeping_, buffer_;
    std::vector<Row> rows_, missed_;  // of a part; of a block of it
    std::vector<Choice> choices_;     // of those
};

// Rows that have a label. Until its turn comes a row is a member of its cluster, which is therefore
// active and where it was when the pass began, whatever happened to others; so the bounds of
// center_bounds.hpp hold for the clusters as they stand at the beginning of any range of turns.
template <typename Value>
class LabeledProposals {
  public:
    // `highest_own` is the highest own cost of each slot.
    LabeledProposals(const ClusterTable& clusters, const double* highest_own, double new_penalty)
        : clusters_(clusters),
          new_penalty_(new_penalty),
          own_{highest_own},
          neighbors_(clusters.n_features, true) {
        find_neighbors(clusters, own_, new_penalty, neighbors_);
        buffer_.resize(clusters.n_features);
    }

    // Lists those in doubt too, `limit` of them at most; `moves` are those of the last pass.
    BorderRows& gather(std::size_t limit, const double* moves) {
        return doubt_.emplace(limit, neighbors_, own_, moves, clusters_.is_active);
    }

    // Lists the rows of each part that want another active cluster, too.
    std::vector<std::vector<std::int64_t>> find(const std::vector<Part<Value>>& parts,
                                                const TurnRange& range, ProposalList& proposals) {
        std::vector<std::vector<std::int64_t>> movers(parts.size());
        for (std::size_t p = 0; p < parts.size(); ++p)
            for_each_run(parts[p], [&](std::size_t begin, std::size_t end) {
                const std::size_t n = list_restless(parts[p], range, begin, end);
                for (std::size_t r = 0; r < n; ++r)
                    look(parts[p], p, list_[r], movers[p], proposals);
            });
        return movers;
    }

  private:
    void look(const Part<Value>& part, std::size_t p, std::size_t i,
              std::vector<std::int64_t>& movers, ProposalList& proposals) {
        const Slot a = part.labels[i];
        const double own = part.own[i];
        const CenterBounds::Query found =
            neighbors_.look(part.points.row(i, buffer_.data()), a, own, std::sqrt(own),
                            new_penalty_, clusters_.table);
        if (found.slot == static_cast<std::size_t>(a)) {
            if (doubt_) doubt_->add(a, own, found.bound, p, i);
            return;
        }
        if (doubt_) doubt_->add_mover(p, i);
        if (clusters_.is_free_to_join(found.slot)) {
            part.next[i] = static_cast<Slot>(found.slot);
            movers.push_back(static_cast<std::int64_t>(i));
            return;
        }
        part.next[i] = kProposer;
        proposals.add(part.turn(i), p, i);
    }

    // Rows of the range that the bounds do not keep in their cluster; the others stay. Without a
    // branch, as in slot_mask.hpp, where the range has all rows.
    std::size_t list_restless(const Part<Value>& part, const TurnRange& range, std::size_t begin,
                              std::size_t end) {
        bounds_.assign(1, CostTable::kNever);  // of rows without a label, then of the slots
        for (std::size_t k = 0; k < clusters_.is_active.size(); ++k)
            bounds_.push_back(!clusters_.is_active[k] ? 0.0
                              : doubt_                ? doubt_->calm(k)
                                                      : neighbors_.keeping_cost_of(k));
        list_.resize(end - begin + 1);
        const double* bounds = bounds_.data() + 1;
        std::uint32_t* next = list_.data();
        for (std::size_t i = begin; i < end; ++i) {
            if (!range.is_everything() && !part.is_in(i, range)) continue;
            const Slot a = part.labels[i];
            part.next[i] = a;
            *next = static_cast<std::uint32_t>(i);
            next += !(part.own[i] < bounds[a]);
        }
        return static_cast<std::size_t>(next - list_.data());
    }

    const ClusterTable& clusters_;
    double new_penalty_;
    WideReach own_;
    CenterBounds neighbors_;
    std::optional<BorderRows> doubt_;
    std::vector<double> bounds_, buffer_;
    std::vector<std::uint32_t> list_;
};

}  // namespace dynmeans::dask
