// AssignLabels: each point to its cheapest cluster (Eq. 5), visiting the points in one order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "records/points.hpp"
#include "records/remembered.hpp"
#include "search/cost_table.hpp"
#include "threads/interrupt_check.hpp"

namespace dynmeans {

// Z_t and the clusters of one run. Slots 0 .. n_remembered - 1 are the remembered clusters, later
// ones the new ones in order of birth.
struct Assignment {
    struct Move {
        std::int32_t point;
        Slot from;  // kUnlabeled where that slot is gone
    };

    std::vector<Slot> labels;
    std::vector<std::int64_t> n_members;    // points now in each slot
    std::vector<std::uint8_t> has_changed;  // slots whose members changed in this pass
    CostTable table;
    std::vector<Move> moves;    // of points that had a label before this pass
    std::vector<Slot> renamed;  // where slots went when gaps were closed after it; empty: nowhere
    bool has_any_changed = false;

    Assignment(std::size_t n_points, const Remembered& remembered)
        : table(remembered.n_features, remembered.n_clusters + 8), n_points_(n_points) {}

    // Nothing is labeled, every remembered cluster waits to be revived.
    void start(const Remembered& remembered) {
        labels.assign(n_points_, kUnlabeled);
        has_gaps_ = false;
        moves.clear();
        renamed.clear();
        n_members.assign(remembered.n_clusters, 0);
        has_changed.assign(remembered.n_clusters, 0);
        table.shrink(0);
        for (std::size_t k = 0; k < remembered.n_clusters; ++k) {
            table.append();
            deactivate(k, remembered);
        }
    }

    // As after a pass in which every cluster with members has changed.
    void start_from(const std::vector<Slot>& given, const std::vector<std::int64_t>& members,
                    const Remembered& remembered) {
        start(remembered);
        labels = given;
        n_members = members;
        has_changed.resize(members.size());
        while (table.size() < members.size()) table.append();
        for (std::size_t k = 0; k < members.size(); ++k) has_changed[k] = members[k] > 0;
        has_any_changed = true;
    }

    void start_pass() {
        std::fill(has_changed.begin(), has_changed.end(), 0);
        has_any_changed = false;
        moves.clear();
        renamed.clear();
    }

    // Puts point i, at y, where `choice` says; true if this changed what there is to choose from.
    bool place(std::size_t i, const double* y, std::size_t choice, const Remembered& remembered) {
        const Slot left = labels[i];
        std::size_t k = choice;
        bool is_change = false;
        if (k == CostTable::kNone) {
            k = open_new(y);
            is_change = true;
        } else if (n_members[k] == 0) {
            revive(k, y, remembered);
            is_change = true;
        }
        if (static_cast<Slot>(k) == left) return is_change;
        labels[i] = static_cast<Slot>(k);
        ++n_members[k];
        has_any_changed = true;
        has_changed[k] = 1;
        if (left == kUnlabeled) return is_change;
        has_changed[left] = 1;
        moves.push_back({static_cast<std::int32_t>(i), left});
        if (--n_members[left] > 0) return is_change;
        deactivate(left, remembered);
        return true;
    }

    // Closes the slots of new clusters that emptied; the others keep their order.
    void compact_slots(std::size_t n_remembered) {
        if (!has_gaps_) return;
        has_gaps_ = false;
        renamed.assign(n_members.size(), kUnlabeled);
        std::size_t next = 0;
        for (std::size_t k = 0; k < n_members.size(); ++k) {
            if (k >= n_remembered && n_members[k] == 0) continue;
            renamed[k] = static_cast<Slot>(next);
            if (k != next) table.set(next, table.center(k), table.offset(k), table.scale(k));
            n_members[next] = n_members[k];
            has_changed[next++] = has_changed[k];
        }
        n_members.resize(next);
        has_changed.resize(next);
        for (Slot& label : labels)
            if (label != kUnlabeled) label = renamed[label];
        for (Move& move : moves) move.from = renamed[move.from];
    }

    // Moves one row of `width` values for each slot to where gaps were closed; new slots get zeros.
    template <typename T>
    void follow_slots(std::vector<T>& rows, std::size_t width) const {
        std::size_t n_kept = 0;
        for (std::size_t k = 0; k < renamed.size() && (k + 1) * width <= rows.size(); ++k) {
            if (renamed[k] == kUnlabeled) continue;
            n_kept = static_cast<std::size_t>(renamed[k]) + 1;
            if (n_kept <= k)
                std::copy_n(rows.begin() + k * width, width, rows.begin() + renamed[k] * width);
        }
        if (!renamed.empty()) rows.resize(n_kept * width);
        rows.resize(n_members.size() * width);
    }

  private:
    std::size_t open_new(const double* y) {
        const std::size_t k = table.append();
        table.set(k, y, 0.0, 1.0);
        n_members.push_back(0);
        has_changed.push_back(1);
        return k;
    }

    void revive(std::size_t k, const double* y, const Remembered& remembered) {
        const double gamma = remembered.gamma[k];
        const double* theta_old = remembered.center(k);
        double* theta = table.center(k);
        if (remembered.is_on_sphere) return table.set(k, theta_old, 0.0, 1.0);
        for (std::size_t j = 0; j < remembered.n_features; ++j)
            theta[j] = (gamma * theta_old[j] + y[j]) / (gamma + 1.0);
        table.set(k, theta, 0.0, 1.0);
    }

    // An emptied remembered cluster falls back to its memory; an emptied new one is gone.
    void deactivate(std::size_t k, const Remembered& remembered) {
        if (k < remembered.n_clusters)
            table.set(k, remembered.center(k), remembered.offsets[k], remembered.scales[k]);
        else {
            table.close(k);
            has_gaps_ = true;
        }
    }

    std::size_t n_points_;
    bool has_gaps_ = false;
};

// Visits the points from `position` on, one after the other. The centers stand still, except that
// a cluster is created or revived at its first point and gone with its last. Points of weight 0
// take no part.
template <typename Value>
void assign_labels(const Points<Value>& points, const Row* order, std::size_t position,
                   const Remembered& remembered, double new_penalty, InterruptCheck& interrupts,
                   Assignment& assignment) {
    std::vector<double> buffer(points.n_features);
    for (; position < points.n_points; ++position) {
        if (position % 4096 == 4095) interrupts.check();
        const auto i = static_cast<std::size_t>(order[position]);
        if (!points.takes_part(i)) continue;
        const double* y = points.row(i, buffer.data());
        const Slot left = assignment.labels[i];
        const std::size_t hint = left == kUnlabeled ? CostTable::kNone : left;
        const Choice choice = assignment.table.cheapest(y, new_penalty, hint);
        assignment.place(i, y, choice.slot, remembered);
    }
}

}  // namespace dynmeans
