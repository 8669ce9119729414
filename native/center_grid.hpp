// Finite reach: a cost above lambda never wins, so a slot matters only to points within
// sqrt((lambda - offset) / scale) of its center. Every slot is entered into all cells that this
// ball touches; a point looks at the slots of its own cell. For up to three features.
//
// Exact because: a computed cost of at most lambda means a true distance within the radius, up to
// rounding that kSlack covers; the cell of a coordinate is a monotone function of it in floating
// point too, so a coordinate between the ends of a ball has a cell between theirs. A slot that
// changed is entered again; what its old entries say is not used, the table is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cost_table.hpp"
#include "neighbours.hpp"

namespace dynmeans {

class CenterGrid {
  public:
    static constexpr std::size_t kMaxFeatures = 3;

    CenterGrid(std::size_t n_features, double new_penalty)
        : n_features_(n_features),
          new_penalty_(new_penalty),
          per_side_(1.0 / std::sqrt(new_penalty)) {}

    void build(const CostTable& table) {
        entries_.clear();
        heads_.assign(4096, kEnd);
        is_usable_ = true;
        for (std::size_t k = 0; k < table.size(); ++k) insert(k, table);
    }

    // False where some slot reaches too far for cells to help, or a coordinate is out of range.
    bool is_usable() const { return is_usable_; }

    void insert(std::size_t k, const CostTable& table) {
        const double margin = new_penalty_ - table.offset(k);
        if (margin < 0.0 || !is_usable_) return;
        const double radius = std::sqrt(margin / table.scale(k)) * (1.0 + kSlack);
        Cell low{}, high{};
        double n_cells = 1.0;
        for (std::size_t j = 0; j < n_features_; ++j) {
            const double x = table.center(k)[j], reach = radius + std::abs(x) * 1e-15;
            low.at[j] = std::floor((x - reach) * per_side_);
            high.at[j] = std::floor((x + reach) * per_side_);
            n_cells *= high.at[j] - low.at[j] + 1.0;
            if (!(std::abs(low.at[j]) < kFarthest && std::abs(high.at[j]) < kFarthest))
                n_cells = kNever;
        }
        if (!(n_cells <= kMostCells)) {
            is_usable_ = false;
            return;
        }
        for (Cell cell = low;;) {
            add(cell, static_cast<Slot>(k));
            std::size_t j = 0;
            while (j < n_features_ && cell.at[j] == high.at[j]) cell.at[j] = low.at[j], ++j;
            if (j == n_features_) break;
            cell.at[j] += 1.0;
        }
    }

    Choice cheapest(const double* y, const CostTable& table) const {
        Cell cell{};
        for (std::size_t j = 0; j < n_features_; ++j) cell.at[j] = std::floor(y[j] * per_side_);
        Choice choice{CostTable::kNone, new_penalty_};
        for (std::uint32_t e = heads_[bucket(cell)]; e != kEnd; e = entries_[e].next) {
            const Entry& entry = entries_[e];
            if (entry.cell == cell)
                CostTable::consider(choice, entry.slot, table.cost(y, entry.slot));
        }
        return choice;
    }

  private:
    static constexpr std::uint32_t kEnd = UINT32_MAX;
    static constexpr double kNever = CostTable::kNever;
    static constexpr double kFarthest = 1e15;  // beyond, neighbouring cells have one number
    static constexpr double kMostCells = 1000.0;

    struct Cell {
        double at[kMaxFeatures];
        bool operator==(const Cell& other) const {
            return at[0] == other.at[0] && at[1] == other.at[1] && at[2] == other.at[2];
        }
    };
    struct Entry {
        Cell cell;
        Slot slot;
        std::uint32_t next;
    };

    std::size_t bucket(const Cell& cell) const {
        const auto number = [&](std::size_t j) {
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(cell.at[j]));
        };
        const std::uint64_t hash = number(0) * 0x9E3779B97F4A7C15u +
                                   number(1) * 0xC2B2AE3D27D4EB4Fu +
                                   number(2) * 0x165667B19E3779F9u;
        return (hash ^ (hash >> 32)) & (heads_.size() - 1);
    }

    void add(const Cell& cell, Slot slot) {
        if (entries_.size() >= heads_.size()) rehash();
        const std::size_t at = bucket(cell);
        entries_.push_back({cell, slot, heads_[at]});
        heads_[at] = static_cast<std::uint32_t>(entries_.size() - 1);
    }

    void rehash() {
        heads_.assign(4 * heads_.size(), kEnd);
        for (std::uint32_t e = 0; e < entries_.size(); ++e) {
            const std::size_t at = bucket(entries_[e].cell);
            entries_[e].next = heads_[at];
            heads_[at] = e;
        }
    }

    std::size_t n_features_;
    double new_penalty_;
    double per_side_;
    bool is_usable_ = true;
    std::vector<std::uint32_t> heads_;
    std::vector<Entry> entries_;
};

}  // namespace dynmeans
