// Spatial hash grid. Finite reach: a cost above lambda never wins, so a slot matters only to points
// within sqrt((lambda - offset) / scale) of its center. Every slot is entered into all cells that
// this ball touches; a point looks at the slots of its own cell. For up to three features.
//
// Exact because: a computed cost of at most lambda means a true distance within the radius, up to
// rounding that kSlack covers; the cell of a coordinate is a monotone function of it in floating
// point too, so a coordinate between the ends of a ball has a cell between theirs. A slot that
// changed is entered again; its old entries stay and cost a look, as the center compared with is
// always the present one.
//
// Points come in random order, so almost every look is at memory that is far away. A chunk of
// points goes through each stage together (its cell, the cell's slots, their centers), which lets
// the machine fetch for many points at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "records/points.hpp"
#include "search/cost_table.hpp"
#include "search/keeping_cost.hpp"

namespace dynmeans::search {

using namespace records;

class CenterGrid {
  public:
    static constexpr std::size_t kMaxFeatures = 3;

    CenterGrid(std::size_t n_features, double new_penalty)
        : n_features_(n_features),
          new_penalty_(new_penalty),
          per_side_(1.0 / std::sqrt(new_penalty)) {}

    void build(const CostTable& table) {
        blocks_.clear();
        centers_.clear();
        heads_.assign(4096, kEnd);
        is_usable_ = new_penalty_ >= kTiny;
        for (std::size_t k = 0; k < table.size(); ++k) insert(k, table);
    }

    // False where some slot reaches too far for cells to help, a coordinate is out of range, or
    // costs within lambda may have been rounded to nothing.
    bool is_usable() const { return is_usable_; }

    // Enters slot k as it now is; slots come in order, or again.
    void insert(std::size_t k, const CostTable& table) {
        if (!is_usable_) return;
        centers_.resize(std::max(centers_.size(), k + 1));
        Center& center = centers_[k];
        std::copy_n(table.center(k), n_features_, center.at);
        center.offset = table.offset(k);
        center.scale = table.scale(k);
        const double margin = new_penalty_ - center.offset;
        if (margin < 0.0) return;
        const double radius = std::sqrt(margin / center.scale) * (1.0 + kSlack);
        Cell low{}, high{};
        double n_cells = 1.0;
        for (std::size_t j = 0; j < n_features_; ++j) {
            const double x = center.at[j], reach = radius + std::abs(x) * 1e-15;
            low.at[j] = cell_of(x - reach);
            high.at[j] = cell_of(x + reach);
            n_cells *= static_cast<double>(high.at[j]) - low.at[j] + 1.0;
            if (low.at[j] <= -kFarthest || high.at[j] >= kFarthest) n_cells = CostTable::kNever;
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
            ++cell.at[j];
        }
    }

    struct Scratch {
        std::vector<double> rows;
        std::vector<std::uint32_t> places;
    };

    Choice cheapest(const double* y) const { return cheapest(y, heads_[bucket(cell_at(y))]); }

    // The cheapest slots of the points at positions [begin, end) of the order.
    template <typename Value>
    void find(const Points<Value>& points, const std::int64_t* order, std::size_t begin,
              std::size_t end, Scratch& scratch, Choice* choices) const {
        const std::size_t n = end - begin, d = n_features_;
        scratch.rows.resize(n * d);
        scratch.places.resize(n);
        double* rows = scratch.rows.data();
        std::uint32_t* places = scratch.places.data();
        for (std::size_t r = 0; r < n; ++r) {
            if (r + kAhead < n) points.prefetch(order[begin + r + kAhead]);
            const Value* from = points.values + order[begin + r] * d;
            for (std::size_t j = 0; j < d; ++j) rows[r * d + j] = from[j];
            places[r] = bucket(cell_at(rows + r * d));
            __builtin_prefetch(&heads_[places[r]]);
        }
        for (std::size_t r = 0; r < n; ++r) {
            places[r] = heads_[places[r]];
            if (places[r] != kEnd) __builtin_prefetch(&blocks_[places[r]]);
        }
        for (std::size_t r = 0; r < n; ++r) {
            if (r + 4 < n && places[r + 4] != kEnd) {
                const Block& block = blocks_[places[r + 4]];
                for (std::uint32_t s = 0; s < block.n_slots; ++s)
                    __builtin_prefetch(&centers_[block.slots[s]]);
            }
            choices[r] = cheapest(rows + r * d, places[r]);
        }
    }

  private:
    static constexpr std::uint32_t kEnd = UINT32_MAX;
    static constexpr std::int32_t kFarthest = 1000000000;
    static constexpr double kMostCells = 1000.0;
    static constexpr std::size_t kAhead = 16;

    struct Cell {
        std::int32_t at[kMaxFeatures];
        bool operator==(const Cell& other) const {
            return at[0] == other.at[0] && at[1] == other.at[1] && at[2] == other.at[2];
        }
    };
    // Slots of one cell; a cell with many has several blocks.
    struct alignas(64) Block {
        Cell cell;
        std::uint32_t next, n_slots;
        Slot slots[11];
    };
    struct Center {
        double at[kMaxFeatures], offset, scale;
    };

    // Beyond the farthest center cells go on, up to one that no center reaches.
    std::int32_t cell_of(double x) const {
        constexpr double kLast = 2.0 * kFarthest;
        return static_cast<std::int32_t>(
            std::min(std::max(std::floor(x * per_side_), -kLast), kLast));
    }

    Cell cell_at(const double* y) const {
        Cell cell{};
        for (std::size_t j = 0; j < n_features_; ++j) cell.at[j] = cell_of(y[j]);
        return cell;
    }

    Choice cheapest(const double* y, std::uint32_t place) const {
        const Cell cell = cell_at(y);
        Choice choice{CostTable::kNone, new_penalty_};
        for (; place != kEnd; place = blocks_[place].next) {
            const Block& block = blocks_[place];
            if (!(block.cell == cell)) continue;
            for (std::uint32_t s = 0; s < block.n_slots; ++s) {
                const Center& center = centers_[block.slots[s]];
                const double cost =
                    center.offset + center.scale * squared_distance(y, center.at, n_features_);
                CostTable::consider(choice, block.slots[s], cost);
            }
        }
        return choice;
    }

    std::uint32_t bucket(const Cell& cell) const {
        const auto number = [&](std::size_t j) { return static_cast<std::uint64_t>(cell.at[j]); };
        const std::uint64_t hash = number(0) * 0x9E3779B97F4A7C15u +
                                   number(1) * 0xC2B2AE3D27D4EB4Fu +
                                   number(2) * 0x165667B19E3779F9u;
        return static_cast<std::uint32_t>((hash ^ (hash >> 32)) & (heads_.size() - 1));
    }

    void add(const Cell& cell, Slot slot) {
        std::uint32_t scratch = kEnd;
        for (std::uint32_t b = heads_[bucket(cell)]; b != kEnd; b = blocks_[b].next) {
            Block& block = blocks_[b];
            if (!(block.cell == cell)) continue;
            if (std::find(block.slots, block.slots + block.n_slots, slot) !=
                block.slots + block.n_slots)
                return;
            if (block.n_slots < std::size(block.slots)) scratch = b;
        }
        if (scratch == kEnd) {
            if (2 * blocks_.size() >= heads_.size()) rehash();
            const std::uint32_t at = bucket(cell);
            scratch = static_cast<std::uint32_t>(blocks_.size());
            blocks_.push_back({cell, heads_[at], 0, {}});
            heads_[at] = scratch;
        }
        blocks_[scratch].slots[blocks_[scratch].n_slots++] = slot;
    }

    void rehash() {
        heads_.assign(4 * heads_.size(), kEnd);
        for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
            const std::uint32_t at = bucket(blocks_[b].cell);
            blocks_[b].next = heads_[at];
            heads_[at] = b;
        }
    }

    std::size_t n_features_;
    double new_penalty_;
    double per_side_;
    bool is_usable_ = true;
    std::vector<std::uint32_t> heads_;
    std::vector<Block> blocks_;
    std::vector<Center> centers_;
};

}  // namespace dynmeans::search
