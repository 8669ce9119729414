// Which points belong to marked slots. The list is made without a branch: the slots of points come
// in no order, so the machine would guess it wrong again and again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "records/points.hpp"
#include "threads/blocks.hpp"

namespace dynmeans {

class SlotMask {
  public:
    explicit SlotMask(std::size_t n_slots = 0) : marks_(n_slots + 1, 0) {}

    void start(std::size_t n_slots) { marks_.assign(n_slots + 1, 0); }
    void set(std::size_t k, bool is_marked) { marks_[k + 1] = is_marked; }
    bool has(Slot k) const { return marks_[k + 1] != 0; }

    // Writes the points of the range whose slot is marked, in their order; returns how many.
    std::size_t list(const Slot* labels, BlockRange range, std::vector<std::uint32_t>& list) const {
        list.resize(std::max(list.size(), range.end - range.begin + 1));
        const std::uint8_t* marks = marks_.data() + 1;
        std::uint32_t* next = list.data();
        for (std::size_t i = range.begin; i < range.end; ++i) {
            *next = static_cast<std::uint32_t>(i);
            next += marks[labels[i]];
        }
        return static_cast<std::size_t>(next - list.data());
    }

  private:
    static_assert(kUnlabeled == -1);
    std::vector<std::uint8_t> marks_;  // of points without a label, then of the slots
};

}  // namespace dynmeans
