// w |y|^2 of a row in double-double arithmetic, in the steps of native/numeric/double_double.hpp.

struct Pair {
    double value, rest;  // their sum is meant
};

__device__ __forceinline__ Pair two_sum(double a, double b) {
    const double sum = __dadd_rn(a, b), part = __dsub_rn(sum, a);
    return {sum, __dadd_rn(__dsub_rn(a, __dsub_rn(sum, part)), __dsub_rn(b, part))};
}

__device__ __forceinline__ double high_half(double a) {
    const double large = __dmul_rn(a, 134217729.0);
    return __dsub_rn(large, __dsub_rn(large, a));
}

// Far from underflow one instruction has what rounding lost; near it, halves as everywhere.
__device__ __forceinline__ Pair two_product(double a, double b) {
    const double product = __dmul_rn(a, b);
    if (fabs(product) > 1e-270) return {product, __fma_rn(a, b, -product)};
    const double high_a = high_half(a), high_b = high_half(b);
    const double low_a = __dsub_rn(a, high_a), low_b = __dsub_rn(b, high_b);
    double rest = __dsub_rn(product, __dmul_rn(high_a, high_b));
    rest = __dsub_rn(rest, __dmul_rn(low_a, high_b));
    rest = __dsub_rn(rest, __dmul_rn(high_a, low_b));
    return {product, __dsub_rn(__dmul_rn(low_a, low_b), rest)};
}

__device__ __forceinline__ Pair add_pairs(const Pair& a, const Pair& b) {
    const Pair sum = two_sum(a.value, b.value);
    return {sum.value, __dadd_rn(__dadd_rn(a.rest, b.rest), sum.rest)};
}

__device__ __forceinline__ Pair square_of(double x, double w) {
    const Pair term = two_product(w, x);
    Pair square = two_product(term.value, x);
    if (w != 1.0) square.rest = __dsub_rn(square.rest, __dmul_rn(term.value, __ddiv_rn(term.rest, w)));
    return square;
}

// Rows have at most kMost features, if that is below 8.
template <int kMost = 8>
__device__ __forceinline__ Pair weighted_square(const ROW* y, int d, const double* weight) {
    const double w = weight ? *weight : 1.0;
    Pair lanes[8] = {};
    for (int start = 0; start < (kMost < 8 ? 1 : d); start += 8)
#pragma unroll
        for (int lane = 0; lane < kMost; ++lane) {
            if (start + lane >= d) break;
            lanes[lane] = add_pairs(lanes[lane], square_of(widen(y[start + lane]), w));
        }
#pragma unroll
    for (int half = 4; half > 0; half /= 2)
#pragma unroll
        for (int lane = 0; lane < half; ++lane) lanes[lane] = add_pairs(lanes[lane], lanes[lane + half]);
    return lanes[0];
}

// The same by eight threads side by side; the first of them has it.
[[maybe_unused]] __device__ __forceinline__ Pair weighted_square_of_eight(const ROW* y, int d,
                                                                         const double* weight) {
    const double w = weight ? *weight : 1.0;
    const u32 mask = 0xffu << (threadIdx.x & 24);
    Pair mine{0.0, 0.0};
    for (int j = threadIdx.x & 7; j < d; j += 8) mine = add_pairs(mine, square_of(widen(y[j]), w));
#pragma unroll
    for (int half = 4; half > 0; half /= 2) {
        const Pair other{__shfl_xor_sync(mask, mine.value, half), __shfl_xor_sync(mask, mine.rest, half)};
        mine = add_pairs(mine, other);
    }
    return mine;
}
