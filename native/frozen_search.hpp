// The cheapest slot of many rows against clusters that stand still, by the way that suits their
// number and dimension: cells, a tree of boxes, the filter through BLAS, or all slots.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "blas_filter.hpp"
#include "center_grid.hpp"
#include "center_tree.hpp"
#include "cost_table.hpp"
#include "points.hpp"

namespace dynmeans {

class FrozenSearch {
  public:
    FrozenSearch(const CostTable& table, double new_penalty, std::size_t n_features, Sgemm sgemm)
        : table_(table),
          new_penalty_(new_penalty),
          n_features_(n_features),
          grid_(n_features, new_penalty),
          tree_(n_features),
          filter_(sgemm, n_features),
          scratch_(1) {
        if (n_features <= CenterGrid::kMaxFeatures && table.size() >= kGridSlots) {
            grid_.build(table);
            has_grid_ = grid_.is_usable();
        }
        has_tree_ = n_features > CenterGrid::kMaxFeatures &&
                    n_features <= CenterTree::kMaxFeatures && table.size() >= kTreeSlots;
        if (has_tree_) tree_.build(table, [](std::size_t) { return true; });
    }

    template <typename Value>
    void find(const Points<Value>& points, const std::vector<std::int64_t>& rows,
              std::vector<Choice>& choices) {
        choices.resize(rows.size());
        buffer_.resize(n_features_);
        const bool by_filter = filter_.is_available() && n_features_ >= kFilterFeatures &&
                               table_.size() >= kFilterSlots && rows.size() >= kFilterPoints;
        for (std::size_t begin = 0; begin < rows.size(); begin += kLongest) {
            const std::size_t end = std::min(begin + kLongest, rows.size());
            if (by_filter)
                filter_rows(points, rows, begin, end, choices);
            else
                compare_rows(points, rows, begin, end, choices);
        }
    }

  private:
    static constexpr std::size_t kLongest = 32768, kStaged = 256;
    // Below these the panels of the table are about as fast (docs/speed.md).
    static constexpr std::size_t kGridSlots = 48, kFilterSlots = 64, kFilterFeatures = 16,
                                 kFilterPoints = 128, kTreeSlots = 64, kJudged = 1024;
    static constexpr double kMostLooks = 0.2;  // share of the leaves

    template <typename Value>
    void filter_rows(const Points<Value>& points, const std::vector<std::int64_t>& rows,
                     std::size_t begin, std::size_t end, std::vector<Choice>& choices) {
        filter_.prepare(table_, new_penalty_);
        for (std::size_t from = begin; from < end; from += BlasFilter::kRows)
            filter_.find(points, rows.data(), from, std::min(from + BlasFilter::kRows, end), table_,
                         scratch_[0], choices.data() + from);
        filter_.learn(scratch_);
    }

    template <typename Value>
    void compare_rows(const Points<Value>& points, const std::vector<std::int64_t>& rows,
                      std::size_t begin, std::size_t end, std::vector<Choice>& choices) {
        if (has_grid_) {
            for (std::size_t from = begin; from < end; from += kStaged)
                grid_.find(points, rows.data(), from, std::min(from + kStaged, end), grid_scratch_,
                           choices.data() + from);
            return;
        }
        std::size_t n_looks = 0;
        for (std::size_t r = begin; r < end; ++r) {
            const double* y = points.row(rows[r], buffer_.data());
            choices[r] = has_tree_ ? tree_.cheapest(y, new_penalty_, n_looks)
                                   : table_.cheapest(y, new_penalty_, CostTable::kNone);
            // Where boxes rule out little, looking into them costs more than it saves.
            if (has_tree_ && r - begin == kJudged &&
                static_cast<double>(n_looks) >
                    kMostLooks * static_cast<double>(kJudged * tree_.n_leaves()))
                has_tree_ = false;
        }
    }

    const CostTable& table_;
    double new_penalty_;
    std::size_t n_features_;
    bool has_grid_ = false, has_tree_ = false;
    CenterGrid grid_;
    CenterGrid::Scratch grid_scratch_;
    CenterTree tree_;
    BlasFilter filter_;
    std::vector<BlasFilter::Scratch> scratch_;
    std::vector<double> buffer_;
};

}  // namespace dynmeans
