// Tensor-core filter for many features: the cheapest slot of a row from products in bf16, where
// their error cannot matter; the other rows are listed for the exact comparison.
//
// Exact because: costs are taken about a common origin o, cost_k = base_k + scale_k |y'|^2 + y'.b_k
// with y' = y - o, b_k = -2 scale_k (c_k - o) and base_k = offset_k + scale_k |c_k - o|^2. With y^ and
// b^ their values in bf16, |y'.b - y^.b^| <= |y' - y^| |b| + |y^| |b - b^|, from the actual rounding
// errors of the row and the largest of the slots. Accumulation in float adds less than
// (d + 16) 2^-20 of the magnitudes that are added, many times what a sequence of truncated float
// additions can lose. The last bits of a cost give way to its slot, which changes it by less than a
// part in 2000. A row is settled only if its lowest cost is lower than the second by twice
// that error and on one side of lambda by the error; where anything overflows, the error does too,
// and no comparison holds.
//
// Compiled with PLAIN: 1 where every scale is 1, so that the row's own square can be left out of all
// costs; and with KC: blocks of 16 features that a row has in registers (even), or 0 for wider rows,
// whose costs for a tile of slots are kept in registers instead.

__device__ __forceinline__ void multiply(float* c, const u32* a, u32 b0, u32 b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void load_matrices(u32* r, u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

__device__ __forceinline__ u32 to_bf16(float low, float high) {
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

struct Norms {  // squares: of a row, and of what rounding it took away
    float row = 0.f, error = 0.f;
};

// Features j and j + 1 of a row, about the origin.
__device__ __forceinline__ double2 load_pair(const ROW* row, const double* origin, int j, int d,
                                             bool is_even) {
    double2 pair = make_double2(0.0, 0.0);
    if (is_even && j < d) {
        if constexpr (sizeof(ROW) == 8) pair = __ldcs((const double2*)(row + j));
        else {
            const float2 v = __ldcs((const float2*)(row + j));
            pair = make_double2(v.x, v.y);
        }
        pair.x -= __ldg(origin + j);
        pair.y -= __ldg(origin + j + 1);
    } else {
        if (j < d) pair.x = (double)row[j] - origin[j];
        if (j + 1 < d) pair.y = (double)row[j + 1] - origin[j + 1];
    }
    return pair;
}

__device__ __forceinline__ u32 round_pair(double2 pair, Norms& norms) {
    const float low = (float)pair.x, high = (float)pair.y;
    const u32 r = to_bf16(low, high);
    const float a = low - __uint_as_float(r << 16), b = high - __uint_as_float(r & 0xffff0000u);
    norms.row = fmaf(low, low, fmaf(high, high, norms.row));
    norms.error = fmaf(a, a, fmaf(b, b, norms.error));
    return r;
}

// The two lowest costs, with the number of their slot, of those in one stretch of 2048, in their
// last bits.
constexpr u32 kSlotBits = 0x7ffu;
struct Lowest {
    float first = 3e38f, second = 3e38f;
    int slot = -1;
    __device__ __forceinline__ void consider(float cost, u32 k) {
        const float named = __uint_as_float((__float_as_uint(cost) & ~kSlotBits) | k);
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
        slot = (int)(__float_as_uint(first) & kSlotBits);
    }
    // Slots of the next stretch; only the lowest of all is asked for by its number.
    __device__ __forceinline__ void merge(const Lowest& later, int start) {
        second = fminf(fminf(second, later.second), fmaxf(first, later.first));
        if (later.first < first) {
            first = later.first;
            slot = start + later.slot;
        }
    }
};
constexpr float kNoRow = -3.4028234e38f;  // the limit of a place behind the last row
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

// Rows in doubt and slots that may be their cheapest: a list of pairs.
struct Pairs {
    int n_real;  // slots but for those added to fill a tile
    int2* pairs;
    int *n_pairs, most_pairs;

    // Any slot up to the limit of a row may be its cheapest. What does not compare is kept.
    __device__ __forceinline__ void keep(float cost, float limit, i64 p, int k) const {
        if (cost > limit || limit == kNoRow || k >= n_real) return;
        const int at = atomicAdd(n_pairs, 1);
        if (at < most_pairs) pairs[at] = make_int2((int)p, k);
    }
};

// Costs of slots k and k + 1 for rows p and p + 8.
__device__ __forceinline__ void keep_costs(const float* v, const float* limit, i64 p, int k,
                                           const Pairs& pairs) {
    pairs.keep(v[0], limit[0], p, k);
    pairs.keep(v[1], limit[0], p, k + 1);
    pairs.keep(v[2], limit[1], p + 8, k);
    pairs.keep(v[3], limit[1], p + 8, k + 1);
}

__device__ __forceinline__ void consider_costs(const float* v, u32 name, Lowest* found) {
    found[0].consider(v[0], name);
    found[0].consider(v[1], name + 1);
    found[1].consider(v[2], name);
    found[1].consider(v[3], name + 1);
}

// `limits` gets a cost that no slot above can have the lowest of; above every cost if none is known.
// `bounds` gets what the square root of every other slot's cost is above, plus `drift`; `floors` what
// the cost of every slot above the limit is above.
__device__ __forceinline__ void decide(const Work& w, i64 p, const Lowest& found, const Norms& norms,
                                       const Bounds& most) {
    const double new_penalty = w.new_penalty;
    const float y = sqrtf(norms.row) * 1.0001f;
    const float off = sqrtf(norms.error) * 1.001f + y * 1.3e-7f;
    float error = off * most.b + (y + off) * most.error;
    error += (w.d + 16) * 9.6e-7f * (y * most.b + most.base + most.scale * norms.row) + 1e-36f;
    error *= 1.001f;
    const double own_square = PLAIN ? (double)norms.row : 0.0;
    const float low = found.first - kNaming * fabsf(found.first);
    const float high = found.first + kNaming * fabsf(found.first);
    const float next = found.second - kNaming * fabsf(found.second);
    int wish = -2;
    if ((double)low + own_square - error > new_penalty) wish = -1;
    else if (next - high > 2.f * error && (double)high + own_square + error < new_penalty &&
             fabsf(found.first) > 1e-30f)  // below, the bits of its slot may have been flushed
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

#if KC > 0
constexpr int kThreads = KC <= 4 ? 512 : 256;
// 32 rows a warp.
template <bool kAgain>
__device__ __forceinline__ void filter_rows(const Work& w, [[maybe_unused]] const Pairs& pairs) {
    extern __shared__ __align__(16) unsigned char tile[];
    const Bounds most = *w.largest;
    const i64 n = w.n;
    const int d = w.d, stride = w.stride, n_slots = w.n_slots, n_tile = w.n_tile;
    const auto row_at = [&](i64 p) -> i64 {
        const i64 listed_at = kAgain ? w.listed[p] : p;
        return w.rows ? w.rows[listed_at] : listed_at;
    };
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, q = lane & 3;
    const u32 at_tile = (u32)__cvta_generic_to_shared(tile) + (lane & 7) * stride * 2 + (lane >> 3) * 16;
    const bool is_even = d % 2 == 0;
    constexpr i64 kRows = kThreads;
    bool is_loaded = false;
    for (i64 first = w.begin + (i64)blockIdx.x * kRows; first < n; first += (i64)gridDim.x * kRows) {
        u32 a[2][KC][4];
        Norms norms[4];
        Lowest best[4];
        [[maybe_unused]] float limit[4];
        const i64 mine = first + warp * 32;
#pragma unroll
        for (int m = 0; m < 2; ++m) {
            const i64 r0 = mine + m * 16 + g, r1 = r0 + 8;
            const i64 p0 = r0 < n ? r0 : n - 1, p1 = r1 < n ? r1 : n - 1;
            const ROW* y0 = w.points + row_at(p0) * d;
            const ROW* y1 = w.points + row_at(p1) * d;
            if constexpr (kAgain) {
                limit[m * 2] = r0 < n ? w.limits[r0] : kNoRow;
                limit[m * 2 + 1] = r1 < n ? w.limits[r1] : kNoRow;
            }
            // Known to the compiler, whole rows are asked for before the first is used.
            const auto take = [&](auto whole) {
                const int wide = decltype(whole)::value ? KC * 16 : d;
                const bool even = decltype(whole)::value || is_even;
#pragma unroll
                for (int k = 0; k < KC; ++k) {
                    const int j = k * 16 + 2 * q;
                    a[m][k][0] = round_pair(load_pair(y0, w.origin, j, wide, even), norms[m * 2]);
                    a[m][k][1] = round_pair(load_pair(y1, w.origin, j, wide, even), norms[m * 2 + 1]);
                    a[m][k][2] = round_pair(load_pair(y0, w.origin, j + 8, wide, even), norms[m * 2]);
                    a[m][k][3] = round_pair(load_pair(y1, w.origin, j + 8, wide, even), norms[m * 2 + 1]);
                }
            };
            if (d == KC * 16) take(Known<true>{});
            else take(Known<false>{});
        }
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
            for (int o = 1; o < 4; o <<= 1) {
                norms[r].row += __shfl_xor_sync(~0u, norms[r].row, o);
                norms[r].error += __shfl_xor_sync(~0u, norms[r].error, o);
            }
        for (int k0 = 0; k0 < n_slots; k0 += n_tile) {
            const int n_here = min(n_tile, n_slots - k0);
            if (!is_loaded || n_tile < n_slots) {
                __syncthreads();
                load_tile(tile, w.b, w.base_scale, k0, n_here, stride);
                __syncthreads();
                is_loaded = true;
            }
            const float4* starts = (const float4*)(tile + n_here * stride * 2);
            [[maybe_unused]] Lowest found[4];
#pragma unroll 2
            for (int t = 0; t < n_here; t += 8) {
                const float4 s = starts[t / 2 + q];  // base and scale of two slots
                const int k = k0 + t + 2 * q;
                u32 f[KC * 2];
#pragma unroll
                for (int c = 0; c < KC; c += 2) load_matrices(f + 2 * c, at_tile + t * stride * 2 + c * 32);
#pragma unroll
                for (int m = 0; m < 2; ++m) {
                    float v[4] = {start_of(s.x, s.y, norms[m * 2]), start_of(s.z, s.w, norms[m * 2]),
                                  start_of(s.x, s.y, norms[m * 2 + 1]),
                                  start_of(s.z, s.w, norms[m * 2 + 1])};
#pragma unroll
                    for (int c = 0; c < KC; ++c) multiply(v, a[m][c], f[2 * c], f[2 * c + 1]);
                    if constexpr (kAgain) {
                        keep_costs(v, limit + m * 2, mine + m * 16 + g, k, pairs);
                    } else {
                        consider_costs(v, (u32)(t + 2 * q), found + m * 2);
                    }
                }
            }
#pragma unroll
            for (int r = 0; r < (kAgain ? 0 : 4); ++r) {
                found[r].merge_lanes();
                best[r].merge(found[r], k0);
            }
        }
#pragma unroll
        for (int r = 0; r < (kAgain ? 0 : 4); ++r) {
            const i64 p = mine + r * 8 + g;
            if (q == r && p < n) decide(w, p, best[r], norms[r], most);
        }
    }
}
#else
// 16 rows a warp; a tile has at most kTile * 8 slots.
constexpr int kThreads = 256, kTile = 26;
template <bool kAgain>
__device__ __forceinline__ void filter_rows(const Work& w, [[maybe_unused]] const Pairs& pairs) {
    extern __shared__ __align__(16) unsigned char tile[];
    const Bounds most = *w.largest;
    const i64 n = w.n;
    const int d = w.d, stride = w.stride, n_slots = w.n_slots, n_tile = w.n_tile;
    const auto row_at = [&](i64 p) -> i64 {
        const i64 listed_at = kAgain ? w.listed[p] : p;
        return w.rows ? w.rows[listed_at] : listed_at;
    };
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, q = lane & 3;
    const u32 at_tile = (u32)__cvta_generic_to_shared(tile) +
                        ((lane >> 4) * 8 + (lane & 7)) * stride * 2 + ((lane >> 3) & 1) * 16;
    const bool is_even = d % 2 == 0;
    constexpr i64 kRows = kThreads / 2;
    bool is_loaded = false;
    for (i64 first = w.begin + (i64)blockIdx.x * kRows; first < n; first += (i64)gridDim.x * kRows) {
        const i64 mine = first + warp * 16, r0 = mine + g, r1 = r0 + 8;
        const i64 p0 = r0 < n ? r0 : n - 1, p1 = r1 < n ? r1 : n - 1;
        const ROW* y0 = w.points + row_at(p0) * d;
        const ROW* y1 = w.points + row_at(p1) * d;
        [[maybe_unused]] float limit[2];
        if constexpr (kAgain) {
            limit[0] = r0 < n ? w.limits[r0] : kNoRow;
            limit[1] = r1 < n ? w.limits[r1] : kNoRow;
        }
        Lowest best[2];
        Norms norms[2];
        for (int k0 = 0; k0 < n_slots; k0 += n_tile) {
            const int n_here = min(n_tile, n_slots - k0);
            if (!is_loaded || n_tile < n_slots) {
                __syncthreads();
                load_tile(tile, w.b, w.base_scale, k0, n_here, stride);
                __syncthreads();
                is_loaded = true;
            }
            float v[kTile][4] = {};
            norms[0] = norms[1] = Norms{};
            double2 next[4];  // asked for one block of features ahead
            const auto ask = [&](int j) {
                next[0] = load_pair(y0, w.origin, j + 2 * q, d, is_even);
                next[1] = load_pair(y1, w.origin, j + 2 * q, d, is_even);
                next[2] = load_pair(y0, w.origin, j + 2 * q + 8, d, is_even);
                next[3] = load_pair(y1, w.origin, j + 2 * q + 8, d, is_even);
            };
            ask(0);
            for (int j = 0; j < d; j += 16) {
                u32 a[4];
#pragma unroll
                for (int e = 0; e < 4; ++e) a[e] = round_pair(next[e], norms[e & 1]);
                ask(j + 16);
#pragma unroll
                for (int t = 0; t < kTile; t += 2)
                    if (t * 8 < n_here) {
                        u32 f[4];
                        load_matrices(f, at_tile + t * 8 * stride * 2 + j * 2);
                        multiply(v[t], a, f[0], f[1]);
                        multiply(v[t + 1], a, f[2], f[3]);
                    }
            }
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int o = 1; o < 4; o <<= 1) {
                    norms[r].row += __shfl_xor_sync(~0u, norms[r].row, o);
                    norms[r].error += __shfl_xor_sync(~0u, norms[r].error, o);
                }
            const float4* starts = (const float4*)(tile + n_here * stride * 2);
            [[maybe_unused]] Lowest found[2];
#pragma unroll
            for (int t = 0; t < kTile; ++t)
                if (t * 8 < n_here) {
                    const float4 s = starts[t * 4 + q];
                    const int k = k0 + t * 8 + 2 * q;
                    const float c[4] = {v[t][0] + start_of(s.x, s.y, norms[0]),
                                        v[t][1] + start_of(s.z, s.w, norms[0]),
                                        v[t][2] + start_of(s.x, s.y, norms[1]),
                                        v[t][3] + start_of(s.z, s.w, norms[1])};
                    if constexpr (kAgain) {
                        keep_costs(c, limit, r0, k, pairs);
                    } else {
                        consider_costs(c, (u32)(t * 8 + 2 * q), found);
                    }
                }
#pragma unroll
            for (int r = 0; r < (kAgain ? 0 : 2); ++r) {
                found[r].merge_lanes();
                best[r].merge(found[r], k0);
            }
        }
#pragma unroll
        for (int r = 0; r < (kAgain ? 0 : 2); ++r) {
            const i64 p = mine + r * 8 + g;
            if (q == r && p < n) decide(w, p, best[r], norms[r], most);
        }
    }
}
#endif

extern "C" __global__ void __launch_bounds__(kThreads, 1) filter(
    const ROW* points, i64 begin, i64 n, const int* rows, int d, const double* origin,
    const unsigned short* b, const float2* base_scale, int n_slots, int n_tile, int stride,
    const Bounds* largest, double new_penalty, float* bounds, double drift, int* wishes, int* listed,
    float* limits, float* floors, int* n_listed) {
    filter_rows<false>({points, begin, n, rows, d, origin, b, base_scale, n_slots, n_tile, stride,
                        largest, new_penalty, bounds, drift, wishes, listed, limits, floors, n_listed},
                       {});
}

// Lists, for rows in doubt, the slots that may be their cheapest.
extern "C" __global__ void __launch_bounds__(kThreads, 1) filter_again(
    const ROW* points, i64 begin, i64 n, const int* rows, int d, const double* origin,
    const unsigned short* b, const float2* base_scale, int n_slots, int n_tile, int stride,
    const Bounds* largest, int* listed, float* limits, int n_real, int2* pairs, int* n_pairs,
    int most_pairs) {
    filter_rows<true>({points, begin, n, rows, d, origin, b, base_scale, n_slots, n_tile, stride,
                       largest, 0.0, nullptr, 0.0, nullptr, listed, limits, nullptr, nullptr},
                      {n_real, pairs, n_pairs, most_pairs});
}
