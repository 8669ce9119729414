// The first half of a pass over parts: every row in a range of keys looks at the clusters as they
// stand at the beginning of that range.
//
// A row whose cheapest choice is an active cluster can cause no event while none empties, so it may
// be left where it is. The others, the proposers, are handed to the one who replays them in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "dask/part.hpp"
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

// The highest own cost of each slot, for the bounds.
struct HighestOwn {
    const double* values;
    double highest(std::size_t k) const { return values[k]; }
};

// Rows that have a label. Until its turn comes a row is a member of its cluster, which is therefore
// active and where it was when the pass began, whatever happened to others; so the bounds of
// neighbors.hpp hold for the clusters as they stand at the beginning of any range of keys.
// `has_moved` marks the slots that are not as they were at the start of the last pass.
template <typename Value>
class LabeledProposals {
  public:
    LabeledProposals(const ClusterTable& clusters, const std::vector<std::uint8_t>& has_moved,
                     const double* highest_own, double new_penalty, ThreadPool& pool)
        : clusters_(clusters), new_penalty_(new_penalty), neighbors_(clusters.n_features) {
        const Remembered nothing(nullptr, nullptr, {}, clusters.n_features,
                                 {new_penalty, 0.0, 0.0, false});
        Assignment assignment(0, nothing);
        assignment.table = clusters.table;
        assignment.n_members.assign(clusters.is_active.begin(), clusters.is_active.end());
        neighbors_.update(assignment, has_moved, HighestOwn{highest_own}, new_penalty,
                          clusters.n_features, pool);
        buffer_.resize(clusters.n_features);
    }

    // Lists the rows of each part that want another active cluster, too.
    std::vector<std::vector<std::int64_t>> find(const std::vector<Part<Value>>& parts,
                                                KeyRange range, ProposalList& proposals) {
        std::vector<std::vector<std::int64_t>> movers(parts.size());
        for (std::size_t p = 0; p < parts.size(); ++p) {
            const Part<Value>& part = parts[p];
            find_restless(part, range);
            for (std::size_t r = 0; r < restless_.size(); ++r) {
                if (r + kAhead < restless_.size()) part.points.prefetch(restless_[r + kAhead]);
                const auto i = static_cast<std::size_t>(restless_[r]);
                const Slot a = part.labels[i];
                const double* y = part.points.row(i, buffer_.data());
                const std::size_t best =
                    neighbors_.cheapest(y, a, part.own[i], new_penalty_, clusters_.table);
                if (best == static_cast<std::size_t>(a)) continue;
                if (clusters_.is_free_to_join(best)) {
                    part.next[i] = static_cast<Slot>(best);
                    movers[p].push_back(restless_[r]);
                    continue;
                }
                part.next[i] = kProposer;
                proposals.add(part.key(i), p, i);
            }
        }
        return movers;
    }

  private:
    static constexpr std::size_t kAhead = 8;

    // Rows of the range that the bounds do not keep in their cluster; the others stay.
    void find_restless(const Part<Value>& part, KeyRange range) {
        restless_.clear();
        for (std::size_t i = 0; i < part.points.n_points; ++i) {
            const Slot a = part.labels[i];
            if (a == kUnlabeled) continue;
            if (!range.is_everything() && !range.has(part.key(i))) continue;
            part.next[i] = a;
            if (!(part.own[i] < neighbors_.keeping_cost_of(a)))
                restless_.push_back(static_cast<std::int64_t>(i));
        }
    }

    const ClusterTable& clusters_;
    double new_penalty_;
    Neighbors neighbors_;
    std::vector<std::int64_t> restless_;
    std::vector<double> buffer_;
};

}  // namespace dynmeans::dask
