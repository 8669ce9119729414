// Visiting orders that depend on a seed and on the content of the rows (decision 0005), by bucket
// sort of keyed hashes. A row is visited at its turn: by its key; rows of equal keys by a second
// hash, of content and weight; equal rows of equal weight by row number. The arrangement of the
// rows does not matter. The specification is dynmeans/algorithm/visiting_orders.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "records/accelerations.hpp"
#include "records/points.hpp"

namespace dynmeans {

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

// The bits of a value; -0.0 has those of 0.0, so that equal values have equal bits.
inline std::uint64_t bits_of(double value) {
    value += 0.0;
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Hash of the content of each row, without its weight. `random` gives a multiplier per feature.
template <typename Value>
void hash_rows(const Points<Value>& points, SplitMix& random, std::uint64_t* hashes) {
    std::vector<std::uint64_t> multipliers(points.n_features);
    for (std::uint64_t& multiplier : multipliers) multiplier = random.next() | 1;
    for (std::size_t i = 0; i < points.n_points; ++i) {
        const Value* y = points.values + i * points.n_features;
        std::uint64_t hash = 0;
        for (std::size_t j = 0; j < points.n_features; ++j) {
            const std::uint64_t bits = bits_of(y[j]);
            // Coordinates from float32 leave the low half of the bits empty.
            hash += (bits ^ (bits >> 32)) * multipliers[j];
        }
        hashes[i] = hash;
    }
}

// Second hash, of content and weight, for rows of equal keys.
template <typename Value>
std::uint64_t tie_of(const Points<Value>& points, std::size_t i) {
    const Value* y = points.values + i * points.n_features;
    std::uint64_t tie = mix(bits_of(points.weight(i)));
    for (std::size_t j = 0; j < points.n_features; ++j)
        tie = mix((tie ^ bits_of(y[j])) + 0x9E3779B97F4A7C15u);
    return tie;
}

class VisitingOrders {
  public:
    template <typename Value>
    VisitingOrders(const Points<Value>& points, std::uint64_t seed)
        : random_(seed), hashes_(points.n_points), points_(points) {
        hash_rows(points, random_, hashes_.data());
    }

    void advance() { key_ = random_.next(); }

    // As numbers that rise along the order and end with that of the row, of which there are n_rows
    // at most; where only rows tell two of them apart, `write` knows the order.
    void write_keys(double* keys, std::size_t n_rows) const {
        for (std::size_t i = 0; i < hashes_.size(); ++i)
            keys[i] = static_cast<double>(
                static_cast<std::int64_t>((key_of(i) >> 11) / n_rows * n_rows + i));
    }

    // The rows as they are visited. A large batch is sorted share by share, by the first bits of
    // its keys: what is sorted at a time takes less memory than the order itself.
    template <typename Index>
    void write(Index* order) const {
        const unsigned n_bits = bits_for(hashes_.size() / kShare, kMostShares);
        std::vector<std::uint64_t> keyed, dealt;  // the next 32 bits of a key, and its row
        keyed.reserve((hashes_.size() >> n_bits) + (n_bits > 0 ? kShare / 16 : 0));
        for (std::uint64_t share = 0; share >> n_bits == 0; ++share) {
            keyed.clear();
            for (std::size_t i = 0; i < hashes_.size(); ++i) {
                const std::uint64_t key = key_of(i);
                if (key >> 1 >> (63 - n_bits) == share)
                    keyed.push_back((key << n_bits >> 32 << 32) + i);
            }
            sort(keyed, dealt);
            sort_ties(keyed);
            for (const std::uint64_t next : keyed) *order++ = static_cast<Index>(row_of(next));
        }
    }

  private:
    static constexpr std::size_t kShare = std::size_t{1} << 20;
    static constexpr unsigned kMostShares = 4, kMostRuns = 12;  // bits

    std::uint64_t key_of(std::size_t i) const { return mix(hashes_[i] ^ key_); }
    static std::size_t row_of(std::uint64_t keyed) { return keyed & 0xFFFFFFFFu; }

    // To tell n apart.
    static unsigned bits_for(std::size_t n, unsigned most) {
        unsigned n_bits = 0;
        while (n_bits < most && (std::size_t{1} << n_bits) < n) ++n_bits;
        return n_bits;
    }

    // Mixed keys are spread evenly: dealt out by their first bits, they fall into short runs.
    static void sort(std::vector<std::uint64_t>& keyed, std::vector<std::uint64_t>& dealt) {
        if (!is_enabled<acceleration("bucket_sort")>())
            return std::sort(keyed.begin(), keyed.end());
        const std::size_t n = keyed.size();
        const unsigned n_bits = std::max(1u, bits_for(n, kMostRuns));
        std::vector<std::uint32_t> ends((std::size_t{1} << n_bits) + 1);
        for (const std::uint64_t next : keyed) ++ends[(next >> (64 - n_bits)) + 1];
        for (std::size_t b = 1; b < ends.size(); ++b) ends[b] += ends[b - 1];
        dealt.resize(n);
        for (const std::uint64_t next : keyed) dealt[ends[next >> (64 - n_bits)]++] = next;
        keyed.swap(dealt);
        if (n > std::size_t{1} << kMostRuns) {
            for (std::size_t b = 0, begin = 0; b + 1 < ends.size(); begin = ends[b++])
                std::sort(keyed.begin() + begin, keyed.begin() + ends[b]);
            return;
        }
        for (std::size_t i = 1; i < n; ++i) {  // nearly every one stands where it belongs
            const std::uint64_t next = keyed[i];
            std::size_t at = i;
            for (; at > 0 && next < keyed[at - 1]; --at) keyed[at] = keyed[at - 1];
            keyed[at] = next;
        }
    }

    // Rows whose keys begin alike stand by their numbers: they go by the whole key.
    void sort_ties(std::vector<std::uint64_t>& keyed) const {
        for (std::size_t begin = 0, end; begin < keyed.size(); begin = end) {
            end = begin + 1;
            while (end < keyed.size() && keyed[end] >> 32 == keyed[begin] >> 32) ++end;
            if (end == begin + 1) continue;
            std::stable_sort(keyed.begin() + begin, keyed.begin() + end,
                             [&](std::uint64_t a, std::uint64_t b) {
                                 return key_of(row_of(a)) < key_of(row_of(b));
                             });
            for (std::size_t first = begin, last; first < end; first = last) {
                last = first + 1;
                while (last < end && hashes_[row_of(keyed[last])] == hashes_[row_of(keyed[first])])
                    ++last;
                if (last > first + 1) sort_equal_keys(keyed.data() + first, keyed.data() + last);
            }
        }
    }

    // By the second hash, then by row number.
    void sort_equal_keys(std::uint64_t* first, std::uint64_t* last) const {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> turns;
        for (const std::uint64_t* at = first; at < last; ++at) {
            const auto tie = [&](const auto& points) { return tie_of(points, row_of(*at)); };
            turns.push_back({std::visit(tie, points_), *at});
        }
        std::sort(turns.begin(), turns.end());
        for (const auto& turn : turns) *first++ = turn.second;
    }

    SplitMix random_;
    std::uint64_t key_ = 0;  // of this order
    std::vector<std::uint64_t> hashes_;
    std::variant<Points<double>, Points<float>> points_;
};

// Visiting orders one after the other.
class Orders {
  public:
    virtual ~Orders() = default;
    virtual bool advance() = 0;                 // to the next order; false after the last
    virtual const Row* listed() = 0;            // the rows as they are visited
    static constexpr std::size_t kRows = 512;   // at most, where keys are asked for
    virtual void write_keys(double* keys) = 0;  // see VisitingOrders
    virtual bool can_tie() const = 0;           // whether two keys can differ by their rows alone

    int depth = 0;  // what follows, in the last of the orders: 0 nothing, 1 splits, 2 all moves
};

// Those that the caller gave.
class GivenOrders : public Orders {
  public:
    GivenOrders(const std::int64_t* orders, std::size_t n_orders, std::size_t n_points)
        : order_(orders - n_points), n_left_(n_orders), n_points_(n_points) {}

    bool advance() override {
        if (n_left_ == 0) return false;
        order_ += n_points_;
        --n_left_;
        return true;
    }
    const Row* listed() override {
        listed_.assign(order_, order_ + n_points_);
        return listed_.data();
    }
    void write_keys(double* keys) override {
        for (std::size_t p = 0; p < n_points_; ++p)
            keys[order_[p]] = static_cast<double>(p * kRows + order_[p]);
    }
    bool can_tie() const override { return false; }

  private:
    const std::int64_t* order_;
    std::size_t n_left_, n_points_;
    std::vector<Row> listed_;
};

// Those that are made one at a time, and listed where that is needed.
class MadeOrders : public Orders {
  public:
    MadeOrders(VisitingOrders made, std::size_t n_orders, std::size_t n_points)
        : made_(std::move(made)), n_left_(n_orders), n_points_(n_points) {}

    bool advance() override {
        if (n_left_ == 0) return false;
        --n_left_;
        made_.advance();
        is_listed_ = false;
        return true;
    }
    const Row* listed() override {
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
    std::vector<Row> order_;
};

}  // namespace dynmeans
