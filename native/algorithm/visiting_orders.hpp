// Random permutations by bucket sort of keyed hashes: visiting orders that depend on a seed and on
// what the rows hold (decision 0005): each row gets a keyed hash of its contents, and the hashes
// are sorted. Equal rows come one after the other, lighter ones first: the arrangement of the rows
// does not matter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "records/ideas.hpp"
#include "records/points.hpp"

namespace dynmeans::algorithm {

using namespace records;

inline std::uint64_t mix(std::uint64_t key) {
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9u;
    key = (key ^ (key >> 27)) * 0x94D049BB133111EBu;
    return key ^ (key >> 31);
}

// The numbers of splitmix64.
class SplitMix {
  public:
    explicit SplitMix(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15u); }

  private:
    std::uint64_t state_;
};

// Every batch is seeded by itself, so that a restored estimator continues alike.
inline std::uint64_t seed_of_step(std::uint64_t entropy, std::uint64_t n_steps) {
    return entropy + n_steps * 0xD1342543DE82EF95u;
}

class VisitingOrders {
  public:
    template <typename Value>
    VisitingOrders(const Points<Value>& points, std::uint64_t seed)
        : random_(seed), hashes_(points.n_points), weights_(points.weights) {
        std::vector<std::uint64_t> multipliers(points.n_features);
        for (std::uint64_t& multiplier : multipliers) multiplier = random_.next() | 1;
        std::vector<double> buffer(points.n_features);
        for (std::size_t i = 0; i < points.n_points; ++i) {
            const double* y = points.row(i, buffer.data());
            std::uint64_t hash = 0;
            for (std::size_t j = 0; j < points.n_features; ++j) {
                const double x = y[j] + 0.0;  // -0.0 becomes 0.0: equal rows, equal bits
                std::uint64_t bits;
                std::memcpy(&bits, &x, sizeof bits);
                // Coordinates from float32 leave the low half of the bits empty.
                hash += (bits ^ (bits >> 32)) * multipliers[j];
            }
            hashes_[i] = hash;
        }
    }

    // By the numbers of the rows, whatever they hold.
    VisitingOrders(std::size_t n_points, std::uint64_t seed) : random_(seed), hashes_(n_points) {
        for (std::size_t i = 0; i < n_points; ++i) hashes_[i] = i;
    }

    // The next order begins: a key for each row.
    void advance() {
        const std::uint64_t key = random_.next();
        keys_.resize(hashes_.size());
        for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] = mix(hashes_[i] ^ key);
    }

    // As numbers that rise along the order and end with that of the row, of which there are n_rows
    // at most; where only rows tell two of them apart, `write` knows the order.
    void write_keys(double* keys, std::size_t n_rows) const {
        for (std::size_t i = 0; i < keys_.size(); ++i)
            keys[i] = static_cast<double>(
                static_cast<std::int64_t>((keys_[i] >> 11) / n_rows * n_rows + i));
    }

    void write(std::int64_t* order) {
        const std::size_t n = keys_.size();
        keyed_.resize(n);
        for (std::size_t i = 0; i < n; ++i) keyed_[i] = {keys_[i], static_cast<std::int32_t>(i)};
        sort();
        if (weights_) sort_equal_rows();
        for (std::size_t i = 0; i < n; ++i) order[i] = keyed_[i].second;
    }

  private:
    using Keyed = std::pair<std::uint64_t, std::int32_t>;

    // Mixed keys are spread evenly: dealt out by their first bits, they fall into short runs.
    void sort() {
        if (!has(Idea::kBucketSort)) return std::sort(keyed_.begin(), keyed_.end());
        const std::size_t n = keyed_.size();
        unsigned n_bits = 1;
        while (n_bits < kMostBits && (std::size_t{1} << n_bits) < n) ++n_bits;
        const auto run_of = [&](const Keyed& keyed) { return keyed.first >> (64 - n_bits); };
        ends_.assign((std::size_t{1} << n_bits) + 1, 0);
        for (const Keyed& keyed : keyed_) ++ends_[run_of(keyed) + 1];
        for (std::size_t b = 1; b < ends_.size(); ++b) ends_[b] += ends_[b - 1];
        dealt_.resize(n);
        for (const Keyed& keyed : keyed_) dealt_[ends_[run_of(keyed)]++] = keyed;
        keyed_.swap(dealt_);
        if (n <= std::size_t{1} << kMostBits) {
            sort_short_runs();
            return;
        }
        for (std::size_t b = 0, begin = 0; b + 1 < ends_.size(); begin = ends_[b++])
            std::sort(keyed_.begin() + begin, keyed_.begin() + ends_[b]);
    }

    void sort_equal_rows() {
        for (std::size_t begin = 0, end; begin < keyed_.size(); begin = end) {
            end = begin + 1;
            while (end < keyed_.size() && keyed_[end].first == keyed_[begin].first) ++end;
            std::stable_sort(keyed_.begin() + begin, keyed_.begin() + end,
                             [&](const Keyed& a, const Keyed& b) {
                                 return weights_[a.second] < weights_[b.second];
                             });
        }
    }

    // By insertion: nearly every one stands where it belongs.
    void sort_short_runs() {
        for (std::size_t i = 1; i < keyed_.size(); ++i) {
            const Keyed keyed = keyed_[i];
            std::size_t at = i;
            for (; at > 0 && keyed < keyed_[at - 1]; --at) keyed_[at] = keyed_[at - 1];
            keyed_[at] = keyed;
        }
    }

    static constexpr unsigned kMostBits = 12;

    SplitMix random_;
    std::vector<std::uint64_t> hashes_, keys_;
    const double* weights_ = nullptr;
    std::vector<Keyed> keyed_, dealt_;
    std::vector<std::uint32_t> ends_;  // of the runs
};

// Visiting orders one after the other.
class Orders {
  public:
    virtual ~Orders() = default;
    virtual bool advance() = 0;                 // to the next order; false after the last
    virtual const std::int64_t* listed() = 0;   // the rows as they are visited
    static constexpr std::size_t kRows = 512;   // at most, where keys are asked for
    virtual void write_keys(double* keys) = 0;  // see VisitingOrders
    virtual bool can_tie() const = 0;           // whether two keys can differ by their rows alone
};

// Those that the caller gave.
class GivenOrders : public Orders {
  public:
    GivenOrders(const std::int64_t* orders, std::size_t n_orders, std::size_t n_points)
        : order_(orders - n_points), n_left_(n_orders), n_points_(n_points) {}

    bool advance() override {
        order_ += n_points_;
        return n_left_-- > 0;
    }
    const std::int64_t* listed() override { return order_; }
    void write_keys(double* keys) override {
        for (std::size_t p = 0; p < n_points_; ++p)
            keys[order_[p]] = static_cast<double>(p * kRows + order_[p]);
    }
    bool can_tie() const override { return false; }

  private:
    const std::int64_t* order_;
    std::size_t n_left_, n_points_;
};

// Those that are made one at a time, and listed where that is needed.
class MadeOrders : public Orders {
  public:
    MadeOrders(VisitingOrders made, std::size_t n_orders, std::size_t n_points)
        : made_(std::move(made)), n_left_(n_orders), n_points_(n_points) {}

    bool advance() override {
        if (n_left_-- == 0) return false;
        made_.advance();
        is_listed_ = false;
        return true;
    }
    const std::int64_t* listed() override {
        if (!is_listed_) {
            order_.resize(n_points_);
            made_.write(order_.data());
        }
        is_listed_ = true;
        return order_.data();
    }
    void write_keys(double* keys) override { made_.write_keys(keys, kRows); }
    bool can_tie() const override { return true; }

  private:
    VisitingOrders made_;
    std::size_t n_left_, n_points_;
    bool is_listed_ = false;
    std::vector<std::int64_t> order_;
};

}  // namespace dynmeans::algorithm
