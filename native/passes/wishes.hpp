// What points want in a pass, before any of them has moved.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "records/points.hpp"
#include "search/cost_table.hpp"

namespace dynmeans {

constexpr Slot kOpenNew = -2;
constexpr Slot kStay = -3;

struct Wish {
    std::int32_t point;
    Slot slot;  // or kOpenNew
};

// Slots whose members may prefer another one, and the own cost below which none does.
struct NearSlot {
    std::size_t slot;
    double kept;
};

inline Slot to_wish(std::size_t choice) {
    return choice == CostTable::kNone ? kOpenNew : static_cast<Slot>(choice);
}
inline std::size_t to_choice(Slot wish) { return wish == kOpenNew ? CostTable::kNone : wish; }

inline void join_lists(const std::vector<std::vector<Wish>>& lists, std::vector<Wish>& all) {
    all.clear();
    for (const std::vector<Wish>& wishes : lists)
        all.insert(all.end(), wishes.begin(), wishes.end());
}

// Whether a slot may be opened, revived or emptied. Without a point that opens or revives, and with
// one that stays in each cluster, none is.
inline bool can_change_slots(const std::vector<Wish>& wishes, const Assignment& assignment,
                             std::vector<std::int64_t>& leavers) {
    leavers.assign(assignment.n_members.size(), 0);
    for (const Wish& wish : wishes) {
        if (wish.slot == kOpenNew || assignment.n_members[wish.slot] == 0) return true;
        ++leavers[assignment.labels[wish.point]];
    }
    for (std::size_t k = 0; k < leavers.size(); ++k)
        if (leavers[k] > 0 && leavers[k] == assignment.n_members[k]) return true;
    return false;
}

}  // namespace dynmeans
