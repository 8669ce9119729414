// Sums in one fixed order (decision 0006): within blocks of 16384 items one by one, then the
// blocks one by one. The blocks do not depend on who adds them, so neither do the bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dynmeans {

constexpr std::size_t kBlock = 16384;

inline std::size_t count_blocks(std::size_t n_items) { return (n_items + kBlock - 1) / kBlock; }

struct BlockRange {
    std::size_t begin, end;
};

inline BlockRange block_range(std::size_t block, std::size_t n_items) {
    return {block * kBlock, std::min((block + 1) * kBlock, n_items)};
}

class OrderedSum {
  public:
    void add(double value) {
        partial_ += value;
        if (++n_in_block_ == kBlock) close_block();
    }

    double total() const { return total_ + partial_; }

  private:
    void close_block() {
        total_ += partial_;
        partial_ = 0.0;
        n_in_block_ = 0;
    }

    double total_ = 0.0;
    double partial_ = 0.0;
    std::size_t n_in_block_ = 0;
};

}  // namespace dynmeans
