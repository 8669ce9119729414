// Who may move: by own costs in the first passes, which move many points, taken in a sweep where
// features are few and kept where they are many; by due dates in the late passes of a batch of many
// points and few features.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithm/assign_labels.hpp"
#include "passes/cached_distances.hpp"
#include "passes/deferred_points.hpp"
#include "passes/preferences.hpp"
#include "passes/streamed_distances.hpp"
#include "records/accelerations.hpp"
#include "records/points.hpp"
#include "threads/thread_pool.hpp"

namespace dynmeans {

template <typename Value>
class MoveCandidates {
  public:
    MoveCandidates(const Points<Value>& points, double new_penalty, Sgemm sgemm, ThreadPool& pool)
        : points_(points),
          cached_(points, new_penalty, sgemm, pool),
          streamed_(points, new_penalty, pool),
          deferred_(points, new_penalty, pool) {}

    double highest(std::size_t k) const {
        return by_date()   ? deferred_.highest(k)
               : is_swept_ ? streamed_.highest(k)
                           : cached_.highest(k);
    }
    std::size_t n_slots() const {
        return by_date()   ? deferred_.n_slots()
               : is_swept_ ? streamed_.n_slots()
                           : cached_.n_slots();
    }

    // Forgets the last run.
    void start() {
        forget();
        n_passes_ = 0;
    }

    // A first pass has given every point its label.
    void start_from_first(const Assignment& assignment) { streamed_.start_from_first(assignment); }

    // Every slot has changed.
    void forget() {
        deferred_.forget();
        cached_.start();
        streamed_.start();
        is_chosen_ = false;
    }

    // Centers have moved.
    void follow(const Assignment& assignment) {
        if (!is_chosen_)
            is_swept_ = is_enabled<acceleration("streamed_distances")>() &&
                        points_.n_features <= StreamedDistances<Value>::kMaxFeatures &&
                        points_.n_points >= kSwept * assignment.n_members.size();
        is_chosen_ = true;
        with_present([&](auto& present) { present.follow(assignment); });
    }

    // `has_moved` marks the slots that are not as they were at the start of the last pass,
    // `n_moved` counts the points that moved in it.
    void find(const std::vector<std::uint8_t>& has_moved, std::size_t n_moved,
              const Assignment& assignment, std::vector<Preference>& preferences) {
        ++n_passes_;
        if (!by_date() && is_late(n_moved, assignment.n_members.size())) {
            deferred_.start(assignment, *this);
            if (by_date()) cached_.release();
        }
        with_present([&](auto& present) { present.find(has_moved, assignment, preferences); });
    }

    template <typename Ask>
    void for_members(const std::vector<NearSlot>& near, const Assignment& assignment,
                     const Ask& ask, std::vector<Preference>& asked) {
        with_present([&](auto& present) { present.for_members(near, assignment, ask, asked); });
    }

    void after_events(const Assignment& assignment, std::vector<Preference>& preferences,
                      const std::vector<std::size_t>& changed) {
        if (by_date()) deferred_.after_events(assignment, preferences, changed);
    }

  private:
    static constexpr std::size_t kFewFeatures = 15;  // above, every cluster is near every other
    static constexpr std::size_t kSwept = 64;        // points of a cluster; below, rivals weigh
    static constexpr std::size_t kMovers = 100;      // as many points for one that moved
    static constexpr std::size_t kShare = 100;       // of the fewest points, in a cluster

    bool by_date() const { return deferred_.is_started(); }

    template <typename Call>
    void with_present(const Call& call) {
        if (by_date()) return call(deferred_);
        if (is_swept_) return call(streamed_);
        call(cached_);
    }

    bool is_late(std::size_t n_moved, std::size_t n_slots) const {
        const std::size_t n = points_.n_points;
        return is_enabled<acceleration("deferred_checks")>() &&
               points_.n_features <= kFewFeatures &&
               n >= std::max(deferred_limits.fewest_points,
                             deferred_limits.fewest_points / kShare * n_slots) &&
               n_passes_ >= deferred_limits.first_pass &&
               (n_passes_ >= 2 * deferred_limits.first_pass || kMovers * n_moved <= n);
    }

    const Points<Value>& points_;
    bool is_swept_ = false, is_chosen_ = false;
    CachedDistances<Value> cached_;
    StreamedDistances<Value> streamed_;
    DeferredPoints<Value> deferred_;
    std::size_t n_passes_ = 0;  // of this run, after the first
};

}  // namespace dynmeans
