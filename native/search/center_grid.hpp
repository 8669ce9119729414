// Spatial hash grid. Finite reach: a cost above lambda never wins, so a slot matters only to points
// within sqrt((lambda - offset) / scale) of its center. Every slot is entered into all cells that
// this ball touches; a point looks at the slots of its own cell. For up to three features.
//
// Exact because: a computed cost of at most lambda means a true distance within the radius, up to
// rounding that kSlack covers; the cell of a coordinate is a monotone function of it in floating
// point too, so a coordinate between the ends of a ball has a cell between theirs. A slot that
// changed is taken out and entered again.
//
// Points come in random order, so almost every look is at memory that is far away. A chunk of
// points goes through each stage together (its cells, their blocks of slots, the costs), which lets
// the machine fetch for many points at a time. The centers stand in the blocks themselves, four
// side by side, and the cheapest of four is found without a branch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "numeric/quads.hpp"
#include "numeric/squared_distance.hpp"
#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "search/cost_table.hpp"
#include "search/elkan_bound.hpp"

namespace dynmeans {

class CenterGrid {
  public:
    static constexpr std::size_t kMaxFeatures = 3;

    CenterGrid(std::size_t n_features, double new_penalty)
        : n_features_(n_features),
          new_penalty_(new_penalty),
          cells_per_unit_(1.0 / std::sqrt(new_penalty)) {}

    void build(const CostTable& table) {
        blocks_.clear();
        centers_.clear();
        heads_.assign(4096, kNoBlock);
        is_usable_ = new_penalty_ >= kTiny;
        for (std::size_t k = 0; k < table.size(); ++k) insert(k, table);
    }

    // False where some slot reaches too far for cells to help, a coordinate is out of range, or
    // costs within lambda may have been rounded to nothing.
    bool is_usable() const { return is_usable_; }

    // Enters slot k as it now is; slots come in order, or again.
    void insert(std::size_t k, const CostTable& table) {
        if (!is_usable_) return;
        const auto slot = static_cast<Slot>(k);
        if (k < centers_.size())
            visit_cells(centers_[k], [&](const Cell& cell) { take_out(cell, slot); });
        centers_.resize(std::max(centers_.size(), k + 1));
        Center& center = centers_[k];
        std::copy_n(table.center(k), n_features_, center.at);
        center.offset = table.offset(k);
        center.scale = table.scale(k);
        is_usable_ = visit_cells(center, [&](const Cell& cell) { add(cell, slot, center); });
    }

    struct Scratch {
        std::vector<double> rows;                 // one feature after the other
        std::vector<std::int32_t> cells;          // the same
        std::vector<std::uint32_t> first_blocks;  // of the chains of the cells
    };

    Choice cheapest(const double* y) const {
        Cell cell{};
        for (std::size_t j = 0; j < n_features_; ++j) cell.at[j] = cell_of(y[j]);
        const std::uint32_t b = heads_[bucket(cell)];
        if (n_features_ == 1) return cheapest<1>(y, cell, b);
        return n_features_ == 2 ? cheapest<2>(y, cell, b) : cheapest<3>(y, cell, b);
    }

    // The cheapest slots of the points at positions [begin, end) of the order.
    template <typename Value>
    void find(const Points<Value>& points, const Row* order, std::size_t begin, std::size_t end,
              Scratch& scratch, Choice* choices) const {
        if (n_features_ == 1) return find<1>(points, order + begin, end - begin, scratch, choices);
        if (n_features_ == 2) return find<2>(points, order + begin, end - begin, scratch, choices);
        find<3>(points, order + begin, end - begin, scratch, choices);
    }

  private:
    static constexpr std::uint32_t kNoBlock = UINT32_MAX;
    static constexpr std::int32_t kFarthestCell = 1000000000;
    static constexpr double kMostCells = 1000.0;
    static constexpr double kRounding = 1e-15;  // above what a sum of two is off by, in parts of it
    static constexpr std::size_t kAhead = 16;
    static constexpr std::size_t kBlockSlots = 4;  // slots of a block
    static constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();
    static_assert(2.0 * kFarthestCell <= std::numeric_limits<std::int32_t>::max());  // cell_of
    static_assert(kNoSlot >= kMaxPoints);

    struct Cell {
        std::int32_t at[kMaxFeatures];
        bool operator==(const Cell& other) const {
            return at[0] == other.at[0] && at[1] == other.at[1] && at[2] == other.at[2];
        }
    };
    // Slots of one cell; a cell with many has several blocks. A free lane costs infinitely much.
    struct alignas(64) Block {
        Cell cell;
        std::uint32_t next;
        Slot slots[kBlockSlots];
        double offsets[kBlockSlots], scales[kBlockSlots], at[kMaxFeatures][kBlockSlots];
    };
    struct Center {
        double at[kMaxFeatures], offset, scale;
    };

    template <std::size_t D, typename Value>
    void find(const Points<Value>& points, const Row* order, std::size_t n, Scratch& scratch,
              Choice* choices) const {
        scratch.rows.resize(n * D);
        scratch.cells.resize(n * D);
        scratch.first_blocks.resize(n);
        double* rows = scratch.rows.data();
        std::int32_t* cells = scratch.cells.data();
        std::uint32_t* first_blocks = scratch.first_blocks.data();
        for (std::size_t r = 0; r < n; ++r) {
            const Value* from = points.values + order[r] * D;
            for (std::size_t j = 0; j < D; ++j) rows[j * n + r] = from[j];
        }
        for (std::size_t v = 0; v < n * D; ++v) cells[v] = cell_of(rows[v]);
        const auto cell_at = [&](std::size_t r) {
            Cell cell{};
            for (std::size_t j = 0; j < D; ++j) cell.at[j] = cells[j * n + r];
            return cell;
        };
        for (std::size_t r = 0; r < n; ++r) first_blocks[r] = bucket(cell_at(r));
        for (std::size_t r = 0; r < n; ++r) first_blocks[r] = heads_[first_blocks[r]];
        for (std::size_t r = 0; r < n; ++r) {
            double y[D];
            for (std::size_t j = 0; j < D; ++j) y[j] = rows[j * n + r];
            choices[r] = cheapest<D>(y, cell_at(r), first_blocks[r]);
        }
    }

    // Beyond the farthest center cells go on, up to one that no center reaches.
    std::int32_t cell_of(double x) const {
        constexpr double kLast = 2.0 * kFarthestCell;
        return static_cast<std::int32_t>(
            std::min(std::max(std::floor(x * cells_per_unit_), -kLast), kLast));
    }

    template <std::size_t D>
    Choice cheapest(const double* y, const Cell& cell, std::uint32_t b) const {
        Choice choice{CostTable::kNone, new_penalty_};
        for (; b != kNoBlock; b = blocks_[b].next) {
            const Block& block = blocks_[b];
            if (!(block.cell == cell)) continue;
            Quad squares[D];
            for (std::size_t j = 0; j < D; ++j) {
                const Quad difference = y[j] - load_quad(block.at[j]);
                squares[j] = difference * difference;
            }
            const Quad costs =
                load_quad(block.offsets) + load_quad(block.scales) * add_few_in_halves<D>(squares);
            const LowestOfQuad lowest = lowest_of_quad(costs, block.slots);
            CostTable::consider(choice, lowest.id, lowest.value);
        }
        return choice;
    }

    std::uint32_t bucket(const Cell& cell) const {
        const auto number = [&](std::size_t j) { return static_cast<std::uint32_t>(cell.at[j]); };
        const std::uint32_t hash =
            number(0) * 0x9E3779B1u + number(1) * 0x85EBCA77u + number(2) * 0xC2B2AE3Du;
        return (hash ^ (hash >> 15)) & static_cast<std::uint32_t>(heads_.size() - 1);
    }

    // Calls visit(cell) for all cells within reach; false if there are too many.
    template <typename Visit>
    bool visit_cells(const Center& center, const Visit& visit) const {
        if (center.offset > new_penalty_) return true;
        // A sum of offset and distance is rounded: it may be lambda though it lies above.
        const double margin = new_penalty_ - center.offset + new_penalty_ * kRounding;
        const double radius = std::sqrt(margin / center.scale) * (1.0 + kSlack);
        Cell low{}, high{};
        double n_cells = 1.0;
        for (std::size_t j = 0; j < n_features_; ++j) {
            const double x = center.at[j], reach = radius + std::abs(x) * 1e-15;
            low.at[j] = cell_of(x - reach);
            high.at[j] = cell_of(x + reach);
            n_cells *= static_cast<double>(high.at[j]) - low.at[j] + 1.0;
            if (low.at[j] <= -kFarthestCell || high.at[j] >= kFarthestCell) return false;
        }
        if (n_cells > kMostCells) return false;
        for (Cell cell = low;;) {
            visit(cell);
            std::size_t j = 0;
            while (j < n_features_ && cell.at[j] == high.at[j]) cell.at[j] = low.at[j], ++j;
            if (j == n_features_) return true;
            ++cell.at[j];
        }
    }

    // Where the slot stands in the blocks of a cell; null: nowhere.
    Block* find_block(const Cell& cell, Slot slot) {
        for (std::uint32_t b = heads_[bucket(cell)]; b != kNoBlock; b = blocks_[b].next)
            if (blocks_[b].cell == cell &&
                std::find(blocks_[b].slots, blocks_[b].slots + kBlockSlots, slot) !=
                    blocks_[b].slots + kBlockSlots)
                return &blocks_[b];
        return nullptr;
    }

    static void replace_slot(Block& block, Slot before, Slot slot, const Center& center) {
        const std::size_t lane =
            std::find(block.slots, block.slots + kBlockSlots, before) - block.slots;
        block.slots[lane] = slot;
        block.offsets[lane] = center.offset;
        block.scales[lane] = center.scale;
        for (std::size_t j = 0; j < kMaxFeatures; ++j) block.at[j][lane] = center.at[j];
    }

    void take_out(const Cell& cell, Slot slot) {
        if (Block* block = find_block(cell, slot)) replace_slot(*block, slot, kNoSlot, kFree);
    }

    void add(const Cell& cell, Slot slot, const Center& center) {
        Block* block = find_block(cell, kNoSlot);
        if (!block) {
            if (2 * blocks_.size() >= heads_.size()) rehash();
            const std::uint32_t at = bucket(cell);
            blocks_.push_back({cell, heads_[at], {}, {}, {}, {}});
            heads_[at] = static_cast<std::uint32_t>(blocks_.size() - 1);
            block = &blocks_.back();
            std::fill_n(block->slots, kBlockSlots, kNoSlot);
            std::fill_n(block->offsets, kBlockSlots, CostTable::kNever);
        }
        replace_slot(*block, kNoSlot, slot, center);
    }

    void rehash() {
        heads_.assign(4 * heads_.size(), kNoBlock);
        for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
            const std::uint32_t at = bucket(blocks_[b].cell);
            blocks_[b].next = heads_[at];
            heads_[at] = b;
        }
    }

    static constexpr Center kFree{{}, CostTable::kNever, 1.0};

    std::size_t n_features_;
    double new_penalty_;
    double cells_per_unit_;
    bool is_usable_ = true;
    std::vector<std::uint32_t> heads_;
    std::vector<Block> blocks_;
    std::vector<Center> centers_;
};

}  // namespace dynmeans
