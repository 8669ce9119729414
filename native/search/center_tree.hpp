// Bounding-box tree, for a few more features than a grid can hold: the centers in a tree of boxes.
// Eight slots that lie together make a leaf, and every node knows the box around its centers and
// the least offset and scale among them.
//
// Exact because no center in a box is nearer than the box: per feature the distance to the nearer
// side is at most that to the center, in floating point too, since rounding is monotone; kSlack
// covers the different order of the additions. A node is left out if even its box would cost more
// than the best found so far, lambda at first. A slot that changed since the tree was built is
// closed in it and compared apart, together with the others of that kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "numeric/simd.hpp"
#include "records/points.hpp"
#include "search/cost_table.hpp"
#include "search/keeping_cost.hpp"

namespace dynmeans::search {

using namespace numeric;
using namespace records;

class CenterTree {
  public:
    static constexpr std::size_t kMaxFeatures = 15;

    explicit CenterTree(std::size_t n_features)
        : n_features_(n_features),
          n_padded_((n_features + kSimd - 1) / kSimd * kSimd),
          leaves_(n_features, 0),
          pending_(n_features, 0) {}

    // Of the slots that `is_in` names.
    template <typename IsIn>
    void build(const CostTable& table, const IsIn& is_in) {
        slots_.clear();
        nodes_.clear();
        boxes_.clear();
        for (std::size_t k = 0; k < table.size(); ++k)
            if (table.offset(k) != CostTable::kNever && is_in(k))
                slots_.push_back(static_cast<Slot>(k));
        if (!slots_.empty()) divide(0, slots_.size(), table);
        leaves_.shrink(0);
        place_of_.assign(table.size(), kNowhere);
        for (std::size_t s = 0; s < slots_.size(); ++s) {
            const auto k = static_cast<std::size_t>(slots_[s]);
            leaves_.set(leaves_.append(), table.center(k), table.offset(k), table.scale(k));
            place_of_[k] = static_cast<std::uint32_t>(s);
        }
        pending_.shrink(0);
        pending_slots_.clear();
    }

    // Slot k has changed, or is new.
    void update(std::size_t k, const CostTable& table) {
        place_of_.resize(std::max(place_of_.size(), k + 1), kNowhere);
        std::uint32_t& place = place_of_[k];
        if (place == kNowhere || place < kPending) {
            if (place != kNowhere) leaves_.close(place);
            place = kPending + static_cast<std::uint32_t>(pending_.append());
            pending_slots_.push_back(static_cast<Slot>(k));
        }
        pending_.set(place - kPending, table.center(k), table.offset(k), table.scale(k));
    }

    // Whether a new tree is worth its making, for so many points to come: every point looks at the
    // slots that changed, and making one takes about as long as a hundred looks at each slot.
    bool is_outdated(std::size_t n_points) const {
        const std::size_t n_changed = pending_slots_.size();
        return n_changed > 32 + slots_.size() / 8 || n_points * n_changed > 128 * slots_.size();
    }

    std::size_t n_leaves() const { return (slots_.size() + kLeaf - 1) / kLeaf; }

    Choice cheapest(const double* y, double limit) const {
        std::size_t n_looks = 0;
        return cheapest(y, limit, n_looks);
    }

    // Counts the leaves it looks at.
    Choice cheapest(const double* y, double limit, std::size_t& n_looks) const {
        Choice choice{CostTable::kNone, limit};
        for (std::size_t base = 0; base < pending_.size(); base += kSimd)
            pending_.consider_panel(y, base, pending_slots_.data(), choice);
        if (nodes_.empty()) return choice;
        double padded[kMostPadded] = {};
        std::copy_n(y, n_features_, padded);
        struct Waiting {
            std::uint32_t node;
            double cost;
        };
        Waiting stack[kDeepest];
        std::size_t depth = 0;
        stack[depth++] = {0, least_cost(padded, 0)};
        while (depth > 0) {
            const Waiting next = stack[--depth];
            if (next.cost > choice.cost) continue;
            const Node& node = nodes_[next.node];
            if (node.right == 0) {
                ++n_looks;
                for (std::size_t base = node.begin; base < node.end; base += kSimd)
                    leaves_.consider_panel(y, base, slots_.data(), choice);
                continue;
            }
            const Waiting left{next.node + 1, least_cost(padded, next.node + 1)};
            const Waiting right{node.right, least_cost(padded, node.right)};
            const bool is_left_nearer = left.cost < right.cost;
            stack[depth++] = is_left_nearer ? right : left;
            stack[depth++] = is_left_nearer ? left : right;
        }
        return choice;
    }

    // Calls visit(slot) for every slot whose center may lie within this distance of y.
    template <typename Visit>
    void visit_within(const double* y, double radius, const Visit& visit) const {
        double padded[kMostPadded] = {};
        std::copy_n(y, n_features_, padded);
        const double limit = radius * radius * (1.0 + 4.0 * kSlack);
        std::uint32_t stack[kDeepest];
        std::size_t depth = 0;
        if (!nodes_.empty()) stack[depth++] = 0;
        while (depth > 0) {
            const std::uint32_t at = stack[--depth];
            if (least_squared_distance(padded, at) > limit) continue;
            const Node& node = nodes_[at];
            if (node.right != 0) {
                stack[depth++] = node.right;
                stack[depth++] = at + 1;
                continue;
            }
            for (std::size_t s = node.begin; s < node.end; ++s) visit(slots_[s]);
        }
    }

  private:
    static constexpr std::size_t kLeaf = 8, kDeepest = 128;
    static constexpr std::size_t kMostPadded = kMaxFeatures + kSimd;
    static constexpr std::uint32_t kNowhere = UINT32_MAX, kPending = 1u << 31;

    struct Node {
        std::uint32_t right;       // 0 for a leaf; the left child follows its parent
        std::uint32_t begin, end;  // of its slots
        double least_offset, least_scale;
    };

    std::uint32_t divide(std::size_t begin, std::size_t end, const CostTable& table) {
        const auto at = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({0, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                          CostTable::kNever, 1.0});
        const std::size_t widest = enclose(at, table);
        if (end - begin <= kLeaf) return at;
        // The left half in whole leaves, so that only the last leaf has room left.
        const std::size_t n_leaves = (end - begin + kLeaf - 1) / kLeaf;
        const std::size_t middle = begin + n_leaves / 2 * kLeaf;
        std::nth_element(slots_.begin() + begin, slots_.begin() + middle, slots_.begin() + end,
                         [&](Slot a, Slot b) {
                             const double x = table.center(a)[widest], z = table.center(b)[widest];
                             return x != z ? x < z : a < b;
                         });
        divide(begin, middle, table);
        const std::uint32_t right = divide(middle, end, table);
        nodes_[at].right = right;
        return at;
    }

    // Writes the box of a node; returns the feature in which it is widest.
    std::size_t enclose(std::uint32_t at, const CostTable& table) {
        Node& node = nodes_[at];
        boxes_.resize(2 * n_padded_ * nodes_.size(), 0.0);
        double *low = boxes_.data() + 2 * n_padded_ * at, *high = low + n_padded_;
        std::size_t widest = 0;
        for (std::size_t j = 0; j < n_features_; ++j) {
            low[j] = CostTable::kNever;
            high[j] = -CostTable::kNever;
        }
        for (std::size_t s = node.begin; s < node.end; ++s) {
            const auto k = static_cast<std::size_t>(slots_[s]);
            for (std::size_t j = 0; j < n_features_; ++j) {
                low[j] = std::min(low[j], table.center(k)[j]);
                high[j] = std::max(high[j], table.center(k)[j]);
            }
            node.least_offset = std::min(node.least_offset, table.offset(k));
            node.least_scale = std::min(node.least_scale, table.scale(k));
        }
        for (std::size_t j = 1; j < n_features_; ++j)
            if (high[j] - low[j] > high[widest] - low[widest]) widest = j;
        return widest;
    }

    double least_squared_distance(const double* padded, std::uint32_t at) const {
        const double *low = boxes_.data() + 2 * n_padded_ * at, *high = low + n_padded_;
        Doubles sums = {};
        for (std::size_t j = 0; j < n_padded_; j += kSimd) {
            const Doubles y = load(padded + j), below = load(low + j) - y,
                          above = y - load(high + j);
            const Doubles outside = below > above ? below : above;
            const Doubles gap = outside > 0.0 ? outside : Doubles{};
            sums += gap * gap;
        }
        return sum_of_lanes(sums);
    }

    double least_cost(const double* padded, std::uint32_t at) const {
        const Node& node = nodes_[at];
        return (node.least_offset + node.least_scale * least_squared_distance(padded, at)) *
               (1.0 - kSlack);
    }

    std::size_t n_features_, n_padded_;
    std::vector<Slot> slots_;  // in the order of the leaves
    std::vector<Node> nodes_;
    std::vector<double> boxes_;  // (n_nodes, 2, n_padded)
    CostTable leaves_;
    std::vector<std::uint32_t> place_of_;  // of a slot: in the leaves, or pending
    CostTable pending_;                    // slots that changed since
    std::vector<Slot> pending_slots_;
};

}  // namespace dynmeans::search
