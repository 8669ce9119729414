// AssignLabels: each point to its cheapest cluster (Eq. 5), visiting the points in one order.
#pragma once

#include <vector>

#include "cost_table.hpp"
#include "memory.hpp"
#include "points.hpp"

namespace dynmeans {

// Z_t and the clusters of one run. Slots 0 .. n_remembered - 1 are the remembered clusters, later
// ones the new ones in order of birth.
struct Assignment {
    std::vector<Slot> labels;
    std::vector<std::int64_t> n_members;  // points now in each slot
    CostTable table;

    Assignment(const Points& points, const Memory& memory)
        : labels(points.n_points), table(points.n_features, memory.n_clusters + 8) {}

    // Nothing is labelled, every remembered cluster waits to be revived.
    void start(const Memory& memory) {
        std::fill(labels.begin(), labels.end(), kUnlabelled);
        n_members.assign(memory.n_clusters, 0);
        table.shrink(0);
        for (std::size_t k = 0; k < memory.n_clusters; ++k) {
            table.append();
            put_to_sleep(k, memory);
        }
    }

    std::size_t open_new(const double* y) {
        const std::size_t k = table.append();
        table.set(k, y, 0.0, 1.0);
        n_members.push_back(0);
        return k;
    }

    void revive(std::size_t k, const double* y, const Memory& memory) {
        const double gamma = memory.gamma[k];
        const double* theta_old = memory.center(k);
        double* theta = table.center(k);
        for (std::size_t j = 0; j < memory.n_features; ++j)
            theta[j] = (gamma * theta_old[j] + y[j]) / (gamma + 1.0);
        table.set(k, theta, 0.0, 1.0);
    }

    // An emptied remembered cluster falls back to its memory; an emptied new one is gone.
    void put_to_sleep(std::size_t k, const Memory& memory) {
        if (k < memory.n_clusters)
            table.set(k, memory.center(k), memory.offsets[k], memory.scales[k]);
        else
            table.close(k);
    }

    // Closes the slots of new clusters that emptied; the others keep their order.
    void close_gaps(std::size_t n_remembered) {
        std::vector<Slot> renamed(n_members.size());
        std::size_t next = n_remembered;
        for (std::size_t k = 0; k < n_members.size(); ++k) {
            const bool kept = k < n_remembered || n_members[k] > 0;
            renamed[k] = static_cast<Slot>(k < n_remembered ? k : next);
            if (k >= n_remembered && kept) n_members[next++] = n_members[k];
        }
        if (next == n_members.size()) return;
        n_members.resize(next);
        for (Slot& label : labels)
            if (label != kUnlabelled) label = renamed[label];
    }
};

// One pass in the given order; says whether any label changed. The centers stand still, except
// that a cluster is created or revived at its first point and gone with its last. Points of
// weight 0 take no part.
inline bool assign_labels(const Points& points, const std::int64_t* order, const Memory& memory,
                          double new_penalty, Assignment& assignment) {
    auto& [labels, n_members, table] = assignment;
    bool has_changed = false;
    for (std::size_t position = 0; position < points.n_points; ++position) {
        const auto i = static_cast<std::size_t>(order[position]);
        if (points.weight(i) == 0.0) continue;
        const double* y = points.row(i);
        const Slot left = labels[i];
        const std::size_t hint = left == kUnlabelled ? CostTable::kNone : left;
        std::size_t k = table.cheapest(y, new_penalty, hint).slot;
        if (k == CostTable::kNone)
            k = assignment.open_new(y);
        else if (n_members[k] == 0)
            assignment.revive(k, y, memory);
        if (static_cast<Slot>(k) == left) continue;
        has_changed = true;
        labels[i] = static_cast<Slot>(k);
        ++n_members[k];
        if (left != kUnlabelled && --n_members[left] == 0) assignment.put_to_sleep(left, memory);
    }
    assignment.close_gaps(memory.n_clusters);
    return has_changed;
}

}  // namespace dynmeans
