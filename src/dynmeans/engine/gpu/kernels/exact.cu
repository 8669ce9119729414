// Exact costs by eight threads a row, which are the eight running sums of the specification.
//
// Compiled with R: the features that each of the eight threads keeps in registers, or 0 where rows
// are too wide for that and are read again for each center. FEW is the number of features up to
// 15, for which one thread holds a row and all running sums, and 0 above.

#if R > 0
struct Row {
    double y[R];
    __device__ __forceinline__ void load(const ROW* points, i64 i, int d, int lane) {
#pragma unroll
        for (int r = 0; r < R; ++r) y[r] = lane + 8 * r < d ? (double)points[i * d + lane + 8 * r] : 0.0;
    }
    __device__ __forceinline__ double sum(const double* center, int d, int lane) const {
        double s = 0.0;
#pragma unroll
        for (int r = 0; r < R; ++r)
            if (r < R - 1 || lane + 8 * r < d) s = add_square(s, y[r], center[lane + 8 * r]);
        return s;
    }
    // Beside several centers, one after the other in memory.
    template <int kCenters>
    __device__ __forceinline__ void sums(const double* centers, int d, int lane,
                                         double (&s)[kCenters]) const {
#pragma unroll
        for (int k = 0; k < kCenters; ++k) s[k] = sum(centers + k * d, d, lane);
    }
};
#else
struct Row {
    const ROW* y;
    __device__ __forceinline__ void load(const ROW* points, i64 i, int d, int) { y = points + i * d; }
    __device__ __forceinline__ double sum(const double* center, int d, int lane) const {
        double s = 0.0;
        for (int j = lane; j < d; j += 8) s = add_square(s, (double)y[j], center[j]);
        return s;
    }
    template <int kCenters>
    __device__ __forceinline__ void sums(const double* centers, int d, int lane,
                                         double (&s)[kCenters]) const {
#pragma unroll
        for (int k = 0; k < kCenters; ++k) s[k] = 0.0;
        for (int j = lane; j < d; j += 8) {
            const double here = (double)y[j];
#pragma unroll
            for (int k = 0; k < kCenters; ++k) s[k] = add_square(s[k], here, centers[k * d + j]);
        }
    }
};
#endif

struct Best {
    double cost;
    int slot, version;
    __device__ __forceinline__ void consider(double c, int s, int v) {
        if (c < cost || (c == cost && s < slot)) { cost = c; slot = s; version = v; }
    }
};

#if FEW > 0
struct WholeRow {
    double y[FEW];
    __device__ __forceinline__ void load(const ROW* points, i64 i, int) {
#pragma unroll
        for (int j = 0; j < FEW; ++j) y[j] = (double)points[i * FEW + j];
    }
    __device__ __forceinline__ double squared_distance(const double* centers, i64 v, int) const {
        double s[8] = {};
#pragma unroll
        for (int j = 0; j < FEW; ++j) s[j % 8] = add_square(s[j % 8], y[j], centers[v * FEW + j]);
        const double a = __dadd_rn(s[0], s[4]), b = __dadd_rn(s[1], s[5]);
        const double c = __dadd_rn(s[2], s[6]), d = __dadd_rn(s[3], s[7]);
        return __dadd_rn(__dadd_rn(a, c), __dadd_rn(b, d));
    }
};
// Eight threads compare one row with eight versions at a time.
using ChoosingRow = WholeRow;
constexpr int kWidth = 1, kChoosing = 8;  // threads for one distance; that look at one row
#else
// 32 threads compare one row with four versions at a time.
constexpr int kWidth = 8, kChoosing = 32;
struct ChoosingRow {
    Row row;
    __device__ __forceinline__ void load(const ROW* points, i64 i, int d) {
        row.load(points, i, d, threadIdx.x & 7);
    }
    __device__ __forceinline__ double squared_distance(const double* centers, i64 v, int d) const {
        const u32 mask = 0xffu << (threadIdx.x & 24);
        return add_in_halves(row.sum(centers + v * d, d, threadIdx.x & 7), mask);
    }
};
#endif

// The cheapest version that each listed row sees at its turn; all rows if `rows` is null. Where
// `base` has the cheapest slot at the start of the pass, and it is still there, only versions that
// events added are compared. The centers of slots at the start lie in a table of their own.
extern "C" __global__ void __launch_bounds__(256, 2) choose(
    const ROW* points, int d, const int* rows, const int* base, i64 n, const u64* keys, u64 seed,
    const double* ties, const int* slots, const double* start_centers, const double* centers,
    const double* offsets, const double* scales, const Turn* since, const Turn* until, int n_start,
    int n_versions, double new_penalty, int* choices, double* costs) {
    constexpr int kAtOnce = kChoosing / kWidth;
    const int place = threadIdx.x % kChoosing / kWidth;
    [[maybe_unused]] const u32 mask = kChoosing == 32 ? ~0u : 0xffu << (threadIdx.x & 24);
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kChoosing;
    const i64 first = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kChoosing;
    for (i64 p = first; p < n; p += n_groups) {
        const i64 i = rows ? rows[p] : p;
        const u64 key = since ? key_of(i, keys, seed) : 0;
        ChoosingRow row;
        row.load(points, i, d);
        Best best{kInfinity, 0x7fffffff, -1};
        const auto cost_at = [&](int v) {
            const bool is_new = v >= n_start;
            const double s = row.squared_distance(is_new ? centers : start_centers,
                                                  is_new ? v - n_start : v, d);
            return cost_of(offsets[v], scales[v], s);
        };
        int from = 0;
        if (base) {
            const int b = base[p];
            if (b < 0) from = n_start;
            else if (!is_before(until + b, key, ties, i)) {
                from = n_start;
                best.consider(cost_at(b), slots[b], b);
            }
        }
        const auto is_there = [&](int v) {
            return !since || (is_before(since + v, key, ties, i) && !is_before(until + v, key, ties, i));
        };
        for (int v = from + place; v < n_versions; v += kAtOnce) {
            if (!FEW && !is_there(v)) continue;
            const double cost = cost_at(v);
            // Few features cost less than a look at the turns.
            if (FEW && (cost > best.cost || !is_there(v))) continue;
            best.consider(cost, slots[v], v);
        }
#pragma unroll
        for (int o = kChoosing / 2; o >= kWidth; o >>= 1) {
            const double cost = __shfl_xor_sync(mask, best.cost, o);
            const int slot = __shfl_xor_sync(mask, best.slot, o);
            const int version = __shfl_xor_sync(mask, best.version, o);
            if (version >= 0) best.consider(cost, slot, version);
        }
        if (threadIdx.x % kChoosing == 0) {
            const bool opens = best.version < 0 || best.cost > new_penalty;
            choices[p] = opens ? -1 : best.version;
            if (costs) costs[p] = opens ? new_penalty : best.cost;
        }
    }
}

#if FEW > 0
// The cheapest slot of every listed row, or of every row; a thread a row; centers pass through shared memory.
extern "C" __global__ void __launch_bounds__(256) cheapest(
    const ROW* points, i64 begin, i64 n, const int* rows, int d, const double* centers,
    const double* offsets, const double* scales, int n_slots, int n_tile, double new_penalty,
    int* wishes) {
    extern __shared__ double tile[];
    bool is_loaded = false;
    for (i64 first = begin + (i64)blockIdx.x * 256; first < n; first += (i64)gridDim.x * 256) {
        const i64 i = first + threadIdx.x, known = i < n ? i : n - 1;
        WholeRow row;
        row.load(points, rows ? rows[known] : known, d);
        Best best{kInfinity, 0x7fffffff, -1};
        for (int k0 = 0; k0 < n_slots; k0 += n_tile) {
            const int n_here = min(n_tile, n_slots - k0);
            if (!is_loaded || n_tile < n_slots) {
                __syncthreads();
                for (int e = threadIdx.x; e < n_here * FEW; e += blockDim.x)
                    tile[e] = centers[(i64)k0 * FEW + e];
                __syncthreads();
                is_loaded = true;
            }
#pragma unroll 2
            for (int k = 0; k < n_here; ++k) {
                const double s = row.squared_distance(tile, k, d);
                const double cost = cost_of(__ldg(offsets + k0 + k), __ldg(scales + k0 + k), s);
                if (cost < best.cost) best = {cost, k0 + k, k0 + k};
            }
        }
        if (i < n) wishes[i] = best.cost > new_penalty ? -1 : best.version;
    }
}
#else
// The cheapest slot of every listed row, or of every row; two rows at a time; centers pass through shared memory.
extern "C" __global__ void __launch_bounds__(256) cheapest(
    const ROW* points, i64 begin, i64 n, const int* rows, int d, const double* centers,
    const double* offsets, const double* scales, int n_slots, int n_tile, double new_penalty,
    int* wishes) {
    extern __shared__ double tile[];
    const int lane = threadIdx.x & 7, group = threadIdx.x >> 3;
    const u32 mask = 0xffu << (threadIdx.x & 24);
    bool is_loaded = false;
    for (i64 first = begin + (i64)blockIdx.x * 64; first < n; first += (i64)gridDim.x * 64) {
        i64 at[2] = {first + group, first + group + 32};
        Row row[2];
        Best best[2];
#pragma unroll
        for (int u = 0; u < 2; ++u) {
            const i64 known = at[u] < n ? at[u] : n - 1;
            row[u].load(points, rows ? rows[known] : known, d, lane);
            best[u] = {kInfinity, 0x7fffffff, -1};
        }
        for (int k0 = 0; k0 < n_slots; k0 += n_tile) {
            const int n_here = min(n_tile, n_slots - k0);
            if (!is_loaded || n_tile < n_slots) {
                __syncthreads();
                for (int e = threadIdx.x; e < n_here * d; e += blockDim.x)
                    tile[e] = centers[(i64)k0 * d + e];
                __syncthreads();
                is_loaded = true;
            }
            for (int k = 0; k < n_here; ++k) {
                const double offset = __ldg(offsets + k0 + k), scale = __ldg(scales + k0 + k);
#pragma unroll
                for (int u = 0; u < 2; ++u) {
                    const double s = add_in_halves(row[u].sum(tile + k * d, d, lane), mask);
                    best[u].consider(cost_of(offset, scale, s), k0 + k, k0 + k);
                }
            }
        }
#pragma unroll
        for (int u = 0; u < 2; ++u)
            if (lane == 0 && at[u] < n)
                wishes[at[u]] = best[u].cost > new_penalty ? -1 : best[u].version;
    }
}
#endif

// The sum of w |y - theta|^2 in bins, and rows to look at. Where `bounds` has, plus `drift`, a lower
// bound on the square root of every other slot's cost (Hamerly): the rows that it does not settle.
// Otherwise those that wish for another slot than their own. Eight threads read four rows together;
// then four of them have one each.
extern "C" __global__ void __launch_bounds__(256) own_costs(
    const ROW* points, i64 begin, i64 n, int d, const double* weights, const int* labels,
    const int* wishes, const float* bounds, double drift, double new_penalty, const double* centers,
    const double* shifts, int n_bins, double* within, int* listed, int* listed_to, int* n_listed) {
    constexpr int kRows = 4;
    const int lane = threadIdx.x & 7, group = threadIdx.x >> 3;
    const u32 mask = 0xffu << (threadIdx.x & 24);
    Gathered gathered{warp_room()};
    double sums[kMostBins] = {};
    const i64 n_block = 32 * kRows, step = (i64)gridDim.x * n_block;
    for (i64 first = begin + (i64)blockIdx.x * n_block; first < n; first += step) {
        i64 at[kRows];
        int label[kRows];
        Row row[kRows];
        double own = 0.0;
#pragma unroll
        for (int u = 0; u < kRows; ++u) {
            at[u] = first + u * 32 + group;
            label[u] = at[u] < n ? labels[at[u]] : -1;
            row[u].load(points, at[u] < n ? at[u] : n - 1, d, lane);
        }
#pragma unroll
        for (int u = 0; u < kRows; ++u) {
            const double* center = centers + (i64)(label[u] < 0 ? 0 : label[u]) * d;
            const double s = add_in_halves(row[u].sum(center, d, lane), mask);
            if (lane == u) own = s;
        }
        const i64 i = first + lane * 32 + group;
        const bool counts = lane < kRows && i < n && labels[i] >= 0;
        const double term = counts ? (weights ? __dmul_rn(weights[i], own) : own) : 0.0;
        if (n_bins <= kMostBins) add_to_bins(term, shifts, 1, n_bins, sums);
        else {
            double rest = term;
            for (int b = 0; b < n_bins; ++b) {
                const double h = __dsub_rn(__dadd_rn(rest, shifts[b]), shifts[b]);
                if (h != 0.0) atomicAdd(within + b, h);
                rest = __dsub_rn(rest, h);
            }
        }
        bool wants = false;
        int wish = 0;
        if (counts && bounds) {
            const double bound = (double)bounds[i] - drift;
            wants = !(bound > 0.0 && own <= new_penalty && own < bound * bound * (1.0 - 1e-9));
        } else if (counts) {
            wish = wishes[i];
            wants = wish != labels[i];
        }
        gathered.add(wants, (int)i, wish, listed, listed_to, n_listed);
    }
    gathered.flush(listed, listed_to, n_listed);
    if (n_bins <= kMostBins) flush_bins(sums, n_bins, within);
}

// Rows not listed yet that may prefer one of the versions near their slot.
extern "C" __global__ void __launch_bounds__(256) followers(
    const ROW* points, i64 begin, i64 n, int d, const int* labels, u8* is_listed, const u64* keys, u64 seed,
    const double* ties, const double* start_centers, const int* starts, const int* near,
    const double* centers, const double* offsets, const double* scales, const Turn* since,
    int* listed, int* n_listed) {
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kWidth;
    const i64 first = begin + ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kWidth;
    for (i64 i = first; i < n; i += n_groups) {
        const int label = labels[i];
        if (label < 0) continue;
        const int begin = starts[label], end = starts[label + 1];
        if (begin == end || is_listed[i]) continue;
        const u64 key = key_of(i, keys, seed);
        ChoosingRow row;
        row.load(points, i, d);
        const double own = row.squared_distance(start_centers, label, d);
        bool wants = false;
        for (int q = begin; q < end && !wants; ++q) {
            const int v = near[q];
            if (!is_before(since + v, key, ties, i)) continue;
            wants = cost_of(offsets[v], scales[v], row.squared_distance(centers, v, d)) <= own;
        }
        if (wants && threadIdx.x % kWidth == 0) {
            is_listed[i] = 1;
            listed[atomicAdd(n_listed, 1)] = (int)i;
        }
    }
}

// Rows of a label, from key `low` on, that prefer the slot they wish for, of those opened `since`, to
// their own, of `own_centers`: they take it if it was there at their turn. Otherwise they are listed.
extern "C" __global__ void __launch_bounds__(256) take_drawn(
    const ROW* points, i64 n, int d, const u64* keys, u64 seed, const double* ties, u64 low,
    const double* own_centers, const int* slots, const Turn* since, const int* wishes,
    const double* centers, const double* offsets, const double* scales, int* labels, int* listed,
    int* n_listed) {
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kWidth;
    for (i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kWidth; i < n; i += n_groups) {
        const int wish = wishes[i], label = labels[i];
        if (wish < 0 || label < 0) continue;
        const u64 key = key_of(i, keys, seed);
        if (key < low) continue;
        ChoosingRow row;
        row.load(points, i, d);
        const double own = row.squared_distance(own_centers, label, d);
        const double cost = cost_of(offsets[wish], scales[wish], row.squared_distance(centers, wish, d));
        if (threadIdx.x % kWidth || !prefers(cost, slots[wish], own, label)) continue;
        if (is_before(since + wish, key, ties, i)) labels[i] = slots[wish];
        else listed[atomicAdd(n_listed, 1)] = (int)i;
    }
}

// Pairs of a listed row and a slot that its filter could not rule out: the lowest exact cost of each
// row, then the lowest slot of that cost. Costs are not negative: their bits are ordered as they are.
extern "C" __global__ void __launch_bounds__(256) cost_pairs(
    const ROW* points, const int* rows, int d, const int* listed, const int2* pairs,
    const int* n_pairs, const double* centers, const double* offsets, const double* scales, u64* costs, u64* lowest) {
    const int lane = threadIdx.x & 7;
    const u32 mask = 0xffu << (threadIdx.x & 24);
    const i64 n = *n_pairs, n_groups = (i64)gridDim.x * (blockDim.x >> 3);
    for (i64 q = ((i64)blockIdx.x * blockDim.x + threadIdx.x) >> 3; q < n; q += n_groups) {
        const int2 pair = pairs[q];
        Row row;
        const int p = listed[pair.x];
        row.load(points, rows ? rows[p] : p, d, lane);
        const double s = add_in_halves(row.sum(centers + (i64)pair.y * d, d, lane), mask);
        if (lane) continue;
        costs[q] = (u64)__double_as_longlong(cost_of(offsets[pair.y], scales[pair.y], s));
        atomicMin(lowest + pair.x, costs[q]);
    }
}

extern "C" __global__ void choose_pairs(const int2* pairs, const int* n_pairs, const u64* costs,
                                        const u64* lowest, int* slots) {
    for (i64 q = (i64)blockIdx.x * blockDim.x + threadIdx.x; q < *n_pairs;
         q += (i64)gridDim.x * blockDim.x)
        if (costs[q] == lowest[pairs[q].x]) atomicMin(slots + pairs[q].x, pairs[q].y);
}

// The lowest cost of each row but that of the slot it takes.
extern "C" __global__ void second_pairs(const int2* pairs, const int* n_pairs, const u64* costs,
                                        const int* slots, u64* second) {
    for (i64 q = (i64)blockIdx.x * blockDim.x + threadIdx.x; q < *n_pairs;
         q += (i64)gridDim.x * blockDim.x)
        if (slots[pairs[q].x] != pairs[q].y) atomicMin(second + pairs[q].x, costs[q]);
}

// The slots of rows in doubt; every other slot costs at least the second pair or `floors`.
extern "C" __global__ void take_pairs(const int* rows, const int* listed, int n, const u64* lowest,
                                      const u64* second, const int* slots, const float* floors,
                                      double new_penalty, float* bounds, double drift, int* wishes) {
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += gridDim.x * blockDim.x) {
        const bool opens = __longlong_as_double((i64)lowest[p]) > new_penalty;
        const int at = listed[p];
        wishes[at] = opens ? -1 : slots[p];
        if (!bounds) continue;
        // Bits that are no cost stand for none: a row without a second pair.
        const double other = second[p] == ~0ull ? 3e38 : __longlong_as_double((i64)second[p]);
        const double least = opens ? 0.0 : fmin(other, (double)floors[p]);
        bounds[rows ? rows[at] : at] = (float)((sqrt(least) + drift) * (1.0 - 1e-6));
    }
}

// Writes listed rows in the order of their turns: the place of each is the number of those before it.
// Eight threads count for one row.
extern "C" __global__ void __launch_bounds__(256) put_in_order(const int* rows, int n, const u64* keys,
                                                               u64 seed, const double* ties,
                                                               int* ordered) {
    constexpr int kTile = 1024;
    __shared__ Turn tile[kTile];
    const int lane = threadIdx.x & 7, p = (blockIdx.x * 256 + threadIdx.x) >> 3;
    const i64 i = rows[p < n ? p : n - 1];
    const u64 key = key_of(i, keys, seed);
    int n_before = 0;
    for (int first = 0; first < n; first += kTile) {
        const int n_here = min(kTile, n - first);
        __syncthreads();
        for (int q = threadIdx.x; q < n_here; q += 256) {
            const i64 row = rows[first + q];
            tile[q] = {key_of(row, keys, seed), ties ? ties[row] : 0.0, row};
        }
        __syncthreads();
        for (int q = lane; q < n_here; q += 8) n_before += is_before(tile + q, key, ties, i);
    }
    for (int o = 4; o; o >>= 1) n_before += __shfl_xor_sync(~0u, n_before, o);
    if (p < n && lane == 0) ordered[n_before] = (int)i;
}

// Bit q of row p: whether listed row q lies within lambda of row p, which comes before it. `n_words`
// words a row. A block takes one or eight words of 32 rows beside kSpan rows.
constexpr int kSpan = 128;
#if FEW > 0
extern "C" __global__ void __launch_bounds__(256) near_pairs(const ROW* points, int d,
                                                             const int* rows, int n, int n_words,
                                                             double new_penalty, u32* bits) {
    const int word = blockIdx.x * 8 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    const int q = word * 32 + lane, begin = blockIdx.y * kSpan;
    if (word >= n_words || begin > word * 32 + 31) return;
    WholeRow row;
    row.load(points, rows[q < n ? q : n - 1], d);
    const int end = min(min(begin + kSpan, n), word * 32 + 32);
    for (int p = begin; p < end; ++p) {
        WholeRow other;
        other.load(points, rows[p], d);
        const bool is_near = q < n && row.squared_distance(other.y, 0, d) <= new_penalty;
        const u32 found = __ballot_sync(~0u, is_near);
        if (lane == 0) bits[(i64)p * n_words + word] = found;
    }
}
#else
// kTogether rows of the span pass through shared memory at a time.
extern "C" __global__ void __launch_bounds__(256) near_pairs(const ROW* points, int d,
                                                             const int* rows, int n, int n_words,
                                                             double new_penalty, u32* bits) {
    constexpr int kTogether = 4;
    extern __shared__ double others[];
    const int lane = threadIdx.x & 7, group = threadIdx.x >> 3, word = blockIdx.x;
    const u32 mask = 0xffu << (threadIdx.x & 24);
    const int q = word * 32 + group, begin = blockIdx.y * kSpan;
    if (begin > word * 32 + 31) return;
    Row row;
    row.load(points, rows[q < n ? q : n - 1], d, lane);
    const int end = min(min(begin + kSpan, n), word * 32 + 32);
    for (int first = begin; first < end; first += kTogether) {
        __syncthreads();
        for (int e = threadIdx.x; e < kTogether * d; e += 256)
            others[e] = (double)points[(i64)rows[min(first + e / d, n - 1)] * d + e % d];
        __syncthreads();
        double sums[kTogether];
        row.sums(others, d, lane, sums);
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
            const double s = add_in_halves(sums[t], mask);
            if (q < n && lane == 0 && first + t < end && s <= new_penalty)
                atomicOr(bits + (i64)(first + t) * n_words + word, 1u << group);
        }
    }
}
#endif

// Rows that may still open a cluster, as bits: word w * 32 + lane is the w-th of a lane.
struct Waiting {
    static constexpr int kWords = 8;
    u32 bits[kWords];

    __device__ __forceinline__ explicit Waiting(int n) {
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
            const int first = (w * 32 + (int)threadIdx.x) * 32;
            bits[w] = first + 32 <= n ? ~0u : first >= n ? 0u : (1u << (n - first)) - 1;
        }
    }

    // The first of them but `other`; kNobody if there is none.
    static constexpr int kNobody = 0x7fffffff;
    __device__ __forceinline__ int first_but(int other) const {
        int mine = kNobody;
#pragma unroll
        for (int w = kWords - 1; w >= 0; --w) {
            const int word = w * 32 + threadIdx.x;
            const u32 left = bits[w] & ~(word == other >> 5 ? 1u << (other & 31) : 0u);
            if (left) mine = word * 32 + __ffs(left) - 1;
        }
        return __reduce_min_sync(~0u, mine);
    }

    __device__ __forceinline__ bool has(int p) const {
        bool is_here = false;
#pragma unroll
        for (int w = 0; w < kWords; ++w)
            is_here |= w * 32 + (int)threadIdx.x == p >> 5 && (bits[w] >> (p & 31) & 1u);
        return __any_sync(~0u, is_here);
    }

    // Row p opens a cluster: it and those near to it wait no more.
    __device__ __forceinline__ void open(int p, const u32 (&near)[kWords]) {
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
            bits[w] &= ~near[w];
            if (w * 32 + (int)threadIdx.x == p >> 5) bits[w] &= ~(1u << (p & 31));
        }
    }
};

// Visits listed rows in order: each opens a cluster unless it lies within lambda of one opened
// before. One warp; `n_words` is at most 32 * Waiting::kWords. What lies near the next row is asked for
// together with what lies near the first: it mostly opens a cluster, too.
extern "C" __global__ void __launch_bounds__(32) open_in_order(const u32* bits, const int* rows, int n,
                                                               int n_words, int* opened,
                                                               int* n_opened) {
    constexpr int kWords = Waiting::kWords;
    Waiting waiting(n);
    int n_found = 0;
    while (true) {
        const int p = waiting.first_but(-1);
        if (p == Waiting::kNobody) break;
        const int next = waiting.first_but(p);
        u32 near[kWords], near_next[kWords];
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
            const int word = w * 32 + threadIdx.x;
            near[w] = word < n_words && word >= p >> 5 ? __ldg(bits + (i64)p * n_words + word) : 0u;
            const bool is_word = next != Waiting::kNobody && word < n_words && word >= next >> 5;
            near_next[w] = is_word ? __ldg(bits + (i64)next * n_words + word) : 0u;
        }
        waiting.open(p, near);
        if (threadIdx.x == 0) opened[n_found] = rows[p];
        ++n_found;
        if (next == Waiting::kNobody || !waiting.has(next)) continue;
        waiting.open(next, near_next);
        if (threadIdx.x == 0) opened[n_found] = rows[next];
        ++n_found;
    }
    if (threadIdx.x == 0) *n_opened = n_found;
}
