// Whose turn is next in a visiting order, without listing it: the point with the lowest key of
// those that wait. Where several points have that key, equal rows most often, the listed order
// tells who comes first.
#pragma once

#include <cstdint>
#include <limits>

#include "algorithm/visiting_orders.hpp"
#include "passes/small_points.hpp"

namespace dynmeans {

class SmallOrder {
  public:
    static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

    // A new order; points of weight 0 never have a turn.
    void start(Orders& orders, const double* weights, std::size_t n_points, std::size_t n_padded) {
        orders_ = &orders;
        weights_ = weights;
        n_points_ = n_points;
        n_padded_ = n_padded;
        keys_ = memory_.at_least(n_padded);
        orders.write_keys(keys_);
        can_tie_ = orders.can_tie();
        for (std::size_t at = 0; at < n_padded; at += kSimd)
            store(keys_ + at, select(load(weights + at) == 0.0, fill(kPassed), load(keys_ + at)));
        restart();
    }

    // The same order from its beginning.
    void restart() {
        now_ = kPassed;
        point_ = kNobody;
    }

    std::size_t point() const { return point_; }  // whose turn it is
    const double* keys() const { return keys_; }  // rise along the order
    double now() const { return now_; }           // the key of that point

    // On to the next point after this one for which waits(at, is_later), of whole registers, is
    // set; false if there is none. `is_later` is set for the points after this one.
    template <typename Waits>
    bool next(const Waits& waits) {
        const double *keys = keys_, now = now_;
        const std::size_t n = n_padded_;
        Doubles first = fill(kNever);
        for (std::size_t at = 0; at < n; at += kSimd) {
            const Doubles key = load(keys + at);
            const auto is_later = key > now;
            const Doubles turn = select(is_later & waits(at, is_later), key, fill(kNever));
            first = select(turn < first, turn, first);
        }
        const double turn = lowest_lane(first);
        if (!(turn < kNever)) return false;
        const auto point = static_cast<std::uint64_t>(turn) % kRows;
        if (can_tie_ && has_twin(turn - static_cast<double>(point))) {
            list_keys();
            return next(waits);
        }
        now_ = turn;
        point_ = point;
        return true;
    }

  private:
    static constexpr std::size_t kRows = Orders::kRows;
    static constexpr double kPassed = -1.0, kNever = std::numeric_limits<double>::infinity();

    // Whether several keys differ from `base` in the number of the row alone.
    bool has_twin(double base) const {
        Doubles n_found = fill(0.0);
        for (std::size_t at = 0; at < n_padded_; at += kSimd) {
            const Doubles above = load(keys_ + at) - base;
            n_found +=
                select((above >= 0.0) & (above < static_cast<double>(kRows)), fill(1.0), fill(0.0));
        }
        return sum_of_lanes(n_found) > 1.0;
    }

    void list_keys() {
        can_tie_ = false;
        const Row* order = orders_->listed();
        for (std::size_t p = 0; p < n_points_; ++p)
            if (weights_[order[p]] != 0.0)
                keys_[order[p]] = static_cast<double>(p * kRows + order[p]);
        if (point_ != kNobody) now_ = keys_[point_];
    }

    Orders* orders_ = nullptr;
    const double* weights_ = nullptr;
    std::size_t n_points_ = 0, n_padded_ = 0, point_ = kNobody;
    bool can_tie_ = true;
    double now_ = kPassed, *keys_ = nullptr;
    RegisterArray memory_;
};

}  // namespace dynmeans
