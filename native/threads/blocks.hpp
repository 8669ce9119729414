// Work on many items is cut into blocks: who takes one never matters to the result.
#pragma once

#include <algorithm>
#include <cstddef>

namespace dynmeans {

constexpr std::size_t kPointBlock = 16384;

inline std::size_t count_blocks(std::size_t n_items) {
    return (n_items + kPointBlock - 1) / kPointBlock;
}

struct BlockRange {
    std::size_t begin, end;
};

inline BlockRange block_range(std::size_t block, std::size_t n_items) {
    return {block * kPointBlock, std::min((block + 1) * kPointBlock, n_items)};
}

}  // namespace dynmeans
