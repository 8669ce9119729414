// Sums by slot, in bins (decision 0006): no order is needed, so rows are dealt out to their slots
// by a bucket sort that keeps none, and partial sums are added by atomics.

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

// Writes the rows slot after slot; `next` is where each slot's rows begin, and then end. A block
// deals out `n_tile` rows at a time and asks for room in each slot once.
extern "C" __global__ void __launch_bounds__(512) deal_rows(const int* labels, i64 n, int n_slots,
                                                            int is_shared, i64 n_tile, u64* next,
                                                            int* dealt) {
    extern __shared__ u32 here[];
    for (i64 first = (i64)blockIdx.x * n_tile; first < n; first += (i64)gridDim.x * n_tile) {
        const i64 end = first + n_tile < n ? first + n_tile : n;
        if (!is_shared) {
            for (i64 i = first + threadIdx.x; i < end; i += blockDim.x)
                if (labels[i] >= 0) dealt[atomicAdd(next + labels[i], 1ull)] = (int)i;
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
            if (labels[i] >= 0) dealt[atomicAdd(here + labels[i], 1u)] = (int)i;
        __syncthreads();
    }
}

__device__ __forceinline__ double term_of(const ROW* points, i64 i, int d, const double* weights,
                                          int column) {
    if (!weights) return (double)points[i * d + column];
    return column == 0 ? weights[i] : __dmul_rn(weights[i], (double)points[i * d + column - 1]);
}

// A warp adds 256 dealt rows: `width` threads side by side take the columns of one row. The numbers
// of 32 rows and their slots are read together, and several rows are under way at once.
extern "C" __global__ void __launch_bounds__(256) add_dealt(
    const ROW* points, int d, const double* weights, const int* labels, const int* dealt,
    i64 n_dealt, const double* shifts, int n_bins, int n_columns, int width, double* sums) {
    constexpr int kChunk = 256, kAtOnce = 4;
    const int lane = threadIdx.x & 31, place = lane / width, n_places = 32 / width;
    const i64 n_warps = (i64)gridDim.x * (blockDim.x >> 5);
    for (i64 chunk = ((i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; chunk * kChunk < n_dealt;
         chunk += n_warps) {
        const i64 first = chunk * kChunk;
        const int n_here = n_dealt - first < kChunk ? (int)(n_dealt - first) : kChunk;
        int number[kChunk / 32], slot_of[kChunk / 32];
#pragma unroll
        for (int q = 0; q < kChunk / 32; ++q) {
            const int p = q * 32 + lane;
            number[q] = p < n_here ? dealt[first + p] : -1;
        }
#pragma unroll
        for (int q = 0; q < kChunk / 32; ++q) slot_of[q] = number[q] < 0 ? -1 : labels[number[q]];
        for (int start = 0; start < n_columns; start += width) {
            const int column = start + lane % width;
            const bool is_column = column < n_columns;
            double here[kMostBins] = {}, shift[kMostBins];
#pragma unroll
            for (int b = 0; b < kMostBins; ++b)
                shift[b] = b < n_bins && is_column ? shifts[b * n_columns + column] : 0.0;
            int slot = -1;
            const auto flush = [&]() {
#pragma unroll
                for (int b = 0; b < kMostBins; ++b)
                    if (b < n_bins) {
                        if (slot >= 0 && is_column && here[b] != 0.0)
                            atomicAdd(sums + ((i64)slot * n_bins + b) * n_columns + column, here[b]);
                        here[b] = 0.0;
                    }
            };
#pragma unroll
            for (int q = 0; q < kChunk / 32; ++q)
                for (int r = 0; r < 32; r += n_places * kAtOnce) {
                    double term[kAtOnce];
                    int to[kAtOnce];
#pragma unroll
                    for (int u = 0; u < kAtOnce; ++u) {
                        const int from = (r + u * n_places + place) & 31;
                        const i64 i = __shfl_sync(~0u, number[q], from);
                        to[u] = __shfl_sync(~0u, slot_of[q], from);
                        if (r + u * n_places + place >= 32) to[u] = -1;
                        term[u] = to[u] >= 0 && is_column ? term_of(points, i, d, weights, column) : 0.0;
                    }
#pragma unroll
                    for (int u = 0; u < kAtOnce; ++u) {
                        if (to[u] >= 0 && to[u] != slot) {
                            flush();
                            slot = to[u];
                        }
                        add_to_bins(term[u], shift, 1, n_bins, here);
                    }
                }
            flush();
        }
    }
}

// Takes listed rows out of the sums of one slot and adds them to those of another; -1: none.
extern "C" __global__ void move_rows(const ROW* points, int d, const double* weights,
                                     const int* rows, i64 n, const int* before, const int* after,
                                     const double* shifts, int n_bins, int n_columns, double* sums) {
    const i64 n_threads = (i64)gridDim.x * blockDim.x;
    for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n * n_columns; e += n_threads) {
        const i64 p = e / n_columns, i = rows ? rows[p] : p;
        const int column = (int)(e % n_columns);
        const int from = before ? before[p] : -1, to = after[p];
        if (from < 0 && to < 0) continue;
        double term = term_of(points, i, d, weights, column);
        for (int b = 0; b < n_bins; ++b) {
            const double shift = shifts[b * n_columns + column];
            const double h = __dsub_rn(__dadd_rn(term, shift), shift);
            if (h != 0.0) {
                if (to >= 0) atomicAdd(sums + ((i64)to * n_bins + b) * n_columns + column, h);
                if (from >= 0) atomicAdd(sums + ((i64)from * n_bins + b) * n_columns + column, -h);
            }
            term = __dsub_rn(term, h);
        }
    }
}

// The exact sum of the bins, rounded once (Shewchuk, as in Python's math.fsum).
extern "C" __global__ void total_bins(const double* sums, int n_slots, int n_bins, int n_columns,
                                      double* totals) {
    constexpr int kMost = 128;
    for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < (i64)n_slots * n_columns;
         e += (i64)gridDim.x * blockDim.x) {
        const double* values = sums + e / n_columns * n_bins * n_columns + e % n_columns;
        double partials[kMost];
        int n = 0;
        for (int b = 0; b < n_bins; ++b) {
            double x = values[(i64)b * n_columns];
            int kept = 0;
            for (int j = 0; j < n; ++j) {
                double y = partials[j];
                if (fabs(x) < fabs(y)) {
                    const double t = x;
                    x = y;
                    y = t;
                }
                const double high = __dadd_rn(x, y), low = __dsub_rn(y, __dsub_rn(high, x));
                if (low != 0.0) partials[kept++] = low;
                x = high;
            }
            n = kept;
            partials[n++] = x;
        }
        double high = partials[n - 1], low = 0.0;
        int at = n - 1;
        while (at > 0) {
            const double x = high, y = partials[--at];
            high = __dadd_rn(x, y);
            low = __dsub_rn(y, __dsub_rn(high, x));
            if (low != 0.0) break;
        }
        if (at > 0 && low != 0.0 && (low < 0.0) == (partials[at - 1] < 0.0)) {
            const double twice = 2.0 * low, x = __dadd_rn(high, twice);
            if (twice == __dsub_rn(x, high)) high = x;
        }
        totals[e] = high;
    }
}
