// The first pass, in which no point has a label: with the labels of visiting them one by one.
//
// A block of points is compared with the clusters as they stand, by any thread; then it is walked
// in order. While nothing is opened or revived, each point gets what was found for it. After such
// an event only one slot is new or has moved (joining moves nothing, and nothing can empty in this
// pass), so what was found stays right but for that slot: it is compared too, and a point whose
// find is that very slot looks at all of them again. Blocks are short while events are frequent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "assign_labels.hpp"
#include "blas_filter.hpp"
#include "center_grid.hpp"
#include "center_tree.hpp"
#include "memory.hpp"
#include "points.hpp"
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
            search(position, end, assignment.table);
            const std::size_t reached = walk(position, end, assignment);
            size = reached < end ? std::max(kShortest, reached - position)
                                 : std::min(2 * size, kLongest);
            position = reached;
        }
    }

  private:
    static constexpr std::size_t kShortest = 16, kLongest = 32768, kMostEvents = 16;
    static constexpr std::size_t kAhead = 16;  // rows asked for before their turn
    static constexpr std::size_t kChunk = BlasFilter::kRows;
    // Below these the panels of the table are about as fast (docs/speed.md).
    static constexpr std::size_t kGridSlots = 48, kFilterSlots = 64, kFilterFeatures = 16,
                                 kFilterPoints = 128, kTreeSlots = 64;
    static constexpr double kMostLooks = 0.2;     // share of the leaves
    static constexpr std::size_t kJudged = 1024;  // points; shorter blocks open many clusters

    void search(std::size_t begin, std::size_t end, const CostTable& table) {
        choices_.resize(end - begin);
        const bool by_grid = is_by_grid(table);
        const bool by_filter = filter_.is_available() && points_.n_features >= kFilterFeatures &&
                               table.size() >= kFilterSlots && end - begin >= kFilterPoints;
        if (by_filter) filter_.prepare(table, new_penalty_);
        const bool by_tree = is_by_tree(table);
        if (by_tree && tree_.is_outdated(end - begin)) rebuild_tree(table);
        pool_.for_blocks(
            (end - begin + kChunk - 1) / kChunk, [&](std::size_t chunk, std::size_t thread) {
                const std::size_t from = begin + chunk * kChunk, to = std::min(from + kChunk, end);
                Choice* choices = choices_.data() + (from - begin);
                if (by_filter) {
                    filter_.find(points_, order_, from, to, table, scratch_[thread], choices);
                    return;
                }
                if (by_grid) {
                    grid_.find(points_, order_, from, to, grid_scratch_[thread], choices);
                    return;
                }
                std::vector<double>& buffer = scratch_[thread].buffer;
                buffer.resize(points_.n_features);
                for (std::size_t p = from; p < to; ++p) {
                    if (p + kAhead < to) points_.prefetch(order_[p + kAhead]);
                    const double* y = points_.row(order_[p], buffer.data());
                    choices[p - from] = by_tree ? tree_.cheapest(y, new_penalty_, n_looks_[thread])
                                                : table.cheapest(y, new_penalty_, CostTable::kNone);
                }
            });
        if (by_filter) filter_.learn(end - begin, scratch_);
        if (by_tree && end - begin >= kJudged) judge_tree(end - begin);
    }

    // Returns the position up to which the block was walked.
    std::size_t walk(std::size_t begin, std::size_t end, Assignment& assignment) {
        changed_.clear();
        for (std::size_t p = begin; p < end; ++p) {
            const auto i = static_cast<std::size_t>(order_[p]);
            if (p + kAhead < end) __builtin_prefetch(&assignment.labels[order_[p + kAhead]], 1);
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
        return end;
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
    std::vector<std::size_t> changed_;
    std::vector<double> buffer_;
};

}  // namespace dynmeans
