// The first half of a pass over parts: every row in a range of keys looks at the clusters as they
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
#include "passes/neighbors.hpp"
#include "search/center_search.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans::dask {

using namespace threads;
using namespace search;
using namespace algorithm;
using namespace passes;

struct Proposals {
    std::vector<std::uint64_t> keys;
    std::vector<double> rows;
    std::size_t n_found = 0;  // all of them; the lowest keys are kept
};

class ProposalList {
  public:
    void add(std::uint64_t key, std::size_t part, std::size_t row) {
        found_.push_back({key, part, row});
    }

    // The lowest `limit` keys, in increasing order.
    template <typename Value>
    Proposals take(const std::vector<Part<Value>>& parts, std::size_t limit,
                   std::size_t n_features) {
        Proposals kept;
        kept.n_found = found_.size();
        const std::size_t n = std::min(limit, found_.size());
        std::partial_sort(found_.begin(), found_.begin() + n, found_.end(),
                          [](const Found& a, const Found& b) { return a.key < b.key; });
        std::vector<double> buffer(n_features);
        for (std::size_t f = 0; f < n; ++f) {
            kept.keys.push_back(found_[f].key);
            const double* y = parts[found_[f].part].points.row(found_[f].row, buffer.data());
            kept.rows.insert(kept.rows.end(), y, y + n_features);
        }
        return kept;
    }

  private:
    struct Found {
        std::uint64_t key;
        std::size_t part, row;
    };
    std::vector<Found> found_;
};

// Rows that have no label yet. The cost of the choice is kept in `own`.
template <typename Value>
void propose_unlabeled(const std::vector<Part<Value>>& parts, const ClusterTable& clusters,
                       double new_penalty, Sgemm sgemm, KeyRange range, ProposalList& proposals) {
    CenterSearch search(clusters.n_features, new_penalty, sgemm, 1);
    search.build(clusters.table);
    std::vector<Row> rows;
    std::vector<Choice> choices;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const Part<Value>& part = parts[p];
        rows.clear();
        for (std::size_t i = 0; i < part.points.n_points; ++i)
            if (range.has(part.key(i)) && part.points.takes_part(i))
                rows.push_back(static_cast<Row>(i));
        choices.resize(rows.size());
        for (std::size_t begin = 0; begin < rows.size(); begin += kPointBlock) {
            const std::size_t end = std::min(begin + kPointBlock, rows.size());
            search.prepare(clusters.table, end - begin);
            for (std::size_t from = begin; from < end; from += CenterSearch::kChunk)
                search.find(part.points, rows.data(), from,
                            std::min(from + CenterSearch::kChunk, end), clusters.table, 0,
                            choices.data() + from);
            search.learn();
        }
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const auto i = static_cast<std::size_t>(rows[r]);
            part.own[i] = choices[r].cost;
            if (clusters.is_free_to_join(choices[r].slot)) {
                part.next[i] = static_cast<Slot>(choices[r].slot);
                continue;
            }
            part.next[i] = kProposer;
            proposals.add(part.key(i), p, i);
        }
    }
}

// Rows that have a label. Until its turn comes a row is a member of its cluster, which is therefore
// active and where it was when the pass began, whatever happened to others; so the bounds of
// neighbors.hpp hold for the clusters as they stand at the beginning of any range of keys.
template <typename Value>
class LabeledProposals {
  public:
    // `highest_own` is the highest own cost of each slot.
    LabeledProposals(const ClusterTable& clusters, const double* highest_own, double new_penalty,
                     ThreadPool& pool)
        : clusters_(clusters),
          new_penalty_(new_penalty),
          own_{highest_own},
          neighbors_(clusters.n_features, true) {
        const Remembered nothing(nullptr, clusters.n_features, {}, {}, {});
        Assignment assignment(0, nothing);
        assignment.table = clusters.table;
        assignment.n_members.assign(clusters.is_active.begin(), clusters.is_active.end());
        const std::vector<std::uint8_t> all(clusters.is_active.size(), 1);
        neighbors_.update(assignment, all, own_, new_penalty, clusters.n_features, pool);
        buffer_.resize(clusters.n_features);
    }

    // Lists those in doubt too, `limit` of them at most; `moves` are those of the last pass.
    RowsInDoubt& gather(std::size_t limit, const double* moves) {
        return doubt_.emplace(limit, neighbors_, own_, moves, clusters_.is_active);
    }

    // Lists the rows of each part that want another active cluster, too.
    std::vector<std::vector<std::int64_t>> find(const std::vector<Part<Value>>& parts,
                                                KeyRange range, ProposalList& proposals) {
        std::vector<std::vector<std::int64_t>> movers(parts.size());
        for (std::size_t p = 0; p < parts.size(); ++p)
            for_each_run(parts[p], [&](std::size_t begin, std::size_t end) {
                const std::size_t n = list_restless(parts[p], range, begin, end);
                for (std::size_t r = 0; r < n; ++r) {
                    if (r + kAhead < n) parts[p].points.prefetch(list_[r + kAhead]);
                    look(parts[p], p, list_[r], movers[p], proposals);
                }
            });
        return movers;
    }

  private:
    static constexpr std::size_t kAhead = 8;

    void look(const Part<Value>& part, std::size_t p, std::size_t i,
              std::vector<std::int64_t>& movers, ProposalList& proposals) {
        const Slot a = part.labels[i];
        const double own = part.own[i];
        const Neighbors::Look found =
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
        proposals.add(part.key(i), p, i);
    }

    // Rows of the range that the bounds do not keep in their cluster; the others stay. Without a
    // branch, as in marked_points.hpp, where the range has all rows.
    std::size_t list_restless(const Part<Value>& part, KeyRange range, std::size_t begin,
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
            if (!range.is_everything() && !range.has(part.key(i))) continue;
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
    Neighbors neighbors_;
    std::optional<RowsInDoubt> doubt_;
    std::vector<double> bounds_, buffer_;
    std::vector<std::uint32_t> list_;
};

}  // namespace dynmeans::dask
