// Asks for memory before its turn; what it holds, and so every result, is the same without.
#pragma once

#include <algorithm>
#include <cstddef>

#include "numeric/compilers.hpp"

namespace dynmeans::numeric {

// The beginning of a row; beyond a page the rest follows by itself.
inline void prefetch_row(const void* row, std::size_t n_bytes) {
    const char* from = static_cast<const char*>(row);
    n_bytes = std::min<std::size_t>(n_bytes, 4096);
    for (std::size_t at = 0; at < n_bytes; at += 64) prefetch_to_second(from + at);
}

}  // namespace dynmeans::numeric
