// Which points belong to marked slots. The list is made without a branch: the slots of points come
// in no order, so the machine would guess it wrong again and again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "records/points.hpp"
#include "threads/blocks.hpp"

namespace dynmeans::algorithm {

using namespace threads;
using namespace records;

class SlotMarks {
  public:
    explicit SlotMarks(std::size_t n_slots = 0) : marks_(n_slots + 1, 0) {}

    void start(std::size_t n_slots) { marks_.assign(n_slots + 1, 0); }
    void set(std::size_t k, bool is_marked) { marks_[k + 1] = is_marked; }

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

// Counting sort: the points of every slot, in their order.
class SlotMembers {
  public:
    void sort(const std::vector<Slot>& labels, const std::vector<std::int64_t>& n_members) {
        firsts_.assign(n_members.size() + 1, 0);
        std::partial_sum(n_members.begin(), n_members.end(), firsts_.begin() + 1);
        points_.resize(static_cast<std::size_t>(firsts_.back()));
        std::vector<std::int64_t> next(firsts_.begin(), firsts_.end() - 1);
        for (std::size_t i = 0; i < labels.size(); ++i)
            if (labels[i] != kUnlabeled) points_[next[labels[i]]++] = static_cast<std::uint32_t>(i);
    }

    const std::uint32_t* of(std::size_t k) const { return points_.data() + firsts_[k]; }

  private:
    std::vector<std::int64_t> firsts_;
    std::vector<std::uint32_t> points_;
};

}  // namespace dynmeans::algorithm
