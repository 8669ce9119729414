// The first pass, in which no point has a label: with the labels of visiting them one by one.
//
// A block of points is compared with the clusters as they stand, by any thread; then it is walked
// in order. While nothing is opened or revived, each point gets what was found for it. After such
// an event only one slot is new or has moved (joining moves nothing, and nothing can empty in this
// pass), so what was found stays right but for that slot: it is compared too, and a point whose
// find is that very slot looks at all of them again. Blocks are short while events are frequent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "assign_labels.hpp"
#include "blas_filter.hpp"
#include "center_grid.hpp"
#include "memory.hpp"
#include "points.hpp"
#include "thread_pool.hpp"

namespace dynmeans {

template <typename Value>
class FirstPass {
  public:
    FirstPass(const Points<Value>& points, const Memory& memory, double new_penalty,
              const BlasFilter& filter, ThreadPool& pool)
        : points_(points),
          memory_(memory),
          new_penalty_(new_penalty),
          pool_(pool),
          grid_(points.n_features, new_penalty),
          filter_(filter),
          scratch_(pool.size()),
          buffer_(points.n_features) {}

    void run(const std::int64_t* order, Assignment& assignment) {
        order_ = order;
        has_grid_ = points_.n_features <= CenterGrid::kMaxFeatures;
        if (has_grid_) grid_.build(assignment.table);
        std::size_t position = 0, size = kShortest;
        while (position < points_.n_points) {
            const std::size_t end = std::min(position + size, points_.n_points);
            search(position, end, assignment.table);
            const std::size_t reached = walk(position, end, assignment);
            size = reached < end ? std::max(kShortest, reached - position)
                                 : std::min(2 * size, kLongest);
            position = reached;
        }
    }

  private:
    static constexpr std::size_t kShortest = 16, kLongest = 32768, kMostEvents = 16;
    static constexpr std::size_t kAhead = 16;  // rows asked for before their turn
    static constexpr std::size_t kChunk = BlasFilter::kRows;
    // Below these the panels of the table are about as fast (docs/speed.md).
    static constexpr std::size_t kGridSlots = 48, kFilterSlots = 64, kFilterFeatures = 16,
                                 kFilterPoints = 128;

    void search(std::size_t begin, std::size_t end, const CostTable& table) {
        choices_.resize(end - begin);
        const bool by_grid = has_grid_ && grid_.is_usable() && table.size() >= kGridSlots;
        const bool by_filter = filter_.is_available() && points_.n_features >= kFilterFeatures &&
                               table.size() >= kFilterSlots && end - begin >= kFilterPoints;
        if (by_filter) filter_.prepare(table, new_penalty_);
        pool_.for_blocks(
            (end - begin + kChunk - 1) / kChunk, [&](std::size_t chunk, std::size_t thread) {
                const std::size_t from = begin + chunk * kChunk, to = std::min(from + kChunk, end);
                Choice* choices = choices_.data() + (from - begin);
                if (by_filter) {
                    filter_.find(points_, order_, from, to, table, scratch_[thread], choices);
                    return;
                }
                std::vector<double>& buffer = scratch_[thread].buffer;
                buffer.resize(points_.n_features);
                for (std::size_t p = from; p < to; ++p) {
                    const double* y = points_.row(order_[p], buffer.data());
                    choices[p - from] = by_grid ? grid_.cheapest(y, table)
                                                : table.cheapest(y, new_penalty_, CostTable::kNone);
                }
            });
        if (by_filter) filter_.learn(end - begin, scratch_);
    }

    // Returns the position up to which the block was walked.
    std::size_t walk(std::size_t begin, std::size_t end, Assignment& assignment) {
        changed_.clear();
        for (std::size_t p = begin; p < end; ++p) {
            const auto i = static_cast<std::size_t>(order_[p]);
            if (p + kAhead < end) __builtin_prefetch(&assignment.labels[order_[p + kAhead]], 1);
            if (!points_.takes_part(i)) continue;
            Choice choice = choices_[p - begin];
            const double* y = points_.row(i, buffer_.data());
            if (!changed_.empty()) choice = look_again(y, choice, assignment.table);
            if (!assignment.place(i, y, choice.slot, memory_)) continue;
            const auto k = static_cast<std::size_t>(assignment.labels[i]);
            if (has_grid_) grid_.insert(k, assignment.table);
            changed_.push_back(k);
            if (changed_.size() == kMostEvents) return p + 1;
        }
        return end;
    }

    Choice look_again(const double* y, Choice choice, const CostTable& table) const {
        if (std::find(changed_.begin(), changed_.end(), choice.slot) != changed_.end())
            return table.cheapest(y, new_penalty_, choice.slot);
        for (const std::size_t k : changed_)
            CostTable::consider(choice, k, table.cost_up_to(choice.cost, y, k));
        return choice;
    }

    const Points<Value>& points_;
    const Memory& memory_;
    double new_penalty_;
    ThreadPool& pool_;
    const std::int64_t* order_ = nullptr;
    bool has_grid_ = false;
    CenterGrid grid_;
    BlasFilter filter_;
    std::vector<BlasFilter::Scratch> scratch_;
    std::vector<Choice> choices_;
    std::vector<std::size_t> changed_;
    std::vector<double> buffer_;
};

}  // namespace dynmeans
