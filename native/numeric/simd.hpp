// Doubles side by side, as many as the widest register of the instruction set holds. How many
// makes no difference to any result: lanes never mix, except by steps that are written out.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>

#include "numeric/compilers.hpp"

#if defined(DYNMEANS_PLAIN_LANES)
#include "numeric/scalar_simd.hpp"
#elif defined(DYNMEANS_NEON)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <immintrin.h>
#endif

namespace dynmeans {

#if defined(DYNMEANS_AVX512)
constexpr std::size_t kSimd = 8;
#elif defined(DYNMEANS_AVX)
constexpr std::size_t kSimd = 4;
#else
constexpr std::size_t kSimd = 2;
#endif

#if defined(DYNMEANS_PLAIN_LANES)

using Doubles = ScalarSimd<double, kSimd>;

template <typename Value>
Doubles load(const Value* from) {
    return Doubles::each([&](std::size_t lane) { return static_cast<double>(from[lane]); });
}

template <typename Value>
void store(Value* to, Doubles values) {
    for (std::size_t lane = 0; lane < kSimd; ++lane) to[lane] = static_cast<Value>(values[lane]);
}

using Floats = ScalarSimd<float, 2 * kSimd>;

inline Floats load_floats(const float* from) {
    return Floats::each([&](std::size_t lane) { return from[lane]; });
}

// `yes` in the lanes where `mask` is set, `no` in the others.
template <typename Value, std::size_t N>
ScalarSimd<Value, N> select(ScalarSimd<std::int64_t, N> mask, ScalarSimd<Value, N> yes,
                            ScalarSimd<Value, N> no) {
    return ScalarSimd<Value, N>::each(
        [&](std::size_t lane) { return mask[lane] ? yes[lane] : no[lane]; });
}

#else

using Doubles [[gnu::vector_size(kSimd * sizeof(double))]] = double;
using Singles [[gnu::vector_size(kSimd * sizeof(float))]] = float;

// At any address; unlike memory copied by bytes, doubles are known to change nothing but doubles.
using AnyDoubles [[gnu::vector_size(kSimd * sizeof(double)), gnu::aligned(8)]] = double;

inline Doubles load(const double* from) { return *reinterpret_cast<const AnyDoubles*>(from); }

// As many floats, widened.
inline Doubles load(const float* from) {
    Singles values;
    std::memcpy(&values, from, sizeof values);
    return __builtin_convertvector(values, Doubles);
}

inline void store(double* to, Doubles values) { *reinterpret_cast<AnyDoubles*>(to) = values; }

// Rounded to as many floats.
inline void store(float* to, Doubles values) {
    const Singles narrowed = __builtin_convertvector(values, Singles);
    std::memcpy(to, &narrowed, sizeof narrowed);
}

// Twice as many floats, as they are.
using Floats [[gnu::vector_size(2 * kSimd * sizeof(float))]] = float;

inline Floats load_floats(const float* from) {
    Floats values;
    std::memcpy(&values, from, sizeof values);
    return values;
}

// `yes` in the lanes where `mask` is set, `no` in the others.
template <typename Mask, typename Lanes>
Lanes select(Mask mask, Lanes yes, Lanes no) {
    return mask ? yes : no;
}

#endif

inline double lowest_lane(Doubles values) {
#if defined(DYNMEANS_AVX512)
    return _mm512_reduce_min_pd(values);
#elif defined(DYNMEANS_AVX)
    const __m128d half =
        _mm_min_pd(_mm256_castpd256_pd128(values), _mm256_extractf128_pd(values, 1));
    return _mm_cvtsd_f64(_mm_min_sd(half, _mm_unpackhi_pd(half, half)));
#else
    return values[0] < values[1] ? values[0] : values[1];
#endif
}

inline float lowest_lane(Floats values) {
#if defined(DYNMEANS_AVX512)
    return _mm512_reduce_min_ps(values);
#else
    float lowest = values[0];
    for (std::size_t lane = 1; lane < 2 * kSimd; ++lane)
        lowest = values[lane] < lowest ? values[lane] : lowest;
    return lowest;
#endif
}

inline double sum_of_lanes(Doubles values) {
#if defined(DYNMEANS_AVX512)
    return _mm512_reduce_add_pd(values);
#else
    double sum = 0.0;
    for (std::size_t lane = 0; lane < kSimd; ++lane) sum += values[lane];
    return sum;
#endif
}

inline Doubles fill(double value) { return value - Doubles{}; }

inline Doubles root_of(Doubles values) {
#if defined(DYNMEANS_AVX512)
    return _mm512_sqrt_pd(values);
#elif defined(DYNMEANS_AVX)
    return _mm256_sqrt_pd(values);
#elif defined(DYNMEANS_SSE2)
    return _mm_sqrt_pd(values);
#elif defined(DYNMEANS_NEON)
    return vsqrtq_f64(values);
#else
    for (std::size_t lane = 0; lane < kSimd; ++lane) values[lane] = std::sqrt(values[lane]);
    return values;
#endif
}

#if defined(DYNMEANS_NEON)
inline unsigned bits_of_lanes(uint64x2_t is_set) {
    return static_cast<unsigned>(vgetq_lane_u64(is_set, 0) & 1) |
           static_cast<unsigned>(vgetq_lane_u64(is_set, 1) & 2);
}
#endif

// Bit `lane` is set where a[lane] == b[lane].
inline unsigned lanes_equal(Doubles a, Doubles b) {
#if defined(DYNMEANS_AVX512)
    return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
#elif defined(DYNMEANS_AVX)
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ)));
#elif defined(DYNMEANS_SSE2)
    return static_cast<unsigned>(_mm_movemask_pd(_mm_cmpeq_pd(a, b)));
#elif defined(DYNMEANS_NEON)
    return bits_of_lanes(vceqq_f64(a, b));
#else
    unsigned bits = 0;
    for (std::size_t lane = 0; lane < kSimd; ++lane) bits |= (a[lane] == b[lane]) << lane;
    return bits;
#endif
}

// a * b - c, rounded once, where the machine has it.
#if defined(DYNMEANS_AVX512)
constexpr bool kHasFused = true;
inline Doubles fused_difference(Doubles a, Doubles b, Doubles c) {
    return _mm512_fmsub_pd(a, b, c);
}
#else
constexpr bool kHasFused = false;
inline Doubles fused_difference(Doubles a, Doubles b, Doubles c) { return a * b - c; }
#endif

// Bit `lane` is set where values[lane] <= limit.
inline unsigned lanes_at_most(Doubles values, double limit) {
#if defined(DYNMEANS_AVX512)
    return _mm512_cmp_pd_mask(values, fill(limit), _CMP_LE_OQ);
#elif defined(DYNMEANS_AVX)
    return static_cast<unsigned>(
        _mm256_movemask_pd(_mm256_cmp_pd(values, fill(limit), _CMP_LE_OQ)));
#elif defined(DYNMEANS_SSE2)
    return static_cast<unsigned>(_mm_movemask_pd(_mm_cmple_pd(values, fill(limit))));
#elif defined(DYNMEANS_NEON)
    return bits_of_lanes(vcleq_f64(values, vdupq_n_f64(limit)));
#else
    unsigned bits = 0;
    for (std::size_t lane = 0; lane < kSimd; ++lane) bits |= (values[lane] <= limit) << lane;
    return bits;
#endif
}

}  // namespace dynmeans
