// The first pass, in which no point has a label: with the labels of visiting them one by one.
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
#include <cmath>
#include <cstdint>
#include <vector>

#include "assign_labels.hpp"
#include "blas_filter.hpp"
#include "center_grid.hpp"
#include "center_tree.hpp"
#include "memory.hpp"
#include "points.hpp"
#include "sums.hpp"
#include "thread_pool.hpp"

namespace dynmeans {

template <typename Value>
class FirstPass {
  public:
    FirstPass(const Points<Value>& points, const Memory& memory, double new_penalty,
              const BlasFilter& filter, ThreadPool& pool)
        : points_(points),
          memory_(memory),
          new_penalty_(new_penalty),
          pool_(pool),
          grid_(points.n_features, new_penalty),
          tree_(points.n_features),
          filter_(filter),
          scratch_(pool.size()),
          grid_scratch_(pool.size()),
          n_looks_(pool.size()),
          buffer_(points.n_features) {}

    void run(const std::int64_t* order, Assignment& assignment) {
        order_ = order;
        has_grid_ = points_.n_features <= CenterGrid::kMaxFeatures;
        if (has_grid_) grid_.build(assignment.table);
        has_tree_ = !has_grid_ && points_.n_features <= CenterTree::kMaxFeatures;
        if (has_tree_) rebuild_tree(assignment.table);
        std::size_t position = 0, size = kShortest;
        while (position < points_.n_points) {
            const std::size_t end = std::min(position + size, points_.n_points);
            search(position, end, assignment);
            const std::size_t reached = walk(position, end, assignment);
            size = next_size(reached - position, size, reached == end);
            position = reached;
        }
        count_members(assignment);
    }

  private:
    static constexpr std::size_t kShortest = 16, kLongest = 32768, kMostEvents = 16;
    static constexpr std::size_t kAhead = 16;  // rows asked for before their turn
    static constexpr std::size_t kChunk = BlasFilter::kRows;
    // Below these the panels of the table are about as fast (docs/speed.md).
    static constexpr std::size_t kGridSlots = 48, kFilterSlots = 64, kFilterFeatures = 16,
                                 kFilterPoints = 128, kTreeSlots = 64;
    static constexpr double kPause = 400.0;       // between blocks, in points that could be walked
    static constexpr double kMostLooks = 0.2;     // share of the leaves
    static constexpr std::size_t kJudged = 1024;  // points; shorter blocks open many clusters

    // Events are rare if the last block had none. Otherwise a block of s points that expects an
    // event every g of them costs one pause, and about s / 2g of it is walked: for each point least
    // in sum at the root of g times twice the pause. With the filter a block also prepares it, so
    // that it is only made shorter where it was left early.
    std::size_t next_size(std::size_t n_walked, std::size_t size, bool is_walked_out) const {
        const bool is_filtered = !has_grid_ && !has_tree_;
        if (changed_.empty() || (is_filtered && is_walked_out)) return std::min(2 * size, kLongest);
        if (is_filtered) return std::max(kShortest, n_walked);
        const double gap = static_cast<double>(n_walked) / static_cast<double>(changed_.size());
        const auto best = static_cast<std::size_t>(std::sqrt(2.0 * kPause * gap));
        return std::min(std::max(kShortest, best), kLongest);
    }

    void search(std::size_t begin, std::size_t end, Assignment& assignment) {
        const CostTable& table = assignment.table;
        const std::size_t n_chunks = (end - begin + kChunk - 1) / kChunk;
        choices_.resize(end - begin);
        has_joined_.resize(n_chunks);
        const bool by_grid = is_by_grid(table);
        const bool by_filter = filter_.is_available() && points_.n_features >= kFilterFeatures &&
                               table.size() >= kFilterSlots && end - begin >= kFilterPoints;
        if (by_filter) filter_.prepare(table, new_penalty_);
        const bool by_tree = is_by_tree(table);
        if (by_tree && tree_.is_outdated(end - begin)) rebuild_tree(table);
        pool_.for_blocks(n_chunks, [&](std::size_t chunk, std::size_t thread) {
            const std::size_t from = begin + chunk * kChunk, to = std::min(from + kChunk, end);
            Choice* choices = choices_.data() + (from - begin);
            if (by_filter)
                filter_.find(points_, order_, from, to, table, scratch_[thread], choices);
            else if (by_grid)
                grid_.find(points_, order_, from, to, grid_scratch_[thread], choices);
            else
                compare(from, to, by_tree, table, thread, choices);
            has_joined_[chunk] = join(from, to, choices, assignment);
        });
        if (by_filter) filter_.learn(scratch_);
        if (by_tree && end - begin >= kJudged) judge_tree(end - begin);
    }

    void compare(std::size_t from, std::size_t to, bool by_tree, const CostTable& table,
                 std::size_t thread, Choice* choices) {
        std::vector<double>& buffer = scratch_[thread].buffer;
        buffer.resize(points_.n_features);
        for (std::size_t p = from; p < to; ++p) {
            if (p + kAhead < to) points_.prefetch(order_[p + kAhead]);
            const double* y = points_.row(order_[p], buffer.data());
            choices[p - from] = by_tree ? tree_.cheapest(y, new_penalty_, n_looks_[thread])
                                        : table.cheapest(y, new_penalty_, CostTable::kNone);
        }
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
        for (std::size_t p = from; p < to; ++p) assignment.labels[order_[p]] = kUnlabelled;
    }

    // Returns the position up to which the block was walked.
    std::size_t walk(std::size_t begin, std::size_t end, Assignment& assignment) {
        changed_.clear();
        for (std::size_t from = begin, chunk = 0; from < end; from += kChunk, ++chunk) {
            const std::size_t to = std::min(from + kChunk, end);
            if (has_joined_[chunk] && changed_.empty()) continue;
            if (has_joined_[chunk]) leave(from, to, assignment);
            const std::size_t reached = walk_chunk(begin, from, to, assignment);
            if (changed_.size() < kMostEvents) continue;
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
            if (p + kAhead < to) {
                __builtin_prefetch(&assignment.labels[order_[p + kAhead]], 1);
                if (!changed_.empty()) points_.prefetch(order_[p + kAhead]);
            }
            if (!points_.takes_part(i)) continue;
            Choice choice = choices_[p - begin];
            const double* y = points_.row(i, buffer_.data());
            if (!changed_.empty()) choice = look_again(y, choice, assignment.table);
            if (!assignment.place(i, y, choice.slot, memory_)) continue;
            const auto k = static_cast<std::size_t>(assignment.labels[i]);
            if (has_grid_) grid_.insert(k, assignment.table);
            if (has_tree_) tree_.update(k, assignment.table);
            changed_.push_back(k);
            if (changed_.size() == kMostEvents) return p + 1;
        }
        return to;
    }

    // Every labelled point is new to its slot.
    void count_members(Assignment& assignment) {
        const std::size_t n_slots = assignment.n_members.size();
        counts_.resize(pool_.size());
        for (std::vector<std::int64_t>& counts : counts_) counts.assign(n_slots, 0);
        pool_.for_blocks(count_blocks(points_.n_points), [&](std::size_t block, std::size_t t) {
            const BlockRange range = block_range(block, points_.n_points);
            for (std::size_t i = range.begin; i < range.end; ++i)
                if (assignment.labels[i] != kUnlabelled) ++counts_[t][assignment.labels[i]];
        });
        for (std::size_t k = 0; k < n_slots; ++k) {
            assignment.n_members[k] = 0;
            for (const std::vector<std::int64_t>& counts : counts_)
                assignment.n_members[k] += counts[k];
            assignment.has_changed[k] = assignment.n_members[k] > 0;
            assignment.has_any_changed |= assignment.n_members[k] > 0;
        }
    }

    Choice look_again(const double* y, Choice choice, const CostTable& table) {
        if (is_untouched(choice.slot, changed_)) return compare_changed(y, choice, changed_, table);
        if (is_by_grid(table)) return grid_.cheapest(y);
        if (is_by_tree(table)) return tree_.cheapest(y, new_penalty_, n_looks_[0]);
        return table.cheapest(y, new_penalty_, choice.slot);
    }

    void rebuild_tree(const CostTable& table) {
        tree_.build(table, [](std::size_t) { return true; });
    }

    // Without structure in the data most boxes have to be opened, and the plain way is faster.
    void judge_tree(std::size_t n_points) {
        std::size_t n_looks = 0;
        for (std::size_t& n : n_looks_) {
            n_looks += n;
            n = 0;
        }
        if (static_cast<double>(n_looks) >
            kMostLooks * static_cast<double>(n_points * tree_.n_leaves()))
            has_tree_ = false;
    }

    bool is_by_tree(const CostTable& table) const {
        return has_tree_ && table.size() >= kTreeSlots;
    }

    bool is_by_grid(const CostTable& table) const {
        return has_grid_ && grid_.is_usable() && table.size() >= kGridSlots;
    }

    const Points<Value>& points_;
    const Memory& memory_;
    double new_penalty_;
    ThreadPool& pool_;
    const std::int64_t* order_ = nullptr;
    bool has_grid_ = false, has_tree_ = false;
    CenterGrid grid_;
    CenterTree tree_;
    BlasFilter filter_;
    std::vector<BlasFilter::Scratch> scratch_;
    std::vector<CenterGrid::Scratch> grid_scratch_;
    std::vector<std::size_t> n_looks_;  // of each thread, since last asked
    std::vector<Choice> choices_;
    std::vector<std::uint8_t> has_joined_;           // of the chunks of this block
    std::vector<std::vector<std::int64_t>> counts_;  // one for each thread
    std::vector<std::size_t> changed_;
    std::vector<double> buffer_;
};

}  // namespace dynmeans
