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

struct Preference {
    std::int32_t point;
    Slot slot;  // or kOpenNew
};

// Slots whose members may prefer another one, and the own cost below which none does.
struct NearSlot {
    std::size_t slot;
    double kept;
};

inline Slot to_preference(std::size_t choice) {
    return choice == CostTable::kNone ? kOpenNew : static_cast<Slot>(choice);
}
inline std::size_t to_choice(Slot preference) {
    return preference == kOpenNew ? CostTable::kNone : preference;
}

inline void join_lists(const std::vector<std::vector<Preference>>& lists,
                       std::vector<Preference>& all) {
    all.clear();
    for (const std::vector<Preference>& preferences : lists)
        all.insert(all.end(), preferences.begin(), preferences.end());
}

// Whether a slot may be opened, revived or emptied. Without a point that opens or revives, and with
// one that stays in each cluster, none is.
inline bool can_change_slots(const std::vector<Preference>& preferences,
                             const Assignment& assignment, std::vector<std::int64_t>& leavers) {
    leavers.assign(assignment.n_members.size(), 0);
    for (const Preference& preference : preferences) {
        if (preference.slot == kOpenNew || assignment.n_members[preference.slot] == 0) return true;
        ++leavers[assignment.labels[preference.point]];
    }
    for (std::size_t k = 0; k < leavers.size(); ++k)
        if (leavers[k] > 0 && leavers[k] == assignment.n_members[k]) return true;
    return false;
}

}  // namespace dynmeans
