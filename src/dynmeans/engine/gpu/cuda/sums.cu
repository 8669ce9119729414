// Sums by slot, in bins (decision 0006): no order is needed, so rows are dealt out to their slots
// by a bucket sort that keeps none, and partial sums are added by atomics. Compiled with N_BINS, the
// bins that are kept in registers, and WIDTH, the threads side by side that take the columns of a row.

extern "C" __global__ void __launch_bounds__(512) count_labels(const int* labels, i64 n, int n_slots,
                                                               int is_shared, u64* counts) {
    extern __shared__ u32 here[];
    const i64 n_threads = (i64)gridDim.x * blockDim.x;
    if (is_shared) {
        for (int k = threadIdx.x; k < n_slots; k += blockDim.x) here[k] = 0;
        __syncthreads();
    }
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += n_threads) {
        const int k = labels[i];
        if (k < 0) continue;
        if (is_shared) atomicAdd(here + k, 1u);
        else atomicAdd(counts + k, 1ull);
    }
    if (!is_shared) return;
    __syncthreads();
    for (int k = threadIdx.x; k < n_slots; k += blockDim.x)
        if (here[k]) atomicAdd(counts + k, (u64)here[k]);
}

// Writes the rows from `begin` on slot after slot; `next` is where each slot's rows begin, and then
// end. A block deals out `n_tile` rows at a time and asks for room in each slot once.
extern "C" __global__ void __launch_bounds__(512) sort_rows_by_slot(const int* labels, i64 n, int begin,
                                                            int n_slots, int is_shared, i64 n_tile,
                                                            u64* next, int* dealt) {
    extern __shared__ u32 here[];
    for (i64 first = (i64)blockIdx.x * n_tile; first < n; first += (i64)gridDim.x * n_tile) {
        const i64 end = first + n_tile < n ? first + n_tile : n;
        if (!is_shared) {
            for (i64 i = first + threadIdx.x; i < end; i += blockDim.x)
                if (labels[i] >= 0) dealt[atomicAdd(next + labels[i], 1ull)] = begin + (int)i;
            continue;
        }
        for (int k = threadIdx.x; k < n_slots; k += blockDim.x) here[k] = 0;
        __syncthreads();
        for (i64 i = first + threadIdx.x; i < end; i += blockDim.x)
            if (labels[i] >= 0) atomicAdd(here + labels[i], 1u);
        __syncthreads();
        for (int k = threadIdx.x; k < n_slots; k += blockDim.x)
            if (here[k]) here[k] = (u32)atomicAdd(next + k, (u64)here[k]);
        __syncthreads();
        for (i64 i = first + threadIdx.x; i < end; i += blockDim.x)
            if (labels[i] >= 0) dealt[atomicAdd(here + labels[i], 1u)] = begin + (int)i;
        __syncthreads();
    }
}

// The slot of a dealt row; `ends` is where the rows of each slot end.
__device__ __forceinline__ int slot_at(const u64* ends, int n_slots, i64 place) {
    int slot = 0;
    for (int low = 0, high = n_slots - 1; low <= high;) {
        const int middle = (low + high) / 2;
        if ((i64)__ldg(ends + middle) > place) {
            slot = middle;
            high = middle - 1;
        } else low = middle + 1;
    }
    return slot;
}

#if WIDTH >= 8
// Slots of 32 dealt rows at a time, from place `first` on.
template <int kTimes>
__device__ __forceinline__ void find_slots(const u64* ends, int n_slots, i64 first, i64 n_dealt,
                                           int (&slot_of)[kTimes]) {
    int slot = slot_at(ends, n_slots, first);
#pragma unroll
    for (int q = 0; q < kTimes; ++q) {
        const i64 p = first + q * 32 + (threadIdx.x & 31);
        while (p < n_dealt && (i64)__ldg(ends + slot) <= p) ++slot;
        slot_of[q] = p < n_dealt ? slot : -1;
    }
}

// Sums of one slot in registers, one column for each of WIDTH threads side by side.
struct SlotBins {
    double sums[N_BINS] = {}, shifts[N_BINS];
    int slot = -1;

    __device__ __forceinline__ void add(double term, int to, int column, int n_columns, double* total) {
        if (to >= 0 && to != slot) {
            flush(column, n_columns, total);
            slot = to;
        }
        add_to_bins(term, shifts, 1, N_BINS, sums);
    }

    __device__ __forceinline__ void flush(int column, int n_columns, double* total) {
#pragma unroll
        for (int b = 0; b < N_BINS; ++b) {
            if (slot >= 0 && column < n_columns - 2 && sums[b] != 0.0)
                atomicAdd(total + ((i64)slot * N_BINS + b) * n_columns + column, sums[b]);
            sums[b] = 0.0;
        }
    }

    // Threads of one column add up first, where all threads of the warp have the same slot.
    __device__ __forceinline__ void flush_warp(int column, int n_columns, double* total) {
        if (WIDTH < 32 && __all_sync(~0u, slot == __shfl_sync(~0u, slot, 0))) {
#pragma unroll
            for (int b = 0; b < N_BINS; ++b) {
                double sum = sums[b];
#pragma unroll
                for (int o = 16; o >= WIDTH; o >>= 1) sum = __dadd_rn(sum, __shfl_xor_sync(~0u, sum, o));
                sums[b] = (threadIdx.x & 31) < WIDTH ? sum : 0.0;
            }
        }
        flush(column, n_columns, total);
    }
};

// A warp adds 256 dealt rows, but for their squares. The numbers of 32 rows are read together, and
// several rows are under way at once.
extern "C" __global__ void __launch_bounds__(256, 2) sum_sorted(
    const ROW* points, int d, const double* weights, const u64* ends, int n_slots, const int* dealt,
    i64 n_dealt, const double* shifts, int n_columns, double* sums) {
    constexpr int kTimes = 8, kAtOnce = 8, kPlaces = 32 / WIDTH, kStep = kPlaces * kAtOnce;
    const int lane = threadIdx.x & 31, place = lane / WIDTH;
    const i64 n_warps = (i64)gridDim.x * (blockDim.x >> 5);
    for (i64 chunk = ((i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
         chunk * kTimes * 32 < n_dealt; chunk += n_warps) {
        const i64 first = chunk * kTimes * 32;
        int number[kTimes], slot_of[kTimes];
#pragma unroll
        for (int q = 0; q < kTimes; ++q) {
            const i64 p = first + q * 32 + lane;
            number[q] = p < n_dealt ? dealt[p] : 0;
        }
        find_slots(ends, n_slots, first, n_dealt, slot_of);
        for (int start = 0; start < n_columns - 2; start += WIDTH) {
            const int column = start + lane % WIDTH;
            SlotBins here;
#pragma unroll
            for (int b = 0; b < N_BINS; ++b)
                here.shifts[b] = column < n_columns - 2 ? shifts[b * n_columns + column] : 0.0;
#pragma unroll
            for (int q = 0; q < kTimes; q += (kStep > 32 ? kStep / 32 : 1))
                for (int r = 0; r < 32; r += kStep) {
                    double term[kAtOnce];
                    int to[kAtOnce];
#pragma unroll
                    for (int u = 0; u < kAtOnce; ++u) {
                        const int at = q + u * kPlaces / 32, from = r + u * kPlaces % 32 + place;
                        const i64 i = __shfl_sync(~0u, number[at], from);
                        to[u] = __shfl_sync(~0u, slot_of[at], from);
                        const bool is_term = to[u] >= 0 && column < n_columns - 2;
                        term[u] = is_term ? term_of(points, i, d, weights, column) : 0.0;
                    }
#pragma unroll
                    for (int u = 0; u < kAtOnce; ++u) here.add(term[u], to[u], column, n_columns, sums);
                }
            here.flush_warp(column, n_columns, sums);
        }
    }
}

#endif

// Sums of one slot in registers: the last two columns, w |y|^2 and what its rounding lost, after all
// others where rows are narrow enough for that.
constexpr int kOthers = WIDTH < 8 ? WIDTH : 0;
struct RowBins {
    double sums[kOthers + 2][N_BINS] = {};
    int slot = -1;

    // The place of a column in the sums of a slot; -1: there is none.
    static __device__ __forceinline__ int place_of(int c, int n_columns) {
        if (c >= kOthers) return n_columns - 2 + c - kOthers;
        return c < n_columns - 2 ? c : -1;
    }

    __device__ __forceinline__ void add(const double (&terms)[kOthers + 2], int to, const double* shifts,
                                        int n_columns, double* total) {
        if (to != slot) {
            flush(n_columns, total);
            slot = to;
        }
#pragma unroll
        for (int c = 0; c < kOthers + 2; ++c)
            if (place_of(c, n_columns) >= 0)
                add_to_bins(terms[c], shifts + place_of(c, n_columns), n_columns, N_BINS, sums[c]);
    }

    __device__ __forceinline__ void flush(int n_columns, double* total) {
        double* into = total + (i64)slot * N_BINS * n_columns;
#pragma unroll
        for (int c = 0; c < kOthers + 2; ++c)
#pragma unroll
            for (int b = 0; b < N_BINS; ++b) {
                if (sums[c][b] != 0.0) atomicAdd(into + b * n_columns + place_of(c, n_columns), sums[c][b]);
                sums[c][b] = 0.0;
            }
    }

    // Threads of the warp add up first, where those that have a slot have the same.
    __device__ __forceinline__ void flush_warp(int n_columns, double* total) {
        const int of_first = __shfl_sync(~0u, slot, 0);
        if (__all_sync(~0u, slot < 0 || slot == of_first)) {
#pragma unroll
            for (int c = 0; c < kOthers + 2; ++c)
#pragma unroll
                for (int b = 0; b < N_BINS; ++b) {
                    double sum = sums[c][b];
#pragma unroll
                    for (int o = 16; o > 0; o >>= 1) sum = __dadd_rn(sum, __shfl_down_sync(~0u, sum, o));
                    sums[c][b] = threadIdx.x & 31 ? 0.0 : sum;
                }
        }
        flush(n_columns, total);
    }
};

// Those columns of dealt rows, 32 for each thread, or for each eight of them that share wide rows.
extern "C" __global__ void __launch_bounds__(256) add_squares(
    const ROW* points, int d, const double* weights, const u64* ends, int n_slots, const int* dealt,
    i64 n_dealt, const double* shifts, int n_columns, double* sums) {
    constexpr int kTimes = 32, kLanes = WIDTH < 8 ? 1 : 8, kAtOnce = 32 / kLanes;
    const int place = (threadIdx.x & 31) / kLanes;
    const i64 n_warps = (i64)gridDim.x * (blockDim.x >> 5);
    for (i64 chunk = ((i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
         chunk * kTimes * kAtOnce < n_dealt; chunk += n_warps) {
        const i64 first = chunk * kTimes * kAtOnce;
        int slot = slot_at(ends, n_slots, first);
        RowBins here;
        for (int q = 0; q < kTimes; ++q) {
            const i64 p = first + q * kAtOnce + place;
            if (p >= n_dealt) break;
            while ((i64)__ldg(ends + slot) <= p) ++slot;
            const i64 i = dealt[p];
            const double* weight = weights ? weights + i : nullptr;
            double terms[kOthers + 2];
#pragma unroll
            for (int c = 0; c < kOthers; ++c)
                terms[c] = c < n_columns - 2 ? term_of(points, i, d, weights, c) : 0.0;
            Pair square;
            if constexpr (kLanes == 1) square = weighted_square<WIDTH>(points + i * d, d, weight);
            else square = weighted_square_of_eight(points + i * d, d, weight);
            terms[kOthers] = square.value;
            terms[kOthers + 1] = square.rest;
            if (threadIdx.x % kLanes == 0) here.add(terms, slot, shifts, n_columns, sums);
        }
        __syncwarp();
        here.flush_warp(n_columns, sums);
    }
}

// Takes rows, listed or from `begin` on, out of the sums of one slot and adds them to those of another;
// -1: none. The squares of a row have one thread for both columns.
extern "C" __global__ void move_rows(const ROW* points, int d, const double* weights,
                                     const int* rows, i64 begin, i64 n, const int* before,
                                     const int* after, const double* shifts, int n_bins,
                                     int n_columns, double* sums) {
    const i64 n_threads = (i64)gridDim.x * blockDim.x, width = n_columns - 1;
    for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n * width; e += n_threads) {
        const i64 p = e / width, i = rows ? rows[p] : begin + p;
        const int column = (int)(e % width);
        const int from = before ? before[p] : -1, to = after[p];
        if (from < 0 && to < 0) continue;
        Pair term{0.0, 0.0};
        if (column < n_columns - 2) term.value = term_of(points, i, d, weights, column);
        else term = weighted_square(points + i * d, d, weights ? weights + i : nullptr);
        for (int side = 0; side < 2; ++side) {
            const int slot = side ? from : to;
            if (slot < 0) continue;
            double* into = sums + (i64)slot * n_bins * n_columns + column;
            const double sign = side ? -1.0 : 1.0;
            add_term(term.value, sign, shifts + column, n_bins, n_columns, into);
            if (column == n_columns - 2)
                add_term(term.rest, sign, shifts + column + 1, n_bins, n_columns, into + 1);
        }
    }
}

// The totals of the bins, and after all of them what their rounding lost.
extern "C" __global__ void total_bins(const double* sums, int n_slots, int n_bins, int n_columns,
                                      double* totals) {
    const i64 n = (i64)n_slots * n_columns;
    for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n; e += (i64)gridDim.x * blockDim.x) {
        const double* values = sums + e / n_columns * n_bins * n_columns + e % n_columns;
        totals[e] = rounded_sum(0.0, values, n_bins, n_columns);
        totals[n + e] = rounded_sum(-totals[e], values, n_bins, n_columns);
    }
}
