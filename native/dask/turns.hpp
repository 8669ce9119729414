// Turns: when a row is visited, as a value that can be compared without sorting all rows: by its
// key, then by the second hash of its content and weight, then by its number in the whole batch. So
// all turns are different, and those of unequal rows do not depend on where the rows lie.
#pragma once

#include <cstdint>

namespace dynmeans::dask {

struct Turn {
    std::uint64_t key, tie, row;

    bool operator==(const Turn& other) const {
        return key == other.key && tie == other.tie && row == other.row;
    }
    bool operator<(const Turn& other) const {
        if (key != other.key) return key < other.key;
        return tie != other.tie ? tie < other.tie : row < other.row;
    }
};

constexpr Turn kFirstTurn{0, 0, 0}, kLastTurn{UINT64_MAX, UINT64_MAX, UINT64_MAX};

struct TurnRange {
    Turn first, last;  // both inside

    bool is_everything() const { return first == kFirstTurn && last == kLastTurn; }
};

}  // namespace dynmeans::dask
