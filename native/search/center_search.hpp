// Nearest-center search: the cheapest slot of many points at once, by the way that suits the number
// of slots and of features: a spatial hash grid, a bounding-box tree, the filter through BLAS, or
// all slots. Which one is taken never matters to the result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "search/blas_filter.hpp"
#include "search/center_grid.hpp"
#include "search/center_tree.hpp"
#include "search/cost_table.hpp"

namespace dynmeans {

class CenterSearch {
  public:
    static constexpr std::size_t kChunk = BlasFilter::kRows;  // points of one call of `find`

    CenterSearch(std::size_t n_features, double new_penalty, Sgemm sgemm, std::size_t n_threads)
        : n_features_(n_features),
          new_penalty_(new_penalty),
          grid_(n_features, new_penalty),
          tree_(n_features),
          filter_(sgemm, n_features),
          of_threads_(n_threads),
          filter_scratch_(n_threads) {}

    // Enters all slots; later changes come by `update`.
    void build(const CostTable& table) {
        has_grid_ = is_enabled<acceleration("grid")>() && n_features_ <= CenterGrid::kMaxFeatures;
        if (has_grid_) grid_.build(table);
        has_tree_ = is_enabled<acceleration("tree")>() && !has_grid_ &&
                    n_features_ <= CenterTree::kMaxFeatures;
        if (has_tree_) tree_.build(table);
    }

    // Slot k has changed, or is new.
    void update(std::size_t k, const CostTable& table) {
        if (has_grid_) grid_.insert(k, table);
        if (has_tree_) tree_.update(k, table);
    }

    // Chooses the way for the next n_points points.
    void prepare(const CostTable& table, std::size_t n_points) {
        way_ = Way::kAll;
        if (is_by_grid(table)) way_ = Way::kGrid;
        if (is_by_tree(table)) way_ = Way::kTree;
        if (is_enabled<acceleration("filter")>() && filter_.is_available() &&
            n_features_ >= kFilterFeatures && table.size() >= kFilterSlots &&
            n_points >= kFilterPoints)
            way_ = Way::kFilter;
        if (way_ == Way::kFilter) filter_.prepare(table, new_penalty_);
        if (way_ == Way::kTree && tree_.is_outdated(n_points)) tree_.build(table);
    }

    // The cheapest slots of the points at order[begin .. end), at most kChunk of them; `order`
    // lists at least points.n_points.
    template <typename Value>
    void find(const Points<Value>& points, const Row* order, std::size_t begin, std::size_t end,
              const CostTable& table, std::size_t thread, Choice* choices) {
        if (way_ == Way::kFilter)
            return filter_.find(points, order, begin, end, table, filter_scratch_[thread], choices);
        ThreadScratch& scratch = of_threads_[thread];
        if (way_ == Way::kGrid) return grid_.find(points, order, begin, end, scratch.grid, choices);
        scratch.buffer.resize(n_features_);
        for (std::size_t p = begin; p < end; ++p) {
            const double* y = points.row(order[p], scratch.buffer.data());
            if (way_ != Way::kTree) {
                choices[p - begin] = table.cheapest(y, new_penalty_, CostTable::kNone);
                continue;
            }
            std::size_t n_looks = 0;
            choices[p - begin] = tree_.cheapest(y, new_penalty_, n_looks);
            // A point that opens a cluster looks at all within lambda, whatever the way.
            if (choices[p - begin].slot == CostTable::kNone) continue;
            ++scratch.n_found;
            scratch.n_looks += n_looks;
        }
    }

    // Learns from the points since `prepare`.
    void learn() {
        if (way_ == Way::kFilter) filter_.learn(filter_scratch_);
        if (way_ == Way::kTree) judge_tree();
    }

    // For one point, with all changes so far; `hint` is a slot that is likely to win.
    Choice cheapest(const double* y, const CostTable& table, std::size_t hint) {
        if (is_by_grid(table)) return grid_.cheapest(y);
        if (is_by_tree(table)) return tree_.cheapest(y, new_penalty_);
        return table.cheapest(y, new_penalty_, hint);
    }

  private:
    enum class Way { kAll, kGrid, kTree, kFilter };

    // Below these the panels of the table are about as fast (docs/speed.md).
    static constexpr std::size_t kGridSlots = 10, kFilterSlots = 64, kFilterFeatures = 16,
                                 kFilterPoints = 128, kTreeSlots = 64;
    static constexpr double kMostLooks = 0.2;     // share of the leaves
    static constexpr std::size_t kJudged = 1024;  // points that found a slot

    struct ThreadScratch {
        CenterGrid::Scratch grid;
        std::vector<double> buffer;
        // Since last asked: points that found a slot, and the leaves of the tree they looked at.
        std::size_t n_found = 0, n_looks = 0;
    };

    // Without structure in the data most boxes have to be opened, and the plain way is faster.
    void judge_tree() {
        std::size_t n_found = 0, n_looks = 0;
        for (const ThreadScratch& scratch : of_threads_) {
            n_found += scratch.n_found;
            n_looks += scratch.n_looks;
        }
        if (n_found < kJudged) return;
        for (ThreadScratch& scratch : of_threads_) scratch.n_found = scratch.n_looks = 0;
        const auto n_all = static_cast<double>(n_found * tree_.n_leaves());
        if (static_cast<double>(n_looks) > kMostLooks * n_all) has_tree_ = false;
    }

    bool is_by_tree(const CostTable& table) const {
        return has_tree_ && table.size() >= kTreeSlots;
    }

    bool is_by_grid(const CostTable& table) const {
        return has_grid_ && grid_.is_usable() && table.size() >= kGridSlots;
    }

    std::size_t n_features_;
    double new_penalty_;
    bool has_grid_ = false, has_tree_ = false;
    Way way_ = Way::kAll;
    CenterGrid grid_;
    CenterTree tree_;
    BlasFilter filter_;
    std::vector<ThreadScratch> of_threads_;
    std::vector<BlasFilter::Scratch> filter_scratch_;
};

}  // namespace dynmeans
