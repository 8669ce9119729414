// A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan): the members of one slot by due date.
//
// The clock of a slot only goes on, so an entry is moved between buckets at most once for each bit
// of its date: bucket b holds the dates that differ from the present first at bit b - 1, counted
// from the lowest. What is not due is not looked at, but for the one bucket that the present
// enters. Whatever is left after a look, in any bucket, is due later than that look: so `least_` is
// no more than the next key, also where the clock stood still and only bucket 0 was read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "numeric/compilers.hpp"

namespace dynmeans {

// The bits of a float that is not negative are ordered as the float is.
using DueKey = std::uint32_t;
constexpr DueKey kDueAtOnce = 0;

inline DueKey key_of(float date) {
    DueKey key;
    std::memcpy(&key, &date, sizeof key);
    return key;
}

// Rounded down, with some steps to spare for the rounding of the clock; up, for the clock. The last
// bits of a date have room for the ring of its point.
constexpr std::size_t kRings = 2;
constexpr double kFirstTime = 1.0;  // of a clock: dates from here on differ in their last bits only
inline DueKey due_key(double date, std::size_t ring) {
    const DueKey key = key_of(static_cast<float>(date));
    return (key < 8 ? kDueAtOnce : (key - 4) / kRings * kRings) + static_cast<DueKey>(ring);
}
inline DueKey clock_key(double clock) { return key_of(static_cast<float>(clock)) + kRings; }
inline std::size_t ring_of(DueKey key) { return key % kRings; }

class RadixHeap {
  public:
    struct Entry {
        DueKey key;
        std::uint32_t point;
    };

    std::size_t size() const { return size_; }

    void push(DueKey key, std::uint32_t point) {
        ++size_;
        if (buckets_.empty()) buckets_.resize(1);
        put({key, point});
    }

    // Takes out the entries that are due at `now`, which never goes back.
    void take_due(DueKey now, std::vector<std::uint32_t>& due) {
        if (size_ == 0 || now < least_) return;
        if (buckets_.size() == 1 && size_ > kFlat) deal_out();
        const std::size_t n_before = due.size();
        const bool is_flat = buckets_.size() == 1;
        const std::size_t last = is_flat ? 0 : bucket_of(now);
        present_ = std::max(present_, now);
        least_ = is_flat ? kNever : now + 1;
        for (std::size_t b = 0; b <= last; ++b) {
            std::vector<Entry> entries;
            entries.swap(buckets_[b]);
            for (const Entry& entry : entries)
                if (entry.key <= now)
                    due.push_back(entry.point);
                else
                    put(entry);
        }
        size_ -= due.size() - n_before;
    }

    void take_all(std::vector<std::uint32_t>& points) {
        for_each([&](std::uint32_t point) { points.push_back(point); });
        *this = RadixHeap();
    }

    template <typename Visit>
    void for_each(const Visit& visit) const {
        for (const std::vector<Entry>& bucket : buckets_)
            for (const Entry& entry : bucket) visit(entry.point);
    }

    template <typename IsGone>
    void remove_if(const IsGone& is_gone) {
        size_ = 0;
        for (std::vector<Entry>& bucket : buckets_) {
            const auto rest = std::remove_if(bucket.begin(), bucket.end(), [&](const Entry& entry) {
                return is_gone(entry.point);
            });
            bucket.erase(rest, bucket.end());
            size_ += bucket.size();
        }
    }

  private:
    // Entries that lie in one bucket, in no order; more are dealt out once one of them is due.
    static constexpr std::size_t kFlat = 64;
    static constexpr DueKey kNever = std::numeric_limits<DueKey>::max();

    std::size_t bucket_of(DueKey key) const {
        return key <= present_ ? 0 : bit_width(key ^ present_);
    }

    void put(const Entry& entry) {
        least_ = std::min(least_, entry.key);
        buckets_[buckets_.size() == 1 ? 0 : bucket_of(entry.key)].push_back(entry);
    }

    void deal_out() {
        std::vector<Entry> entries;
        entries.swap(buckets_[0]);
        buckets_.resize(std::numeric_limits<DueKey>::digits + 1);
        for (const Entry& entry : entries) put(entry);
    }

    std::vector<std::vector<Entry>> buckets_;
    DueKey present_ = key_of(static_cast<float>(kFirstTime));
    DueKey least_ = kNever;  // no entry is due before
    std::size_t size_ = 0;
};

}  // namespace dynmeans
