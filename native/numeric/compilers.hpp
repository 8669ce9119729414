// What compilers call differently, under one name each; nothing else asks which compiler it is.
// gcc and clang (also as clang-cl) have vectors of their own. For one that has none, as
// Microsoft's, numeric/scalar_simd.hpp takes their place; DYNMEANS_PLAIN_LANES chooses it with any
// compiler.
#pragma once

#include <cstdint>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#ifndef DYNMEANS_PLAIN_LANES
#define DYNMEANS_PLAIN_LANES
#endif
#endif

#if defined(__GNUC__)
// Wide vectors pass only between functions of one module, all compiled alike.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#if defined(DYNMEANS_PLAIN_LANES)
#elif defined(__AVX512F__)
#define DYNMEANS_AVX512
#elif defined(__AVX__)
#define DYNMEANS_AVX
#elif defined(__SSE2__)
#define DYNMEANS_SSE2
#elif defined(__aarch64__)
#define DYNMEANS_NEON
#endif

// WebAssembly has one thread and no exceptions.
#if defined(__wasm__)
#define DYNMEANS_ONE_THREAD
#endif

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define DYNMEANS_THROW(problem) throw problem
#else
#include <cstdlib>
#define DYNMEANS_THROW(problem) std::abort()
#endif

#if defined(__clang__)
#define DYNMEANS_UNROLL_8 _Pragma("clang loop unroll_count(8)")
#elif defined(__GNUC__)
#define DYNMEANS_UNROLL_8 _Pragma("GCC unroll 8")
#else
#define DYNMEANS_UNROLL_8
#endif

// A function that stays one, so that what is left of its caller is compiled into callers of that.
#if defined(__GNUC__)
#define DYNMEANS_APART __attribute__((noinline))
#else
#define DYNMEANS_APART
#endif

// A function that is too short to be called.
#if defined(__GNUC__)
#define DYNMEANS_INLINE __attribute__((always_inline)) inline
#else
#define DYNMEANS_INLINE inline
#endif

namespace dynmeans {

// The number of the lowest bit that is set; at least one is.
#if defined(__GNUC__) || defined(__clang__)
inline unsigned lowest_bit(unsigned bits) { return static_cast<unsigned>(__builtin_ctz(bits)); }
inline unsigned lowest_bit(std::uint64_t bits) {
    return static_cast<unsigned>(__builtin_ctzll(bits));
}
#else
inline unsigned lowest_bit(std::uint64_t bits) {
    unsigned number = 0;
    for (; !(bits & 1); bits >>= 1) ++number;
    return number;
}
inline unsigned lowest_bit(unsigned bits) { return lowest_bit(std::uint64_t{bits}); }
#endif

// How many bits it takes to write this down; 0 for 0.
inline unsigned bit_width(std::uint32_t bits) {
#if defined(__GNUC__) || defined(__clang__)
    return bits == 0 ? 0 : 32 - static_cast<unsigned>(__builtin_clz(bits));
#else
    unsigned n = 0;
    for (; bits != 0; bits >>= 1) ++n;
    return n;
#endif
}

}  // namespace dynmeans
