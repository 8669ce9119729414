// The distance of every point to its own center, where the next pass starts from.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "algorithm/marked_points.hpp"
#include "numeric/squared_distance.hpp"
#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "threads/blocks.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans::passes {

using namespace numeric;
using namespace threads;
using namespace records;
using namespace algorithm;

class OwnCosts {
  public:
    explicit OwnCosts(std::size_t n_points) : costs_(n_points) {}

    double operator[](std::size_t i) const { return costs_[i]; }
    double highest(std::size_t k) const { return highest_[k]; }  // over the members of slot k

    // Forgets the costs of the last run.
    void start() { highest_.clear(); }

    template <typename Value>
    void update(const Points<Value>& points, const Assignment& assignment, ThreadPool& pool) {
        if (!assignment.has_any_changed) return;
        assignment.follow_slots(highest_, 1);
        changed_.start(highest_.size());
        for (std::size_t k = 0; k < highest_.size(); ++k) {
            const bool is_taken = assignment.has_changed[k] || !uses(Acceleration::kMovedCosts);
            changed_.set(k, is_taken);
            if (is_taken) highest_[k] = 0.0;
        }
        parts_.resize(pool.size());
        for (Part& part : parts_) part.start(highest_.size(), points.n_features);
        const std::size_t n_tasks = (costs_.size() + kTask - 1) / kTask;
        pool.for_blocks(n_tasks, [&](std::size_t task, std::size_t thread) {
            // Backwards: the last points are those that were summed last, and still near.
            const std::size_t begin = (n_tasks - 1 - task) * kTask;
            const BlockRange range{begin, std::min(begin + kTask, costs_.size())};
            Part& part = parts_[thread];
            const std::size_t n = changed_.list(assignment.labels.data(), range, part.list);
            update_listed(points, assignment, part.list.data(), n, part);
        });
        merge_parts();
    }

  private:
    static constexpr std::size_t kTask = 2048, kAhead = 32;  // points

    struct Part {
        std::vector<double> highest, buffer;
        std::vector<std::uint32_t> list;

        void start(std::size_t n_slots, std::size_t n_features) {
            highest.assign(n_slots, 0.0);
            buffer.resize(n_features);
        }
    };

    void merge_parts() {
        for (const Part& part : parts_) {
            for (std::size_t k = 0; k < highest_.size(); ++k)
                highest_[k] = std::max(highest_[k], part.highest[k]);
        }
    }

    // Of at most kTask points.
    template <typename Value>
    void update_listed(const Points<Value>& points, const Assignment& assignment,
                       const std::uint32_t* list, std::size_t n, Part& part) {
        const std::size_t ahead = look_ahead(kAhead);
        for (std::size_t r = 0; r < n; ++r) {
            if (r + ahead < n) {
                points.prefetch(list[r + ahead]);
                prefetch_to_write(&costs_[list[r + ahead]]);
            }
            const std::size_t i = list[r], k = assignment.labels[i];
            costs_[i] = squared_distance(points.row(i, part.buffer.data()),
                                         assignment.table.center(k), points.n_features);
            part.highest[k] = std::max(part.highest[k], costs_[i]);
        }
    }

    SlotMarks changed_;
    std::vector<double> costs_, highest_;
    std::vector<Part> parts_;
};

}  // namespace dynmeans::passes
