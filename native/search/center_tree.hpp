// Bounding-box tree, for a few more features than a grid can hold: the centers in a tree of boxes.
// Eight slots that lie together make a leaf, and every node knows the box around its centers and
// the least offset and scale among them. The last eight leaves or fewer stand side by side under
// one node, so that their boxes are looked at together.
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
#include "search/elkan_bound.hpp"

namespace dynmeans {

class CenterTree {
  public:
    static constexpr std::size_t kMaxFeatures = 15;

    explicit CenterTree(std::size_t n_features)
        : n_features_(n_features),
          n_padded_((n_features + kSimd - 1) / kSimd * kSimd),
          leaves_(n_features, 0),
          pending_(n_features, 0) {}

    void build(const CostTable& table) {
        slots_.clear();
        nodes_.clear();
        boxes_.clear();
        broods_.clear();
        for (std::size_t k = 0; k < table.size(); ++k)
            if (table.offset(k) != CostTable::kNever) slots_.push_back(static_cast<Slot>(k));
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
        n_pending_looks_ = 0;
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

    // Whether a new tree is worth its making before n_points points more: each looks at the slots
    // that changed, and once they have looked as long as a new tree takes, one is made.
    bool is_outdated(std::size_t n_points) {
        n_pending_looks_ += n_points * pending_slots_.size();
        return n_pending_looks_ > kLooksOfBuild * (slots_.size() + pending_slots_.size());
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
                look_at_leaves(y, node, choice, n_looks);
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

  private:
    static constexpr std::size_t kLeaf = 8, kBrood = 8;  // slots of a leaf, leaves side by side
    static constexpr std::size_t kDeepest = 128;
    static constexpr std::size_t kLooksOfBuild = 256;  // for each slot
    static_assert(kLeaf % kSimd == 0 && kBrood % kSimd == 0);
    static_assert(kDeepest > 2 * 8 * sizeof(Slot));  // two wait at each level, at most
    static constexpr std::size_t kMostPadded = kMaxFeatures + kSimd;
    static constexpr std::uint32_t kNowhere = UINT32_MAX, kPending = 1u << 31;
    static_assert(kPending >= kMaxPoints && kNowhere - kPending >= kMaxPoints);

    struct Node {
        std::uint32_t right;       // 0 above leaves; the left child follows its parent
        std::uint32_t begin, end;  // of its slots
        std::uint32_t brood;       // of its leaves
        double least_offset, least_scale;
    };

    std::uint32_t divide(std::size_t begin, std::size_t end, const CostTable& table) {
        const auto at = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({0, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), 0,
                          CostTable::kNever, 1.0});
        boxes_.resize(2 * n_padded_ * nodes_.size(), 0.0);
        double* low = boxes_.data() + 2 * n_padded_ * at;
        enclose(begin, end, table, low, low + n_padded_, 1, nodes_[at].least_offset,
                nodes_[at].least_scale);
        if (end - begin <= kLeaf * kBrood) {
            make_brood(nodes_[at], table);
            return at;
        }
        const std::size_t middle = halve(begin, end, table);
        divide(begin, middle, table);
        const std::uint32_t right = divide(middle, end, table);
        nodes_[at].right = right;
        return at;
    }

    // Parts the slots where they are widest; returns the first of the right half. The left half is
    // made of whole leaves, so that only the last leaf has room left.
    std::size_t halve(std::size_t begin, std::size_t end, const CostTable& table) {
        double low[kMaxFeatures], high[kMaxFeatures], offset = 0.0, scale = 0.0;
        enclose(begin, end, table, low, high, 1, offset, scale);
        std::size_t widest = 0;
        for (std::size_t j = 1; j < n_features_; ++j)
            if (high[j] - low[j] > high[widest] - low[widest]) widest = j;
        const std::size_t n_leaves = (end - begin + kLeaf - 1) / kLeaf;
        const std::size_t middle = begin + n_leaves / 2 * kLeaf;
        std::nth_element(slots_.begin() + begin, slots_.begin() + middle, slots_.begin() + end,
                         [&](Slot a, Slot b) {
                             const double x = table.center(a)[widest], z = table.center(b)[widest];
                             return x != z ? x < z : a < b;
                         });
        return middle;
    }

    void part_into_leaves(std::size_t begin, std::size_t end, const CostTable& table) {
        if (end - begin <= kLeaf) return;
        const std::size_t middle = halve(begin, end, table);
        part_into_leaves(begin, middle, table);
        part_into_leaves(middle, end, table);
    }

    // Low and high sides of each feature, offsets and scales: kBrood numbers each.
    std::size_t brood_size() const { return (2 * n_features_ + 2) * kBrood; }

    void make_brood(Node& node, const CostTable& table) {
        part_into_leaves(node.begin, node.end, table);
        node.brood = static_cast<std::uint32_t>(broods_.size() / brood_size());
        broods_.resize(broods_.size() + brood_size(), CostTable::kNever);
        double* brood = broods_.data() + node.brood * brood_size();
        double *offsets = brood + 2 * n_features_ * kBrood, *scales = offsets + kBrood;
        for (std::size_t leaf = 0; node.begin + leaf * kLeaf < node.end; ++leaf) {
            const std::size_t begin = node.begin + leaf * kLeaf;
            const std::size_t end = std::min<std::size_t>(begin + kLeaf, node.end);
            enclose(begin, end, table, brood + leaf, brood + leaf + kBrood, 2 * kBrood,
                    offsets[leaf], scales[leaf]);
        }
    }

    // Writes the box around some slots, and their least offset and scale; `stride` is from one
    // feature to the next.
    void enclose(std::size_t begin, std::size_t end, const CostTable& table, double* low,
                 double* high, std::size_t stride, double& least_offset,
                 double& least_scale) const {
        least_offset = CostTable::kNever;
        least_scale = 1.0;
        for (std::size_t j = 0; j < n_features_; ++j) {
            low[j * stride] = CostTable::kNever;
            high[j * stride] = -CostTable::kNever;
        }
        for (std::size_t s = begin; s < end; ++s) {
            const auto k = static_cast<std::size_t>(slots_[s]);
            for (std::size_t j = 0; j < n_features_; ++j) {
                low[j * stride] = std::min(low[j * stride], table.center(k)[j]);
                high[j * stride] = std::max(high[j * stride], table.center(k)[j]);
            }
            least_offset = std::min(least_offset, table.offset(k));
            least_scale = std::min(least_scale, table.scale(k));
        }
    }

    // Squared distances of y to the boxes of the leaves under a node.
    void leaf_squares(const double* y, const Node& node, double* squares) const {
        const double* brood = broods_.data() + node.brood * brood_size();
        for (std::size_t part = 0; part < kBrood; part += kSimd) {
            Doubles sums = {};
            for (std::size_t j = 0; j < n_features_; ++j) {
                const double* sides = brood + 2 * j * kBrood + part;
                const Doubles below = load(sides) - y[j], above = y[j] - load(sides + kBrood);
                const Doubles outside = select(below > above, below, above);
                const Doubles gap = select(outside > 0.0, outside, Doubles{});
                sums += gap * gap;
            }
            store(squares + part, sums);
        }
    }

    // The nearest leaf first.
    void look_at_leaves(const double* y, const Node& node, Choice& choice,
                        std::size_t& n_looks) const {
        double costs[kBrood];
        leaf_squares(y, node, costs);
        const double* offsets =
            broods_.data() + node.brood * brood_size() + 2 * n_features_ * kBrood;
        unsigned left = 0, lane = 0;
        double lowest = CostTable::kNever;
        for (std::size_t part = 0; part < kBrood; part += kSimd) {
            const Doubles least =
                (load(offsets + part) + load(offsets + kBrood + part) * load(costs + part)) *
                (1.0 - kSlack);
            store(costs + part, least);
            left |= lanes_at_most(least, choice.cost) << part;
            const double here = lowest_lane(least);
            if (here >= lowest) continue;
            lowest = here;
            lane = static_cast<unsigned>(part) + lowest_bit(lanes_equal(least, fill(here)));
        }
        while (left != 0) {
            if (costs[lane] <= choice.cost) {
                ++n_looks;
                const std::size_t begin = node.begin + lane * kLeaf;
                for (std::size_t base = begin; base < begin + kLeaf && base < node.end;
                     base += kSimd)
                    leaves_.consider_panel(y, base, slots_.data(), choice);
            }
            left &= ~(1u << lane);
            if (left != 0) lane = lowest_bit(left);
        }
    }

    double least_squared_distance(const double* padded, std::uint32_t at) const {
        const double *low = boxes_.data() + 2 * n_padded_ * at, *high = low + n_padded_;
        Doubles sums = {};
        for (std::size_t j = 0; j < n_padded_; j += kSimd) {
            const Doubles y = load(padded + j), below = load(low + j) - y,
                          above = y - load(high + j);
            const Doubles outside = select(below > above, below, above);
            const Doubles gap = select(outside > 0.0, outside, Doubles{});
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
    std::vector<double> boxes_;   // (n_nodes, 2, n_padded)
    std::vector<double> broods_;  // of leaves, brood_size() numbers each
    CostTable leaves_;
    std::vector<std::uint32_t> place_of_;  // of a slot: in the leaves, or pending
    CostTable pending_;                    // slots that changed since
    std::vector<Slot> pending_slots_;
    std::size_t n_pending_looks_ = 0;
};

}  // namespace dynmeans
