// Tensor-core filter for many features: the cheapest slot of a row from products in bf16, where
// their error cannot matter; the other rows are listed for the exact comparison.
//
// Exact because: costs are taken about a common origin o, cost_k = base_k + scale_k |y'|^2 + y'.b_k
// with y' = y - o, b_k = -2 scale_k (c_k - o) and base_k = offset_k + scale_k |c_k - o|^2. With y^ and
// b^ their values in bf16, |y'.b - y^.b^| <= |y' - y^| |b| + |y^| |b - b^|, from the actual rounding
// errors of the row and the largest of the slots. Accumulation in float adds less than
// (d + 16) 2^-20 of the magnitudes that are added, many times what a sequence of truncated float
// additions can lose. Numbers below 1.2e-38 count as 0 on the way, and with them the squares of what is
// below 1.1e-19: with kLeast for each feature the error is more than that, too. The last bits of a cost give way to a name, which changes it by less than a
// part in 2000. A row is settled only if its lowest cost is lower than the second by twice
// that error and on one side of lambda by the error; where anything overflows, the error does too,
// and no comparison holds.
//
// Compiled with PLAIN: 1 where every scale is 1, so that the row's own square can be left out of all
// costs; and with KC: blocks of 16 features that a row has in registers (even), or 0 for wider rows,
// whose costs for a tile of slots are kept in registers instead.

// The two lowest of some costs; what they are named by, below 2048, is in their last bits.
constexpr u32 kNameBits = 0x7ffu;
struct Lowest {
    float first = 3e38f, second = 3e38f;
    int slot = -1;
    __device__ __forceinline__ void consider(float cost, u32 name) {
        const float named = __uint_as_float((__float_as_uint(cost) & ~kNameBits) | name);
        second = fminf(second, fmaxf(first, named));
        first = fminf(first, named);
    }
    __device__ __forceinline__ void merge_lanes() {
#pragma unroll
        for (int o = 1; o < 4; o <<= 1) {
            const float a = __shfl_xor_sync(~0u, first, o), b = __shfl_xor_sync(~0u, second, o);
            second = fminf(fminf(second, b), fmaxf(first, a));
            first = fminf(first, a);
        }
        slot = (int)(__float_as_uint(first) & kNameBits);
    }
    // Slots of the next tile; only the lowest of all is asked for by its number.
    __device__ __forceinline__ void merge(const Lowest& later, int start) {
        second = fminf(fminf(second, later.second), fmaxf(first, later.first));
        if (later.first < first) {
            first = later.first;
            slot = start + later.slot;
        }
    }
};
constexpr float kNoRow = -3.4028234e38f;  // the limit of a place behind the last row
constexpr float kLeast = 1e-33f;  // of a cost, for each feature: more than what small numbers can lose
constexpr float kNaming = 5e-4f;  // of a cost: more than what its last bits can be

// What is known of all slots: the largest |b|, |b - b^|, base and scale.
struct Bounds {
    float b, error, base, scale;
};

// What a filter is given. Rows from `begin` to below `n` of all or, where `rows` is not null, of those
// listed there; slots in bf16, `n_tile` at a time; what is written for each row.
struct Work {
    const ROW* points;
    i64 begin, n;
    const int* rows;
    int d;
    const double* origin;
    const unsigned short* b;
    const float2* base_scale;
    int n_slots, n_tile, stride;
    const Bounds* largest;
    double new_penalty;
    float* bounds;
    double drift;
    int *wishes, *listed;
    float *limits, *floors;
    int* n_listed;
};

// Rows in doubt and slots that may be their cheapest: a list of pairs. Rows have limits, or `lengths`:
// the root of what a slot may cost them.
struct Pairs {
    const float* lengths;
    int n_real;  // slots but for those added to fill a tile
    int2* pairs;
    int *n_pairs, most_pairs;

    // Any slot up to the limit of a row may be its cheapest. What does not compare is kept.
    __device__ __forceinline__ bool keeps(float cost, float limit, int k) const {
        return !(cost > limit) && limit != kNoRow && k < n_real;
    }

    // Costs of slots k and k + 1 for rows p and p + 8.
    template <typename Share>
    __device__ __forceinline__ void keep(const float* v, const float* limit, int p, int k,
                                         Share& gathered) const {
        const bool is_far = v[0] > limit[0] && v[1] > limit[0] && v[2] > limit[1] && v[3] > limit[1];
        if (__all_sync(~0u, is_far)) return;
#pragma unroll
        for (int e = 0; e < 4; ++e)
            if (gathered.gather(keeps(v[e], limit[e / 2], k + e % 2), p + e / 2 * 8, k + e % 2)) flush(gathered);
    }

    template <typename Share>
    __device__ __forceinline__ void flush(Share& gathered) const {
        // Too many: the host compares with all slots.
        if (__any_sync(~0u, *(volatile int*)n_pairs > most_pairs)) gathered.n = 0;
        gathered.flush(n_pairs, [&](int at, int2 pair) {
            if (at < most_pairs) pairs[at] = pair;
        });
    }
};

// More than what a cost can be off.
__device__ __forceinline__ float error_of(const Work& w, const Norms& norms, const Bounds& most) {
    const float y = sqrtf(norms.row) * 1.0001f;
    const float off = sqrtf(norms.error) * 1.001f + y * 1.3e-7f;
    float error = off * most.b + (y + off) * most.error;
    error += (w.d + 16) * 9.6e-7f * (y * most.b + most.base + most.scale * norms.row);
    return error * 1.001f + (w.d + 16) * kLeast;
}

// What is missing in all costs of a row.
__device__ __forceinline__ double left_out([[maybe_unused]] const Norms& norms) {
    return PLAIN ? (double)norms.row : 0.0;
}

// Whether a row finds no slot within lambda.
__device__ __forceinline__ bool is_out(const Work& w, const Lowest& found, const Norms& norms, float error) {
    const float low = found.first - kNaming * fabsf(found.first);
    return (double)low + left_out(norms) - error > w.new_penalty;
}

// The limit of row p: with `lengths`, a cost that no slot whose exact cost has at most that root is above.
__device__ __forceinline__ float limit_of(const Work& w, const Pairs& pairs, i64 p, const Norms& norms) {
    if (p >= w.n) return kNoRow;
    if (!pairs.lengths) return w.limits[p];
    const double root = widen(pairs.lengths[p]);
    const double limit = root * root - left_out(norms) + 1.02 * (double)error_of(w, norms, *w.largest);
    return limit < 3e38 ? __double2float_ru(limit + fabs(limit) * 1e-5) : __int_as_float(0x7f800000);
}

// `limits` gets a cost that no slot above can have the lowest of; above every cost if none is known.
// `bounds` gets what the square root of every other slot's cost is above, plus `drift`; `floors` what
// the cost of every slot above the limit is above.
__device__ __forceinline__ void decide(const Work& w, i64 p, const Lowest& found, const Norms& norms,
                                       const Bounds& most) {
    const double new_penalty = w.new_penalty, own_square = left_out(norms);
    const float error = error_of(w, norms, most);
    const float high = found.first + kNaming * fabsf(found.first);
    const float next = found.second - kNaming * fabsf(found.second);
    int wish = -2;
    if (is_out(w, found, norms, error)) wish = -1;
    else if (next - high > 2.f * error && (double)high + own_square + error < new_penalty &&
             fabsf(found.first) > 1e-30f)  // below, the bits of its name may have been flushed
        wish = found.slot;
    w.wishes[p] = wish;
    if (w.bounds) {
        const double others = wish < 0 ? 0.0 : fmin((double)next + own_square - error, 3e38);
        const float root = sqrtf((float)fmax(others, 0.0));
        w.bounds[w.rows ? w.rows[p] : p] =
            others > 0.0 ? (float)(((double)root + w.drift) * (1.0 - 1e-6)) : 0.f;
    }
    if (wish != -2) return;
    const int at = atomicAdd(w.n_listed, 1);
    const float limit = high + 2.02f * error + fabsf(found.first) * 1e-5f;
    w.listed[at] = (int)p;
    w.limits[at] = limit < 3e38f ? limit : __int_as_float(0x7f800000);
    const double floor = (double)limit + own_square - 1.02 * (double)error;
    w.floors[at] = floor > 0.0 ? (float)(fmin(floor, 3e38) * (1.0 - 1e-6)) : 0.f;
}

// What the cost of a slot begins with, before the products.
__device__ __forceinline__ float start_of(float base, [[maybe_unused]] float scale,
                                          [[maybe_unused]] const Norms& norms) {
    return PLAIN ? base : fmaf(scale, norms.row, base);
}

__device__ __forceinline__ void keep_largest(float* most, double value) {
    // Rounded up; not negative, so that the bits are ordered as the values.
    atomicMax((int*)most, __float_as_int((float)value * 1.00001f));
}

// b^, base and scale of each slot, and the largest of their magnitudes; padded slots cost too much.
extern "C" __global__ void prepare_slots(const double* centers, const double* offsets,
                                         const double* scales, const double* origin, int n_slots,
                                         int d, int stride, unsigned short* b, float2* base_scale,
                                         Bounds* most) {
    const int k = blockIdx.x, lane = threadIdx.x;
    if (k >= n_slots) {
        for (int j = lane; j < stride; j += 32) b[(i64)k * stride + j] = 0;
        if (lane == 0) base_scale[k] = make_float2(3e38f, 0.f);
        return;
    }
    const double scale = scales[k];
    double squares = 0.0, of_b = 0.0, of_errors = 0.0;
    for (int j = lane; j < stride; j += 32) {
        const double c = j < d ? centers[(i64)k * d + j] - origin[j] : 0.0, x = -2.0 * scale * c;
        const u32 r = to_bf16((float)x, 0.f);
        const double error = x - (double)__uint_as_float(r << 16);
        b[(i64)k * stride + j] = (unsigned short)r;
        squares += c * c;
        of_b += x * x;
        of_errors += error * error;
    }
    for (int o = 16; o; o >>= 1) {
        squares += __shfl_xor_sync(~0u, squares, o);
        of_b += __shfl_xor_sync(~0u, of_b, o);
        of_errors += __shfl_xor_sync(~0u, of_errors, o);
    }
    if (lane) return;
    const double base = offsets[k] + scale * squares;
    base_scale[k] = make_float2((float)base, (float)scale);
    keep_largest(&most->b, sqrt(of_b));
    keep_largest(&most->error, sqrt(of_errors));
    keep_largest(&most->base, base);
    keep_largest(&most->scale, scale);
}

// `n_tile` slots (a multiple of 8) at a time lie in shared memory, `stride` bf16 each; an odd
// multiple of 16 bytes, so that the rows of a matrix lie in different banks.
__device__ __forceinline__ void load_tile(unsigned char* tile, const unsigned short* b,
                                          const float2* base_scale, int first, int n, int stride) {
    const uint4* from = (const uint4*)(b + (i64)first * stride);
    for (int e = threadIdx.x; e < n * stride / 8; e += blockDim.x) ((uint4*)tile)[e] = from[e];
    float2* to = (float2*)(tile + n * stride * 2);
    for (int k = threadIdx.x; k < n; k += blockDim.x) to[k] = base_scale[first + k];
}

template <bool kValue>
struct Known {
    static constexpr bool value = kValue;
};
