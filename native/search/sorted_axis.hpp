// Bucket sort along one coordinate, for few features: those farther off in it are farther off
// altogether.
//
// The line is cut into as many cells as there are slots, so that slots are put in order in one
// sweep. Exact because the cell of a coordinate is a monotone function of it, in floating point
// too: a coordinate between two others has a cell between theirs. What else lies in the cells at
// the ends of a window is visited for nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "records/points.hpp"
#include "search/cost_table.hpp"
#include "search/elkan_bound.hpp"

namespace dynmeans {

class SortedAxis {
  public:
    // `lowest` and `width` are those of the coordinate over all slots.
    template <typename IsWanted>
    void build(const CostTable& table, std::size_t feature, double lowest, double width,
               IsWanted is_wanted) {
        lowest_ = lowest;
        wanted_.clear();
        for (std::size_t k = 0; k < table.size(); ++k)
            if (is_wanted(k)) wanted_.push_back(static_cast<Slot>(k));
        n_cells_ = std::max<std::size_t>(wanted_.size(), 1);
        per_width_ = width > 0.0 ? static_cast<double>(n_cells_) / width : 0.0;
        if (!std::isfinite(per_width_)) per_width_ = 0.0;
        // Counts, then the ends of the cells, then their beginnings.
        firsts_.assign(n_cells_ + 1, 0);
        for (const Slot k : wanted_) ++firsts_[cell_of(table.center(k)[feature])];
        for (std::size_t cell = 1; cell <= n_cells_; ++cell) firsts_[cell] += firsts_[cell - 1];
        slots_.resize(wanted_.size());
        for (const Slot k : wanted_) slots_[--firsts_[cell_of(table.center(k)[feature])]] = k;
    }

    // Visits every slot within `radius` of x in this coordinate, and some beyond.
    template <typename Visit>
    void visit_within(double x, double radius, Visit visit) const {
        const double reach = radius * (1.0 + kSlack) + std::abs(x) * 1e-15;
        const std::size_t end = firsts_[cell_of(x + reach) + 1];
        for (std::size_t at = firsts_[cell_of(x - reach)]; at < end; ++at) visit(slots_[at]);
    }

  private:
    std::size_t cell_of(double x) const {
        const double cell = (x - lowest_) * per_width_;
        return static_cast<std::size_t>(
            std::min(std::max(cell, 0.0), static_cast<double>(n_cells_ - 1)));
    }

    double lowest_ = 0.0, per_width_ = 0.0;
    std::size_t n_cells_ = 1;
    std::vector<Slot> wanted_, slots_;
    std::vector<std::uint32_t> firsts_ = {0, 0};
};

}  // namespace dynmeans
