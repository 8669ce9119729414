// Speculative blocks with replay: the first pass, in which no point has a label: with the labels of
// visiting them one by one.
//
// A block of points is compared with the clusters as they stand, by any thread; then it is walked
// in order. While nothing is opened or revived, each point gets what was found for it. After such
// an event only one slot is new or has moved (joining moves nothing, and nothing can empty in this
// pass), so what was found stays right but for that slot: it is compared too, and a point whose
// find is that very slot looks at all of them again. Blocks are short while events are frequent.
//
// Where every point of a chunk finds an active cluster, none of them can cause an event: they join
// in the search already, and the walk passes over them unless an event came before them in the
// block. How many have joined a slot is counted at the end of the pass; on the way it matters only
// whether any has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "records/remembered.hpp"
#include "search/center_search.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans {

template <typename Value>
class FirstPass {
  public:
    FirstPass(const Points<Value>& points, const Remembered& remembered, double new_penalty,
              Sgemm sgemm, ThreadPool& pool)
        : points_(points),
          remembered_(remembered),
          pool_(pool),
          shortest_(points.n_features < kManyFeatures ? 16 : 128),
          most_changes_(points.n_features < kManyFeatures ? 16 : 64),
          search_(points.n_features, new_penalty, sgemm, pool.size()),
          buffer_(points.n_features) {}

    void run(const Row* order, Assignment& assignment) {
        order_ = order;
        search_.build(assignment.table);
        std::size_t position = 0, size = shortest_;
        while (position < points_.n_points) {
            const std::size_t end = std::min(position + size, points_.n_points);
            search(position, end, assignment);
            const std::size_t reached = walk(position, end, assignment);
            size = next_size(reached - position, size);
            position = reached;
        }
        count_members(assignment);
    }

  private:
    static constexpr std::size_t kLongest = 32768;
    static constexpr std::size_t kManyFeatures = 16;  // a search takes long; an event does not
    static constexpr std::size_t kChunk = CenterSearch::kChunk;

    // Longer until events cut a block short.
    std::size_t next_size(std::size_t n_walked, std::size_t size) const {
        return n_walked == size ? std::min(2 * size, kLongest) : std::max(shortest_, n_walked);
    }

    void search(std::size_t begin, std::size_t end, Assignment& assignment) {
        const CostTable& table = assignment.table;
        const std::size_t n_chunks = (end - begin + kChunk - 1) / kChunk;
        choices_.resize(end - begin);
        has_joined_.resize(n_chunks);
        search_.prepare(table, end - begin);
        pool_.for_blocks(n_chunks, [&](std::size_t chunk, std::size_t thread) {
            const std::size_t from = begin + chunk * kChunk, to = std::min(from + kChunk, end);
            Choice* choices = choices_.data() + (from - begin);
            search_.find(points_, order_, from, to, table, thread, choices);
            has_joined_[chunk] =
                is_enabled<acceleration("slot_fusion")>() && join(from, to, choices, assignment);
        });
        search_.learn();
    }

    // Gives the points of a chunk their labels if each chose an active cluster.
    bool join(std::size_t from, std::size_t to, const Choice* choices,
              Assignment& assignment) const {
        for (std::size_t p = from; p < to; ++p) {
            const std::size_t k = choices[p - from].slot;
            if ((k == CostTable::kNone || assignment.n_members[k] == 0) &&
                points_.takes_part(order_[p]))
                return false;
        }
        for (std::size_t p = from; p < to; ++p)
            if (points_.takes_part(order_[p]))
                assignment.labels[order_[p]] = static_cast<Slot>(choices[p - from].slot);
        return true;
    }

    void leave(std::size_t from, std::size_t to, Assignment& assignment) const {
        for (std::size_t p = from; p < to; ++p) assignment.labels[order_[p]] = kUnlabeled;
    }

    // Returns the position up to which the block was walked.
    std::size_t walk(std::size_t begin, std::size_t end, Assignment& assignment) {
        changed_.clear();
        for (std::size_t from = begin, chunk = 0; from < end; from += kChunk, ++chunk) {
            const std::size_t to = std::min(from + kChunk, end);
            if (has_joined_[chunk] && changed_.empty()) continue;
            if (has_joined_[chunk]) leave(from, to, assignment);
            const std::size_t reached = walk_chunk(begin, from, to, assignment);
            if (changed_.size() < most_changes_) continue;
            while ((from += kChunk) < end)
                if (has_joined_[++chunk]) leave(from, std::min(from + kChunk, end), assignment);
            return reached;
        }
        return end;
    }

    std::size_t walk_chunk(std::size_t begin, std::size_t from, std::size_t to,
                           Assignment& assignment) {
        for (std::size_t p = from; p < to; ++p) {
            const auto i = static_cast<std::size_t>(order_[p]);
            if (!points_.takes_part(i)) continue;
            Choice choice = choices_[p - begin];
            const double* y = points_.row(i, buffer_.data());
            if (!changed_.empty()) choice = look_again(y, choice, assignment.table);
            if (!assignment.place(i, y, choice.slot, remembered_)) continue;
            const auto k = static_cast<std::size_t>(assignment.labels[i]);
            search_.update(k, assignment.table);
            changed_.push_back(k);
            if (changed_.size() == most_changes_) return p + 1;
        }
        return to;
    }

    // Every labeled point is new to its slot.
    void count_members(Assignment& assignment) {
        const std::size_t n_slots = assignment.n_members.size();
        counts_.resize(pool_.size());
        for (std::vector<std::int64_t>& counts : counts_) counts.assign(n_slots, 0);
        pool_.for_blocks(count_blocks(points_.n_points), [&](std::size_t block, std::size_t t) {
            const BlockRange range = block_range(block, points_.n_points);
            for (std::size_t i = range.begin; i < range.end; ++i)
                if (assignment.labels[i] != kUnlabeled) ++counts_[t][assignment.labels[i]];
        });
        for (std::size_t k = 0; k < n_slots; ++k) {
            assignment.n_members[k] = 0;
            for (const std::vector<std::int64_t>& counts : counts_)
                assignment.n_members[k] += counts[k];
            assignment.has_changed[k] = assignment.n_members[k] > 0;
            assignment.has_any_changed |= assignment.n_members[k] > 0;
        }
    }

    // A slot that was found and then revived is still the cheapest of those that did not change, if
    // it costs no more than before.
    Choice look_again(const double* y, Choice choice, const CostTable& table) {
        if (!is_untouched(choice.slot, changed_)) {
            const double cost = table.cost(y, choice.slot);
            if (cost > choice.cost) return search_.cheapest(y, table, choice.slot);
            choice.cost = cost;
        }
        return compare_changed(y, choice, changed_, table);
    }

    const Points<Value>& points_;
    const Remembered& remembered_;
    ThreadPool& pool_;
    std::size_t shortest_, most_changes_;  // points of a block, events in it
    const Row* order_ = nullptr;
    CenterSearch search_;
    std::vector<Choice> choices_;
    std::vector<std::uint8_t> has_joined_;           // of the chunks of this block
    std::vector<std::vector<std::int64_t>> counts_;  // one for each thread
    std::vector<std::size_t> changed_;
    std::vector<double> buffer_;
};

}  // namespace dynmeans
