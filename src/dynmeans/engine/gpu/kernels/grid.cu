// Spatial hash grid for one to three features (compiled with D, and with N_BINS, the bins of the cost): each cell lists the slots that can
// be the cheapest for some point in it.
//
// Exact because: slot k is left out of a cell if its lowest cost there is above the highest cost of
// another slot, or above lambda. Cells are widened by a millionth of their width and bounds by a
// part in 1e9, far more than rounding does: the host uses no grid where a cell's width is not large
// beside the spacing of doubles at its place. A point outside the grid is farther than sqrt(lambda)
// from every center, in some coordinate.

// A cell's entry: kNone; kSure and the one slot that every point in it takes; kPair and the two
// that can be the cheapest, 15 bits each; kAll; or where its list begins, and 6 bits for its length.
constexpr u32 kNone = ~0u, kSure = 0x80000000u, kPair = 0xC0000000u, kAll = kPair;
constexpr int kMostListed = 63, kMostCandidates = 2048, kPairSlots = 0x7fff;

struct Center {
    double x[D], offset, scale;
};

struct Grid {
    double origin[3];
    double width, inverse;
    int n_side;
};

__device__ __forceinline__ double squared_distance(const double* y, const double* x) {
    double s[3] = {0.0, 0.0, 0.0};
#pragma unroll
    for (int j = 0; j < D; ++j) s[j] = add_square(0.0, y[j], x[j]);
    return D == 1 ? s[0] : D == 2 ? __dadd_rn(s[0], s[1]) : __dadd_rn(__dadd_rn(s[0], s[2]), s[1]);
}

__device__ __forceinline__ double lowest(const Center& c, const double* low, const double* high) {
    double sum = 0.0;
#pragma unroll
    for (int j = 0; j < D; ++j) {
        const double gap = fmax(fmax(low[j] - c.x[j], c.x[j] - high[j]), 0.0);
        sum += gap * gap;
    }
    return c.offset + c.scale * sum * (1.0 - 1e-9);
}

__device__ __forceinline__ double highest(const Center& c, const double* low, const double* high) {
    double sum = 0.0;
#pragma unroll
    for (int j = 0; j < D; ++j) {
        const double gap = fmax(fabs(c.x[j] - low[j]), fabs(c.x[j] - high[j]));
        sum += gap * gap;
    }
    return (c.offset + c.scale * sum) * (1.0 + 1e-9);
}

// One block makes 256 cells: first the slots that can matter to any of them, then cell by cell.
extern "C" __global__ void __launch_bounds__(256) build_grid(const Center* centers, int n_slots,
                                                             double new_penalty, const Grid* grid,
                                                             u32* cells, int* lists, u32* n_listed,
                                                             u32 capacity) {
    __shared__ int n_candidates, candidates[kMostCandidates];
    constexpr int side[3] = {D == 1 ? 256 : D == 2 ? 16 : 8, D == 2 ? 16 : 8, 4};
    const Grid g = *grid;
    if (threadIdx.x == 0) n_candidates = 0;
    __syncthreads();
    const double lambda = new_penalty * (1.0 + 1e-9), wider = 1e-6 * g.width;
    double low[D], high[D];
    i64 cell = 0, stride = 1;
    int block = blockIdx.x, thread = threadIdx.x, cells_at[D];
#pragma unroll
    for (int j = 0; j < D; ++j) {
        const int n_blocks = g.n_side / side[j], at = block % n_blocks * side[j];
        block /= n_blocks;
        cells_at[j] = at + thread % side[j];
        thread /= side[j];
        cell += cells_at[j] * stride;
        stride *= g.n_side;
        low[j] = g.origin[j] + at * g.width - wider;
        high[j] = g.origin[j] + (at + side[j]) * g.width + wider;
    }
    for (int k = threadIdx.x; k < n_slots; k += 256)
        if (lowest(centers[k], low, high) <= lambda) {
            const int at = atomicAdd(&n_candidates, 1);
            if (at < kMostCandidates) candidates[at] = k;
        }
    __syncthreads();
    if (n_candidates > kMostCandidates) {
        cells[cell] = kAll;
        return;
    }
#pragma unroll
    for (int j = 0; j < D; ++j) {
        low[j] = g.origin[j] + cells_at[j] * g.width - wider;
        high[j] = g.origin[j] + (cells_at[j] + 1) * g.width + wider;
    }
    double bound = lambda;
    for (int q = 0; q < n_candidates; ++q)
        bound = fmin(bound, highest(centers[candidates[q]], low, high));
    int n = 0, last = 0, other = 0;
    for (int q = 0; q < n_candidates; ++q)
        if (lowest(centers[candidates[q]], low, high) <= bound) {
            ++n;
            other = last;
            last = candidates[q];
        }
    u32 entry = kNone;
    if (n == 1 && bound < new_penalty * (1.0 - 1e-9)) entry = kSure | (u32)last;
    else if (n == 2 && max(last, other) < kPairSlots) entry = kPair | (u32)last << 15 | (u32)other;
    else if (n > kMostListed) entry = kAll;
    else if (n) {
        const u32 at = atomicAdd(n_listed, (u32)n);
        entry = at + n <= capacity ? at << 6 | (u32)n : kAll;
        u32 to = at;
        if (entry != kAll)
            for (int q = 0; q < n_candidates; ++q)
                if (lowest(centers[candidates[q]], low, high) <= bound) lists[to++] = candidates[q];
    }
    cells[cell] = entry;
}

__device__ __forceinline__ u32 entry_at(const double* y, const Grid& g, const u32* cells) {
    i64 cell = 0, stride = 1;
    bool is_inside = true;
#pragma unroll
    for (int j = 0; j < D; ++j) {
        const double at = (y[j] - g.origin[j]) * g.inverse;
        is_inside &= at >= 0.0 && at < g.n_side;
        cell += (is_inside ? (int)at : 0) * stride;
        stride *= g.n_side;
    }
    return is_inside ? __ldg(cells + cell) : kNone;
}

__device__ __forceinline__ void consider(double cost, int k, double& best, int& found) {
    if (cost < best || (cost == best && (found < 0 || k < found))) {
        best = cost;
        found = k;
    }
}

__device__ __forceinline__ double cost_at(const double* y, const Center* centers, int k) {
    const Center& c = centers[k];
    return cost_of(c.offset, c.scale, squared_distance(y, c.x));
}

__device__ __forceinline__ int cheapest_in(u32 entry, const double* y, const int* lists,
                                           const Center* centers, int n_slots, double new_penalty) {
    if (entry == kNone) return -1;
    if ((entry & kPair) == kSure) return (int)(entry & ~kSure);
    double best = new_penalty;
    int found = -1;
    if (entry > kPair) {
        const int one = (int)(entry & kPairSlots), two = (int)(entry >> 15 & kPairSlots);
        consider(cost_at(y, centers, one), one, best, found);
        consider(cost_at(y, centers, two), two, best, found);
        return found;
    }
    const bool is_all = entry == kAll;
    const int n = is_all ? n_slots : (int)(entry & 63u);
    const int* list = lists + (is_all ? 0 : entry >> 6);
    for (int q = 0; q < n; ++q) {
        const int k = is_all ? q : __ldg(list + q);
        consider(cost_at(y, centers, k), k, best, found);
    }
    return found;
}

// The table of slots in shared memory, if there is room for it.
__device__ __forceinline__ const Center* near_table(const Center* centers, int n_slots, int is_near) {
    extern __shared__ double room[];
    if (!is_near) return centers;
    for (int e = threadIdx.x; e < n_slots * (D + 2); e += blockDim.x) room[e] = ((const double*)centers)[e];
    __syncthreads();
    return (const Center*)room;
}

__device__ __forceinline__ void load_row(const ROW* points, i64 i, double* y) {
    if constexpr (D == 2 && sizeof(ROW) == 8) {
        const double2 v = __ldcs((const double2*)points + i);
        y[0] = v.x;
        y[1] = v.y;
    } else if constexpr (D == 2) {
        const float2 v = __ldcs((const float2*)points + i);
        y[0] = v.x;
        y[1] = v.y;
    } else
#pragma unroll
        for (int j = 0; j < D; ++j) y[j] = (double)__ldcs(points + i * D + j);
}

constexpr int kThreads = D < 3 ? 1024 : 512;

// Looks at the rows from `begin` to below `n`, kRows at a time for each thread and all asked for before the first is used; all
// threads of a warp look together, at a row behind the last too.
template <int kRows, typename Look>
__device__ __forceinline__ void look_at_rows(const ROW* points, i64 begin, i64 n, const Grid& g,
                                             const u32* cells, const Look& look) {
    const i64 step = (i64)gridDim.x * kThreads * kRows;
    for (i64 first = begin + (i64)blockIdx.x * kThreads * kRows; first < n; first += step) {
        double y[kRows][D];
        u32 entry[kRows];
#pragma unroll
        for (int u = 0; u < kRows; ++u) {
            const i64 i = first + u * kThreads + threadIdx.x;
            load_row(points, i < n ? i : n - 1, y[u]);
        }
#pragma unroll
        for (int u = 0; u < kRows; ++u) entry[u] = entry_at(y[u], g, cells);
#pragma unroll
        for (int u = 0; u < kRows; ++u) look(first + u * kThreads + threadIdx.x, y[u], entry[u]);
    }
}

// The cheapest slot of every listed row; of every row if `rows` is null.
extern "C" __global__ void __launch_bounds__(kThreads, 1) grid_cheapest(
    const ROW* points, i64 begin, i64 n, const int* rows, const Grid* grid, const u32* cells,
    const int* lists, const Center* centers, int n_slots, double new_penalty, int is_near,
    int* wishes) {
    const Grid g = *grid;
    const Center* table = near_table(centers, n_slots, is_near);
    const i64 step = (i64)gridDim.x * kThreads;
    for (i64 p = begin + (i64)blockIdx.x * kThreads + threadIdx.x; p < n; p += step) {
        double y[D];
        load_row(points, rows ? rows[p] : p, y);
        const u32 entry = entry_at(y, g, cells);
        __stcs(wishes + p, cheapest_in(entry, y, lists, table, n_slots, new_penalty));
    }
}

// Labels rows from key `low` on; lists those that would open or revive a cluster.
extern "C" __global__ void __launch_bounds__(kThreads, 1) grid_label(
    const ROW* points, i64 begin, i64 n, const u64* keys, u64 seed, const double* weights, u64 low,
    const Grid* grid, const u32* cells, const int* lists, const Center* centers, int n_slots,
    double new_penalty, int is_near, const u8* is_dormant, int* labels, int* listed,
    int* n_listed) {
    const Center* table = near_table(centers, n_slots, is_near);
    Gathered gathered{warp_room<kThreads>()};
    look_at_rows<4>(points, begin, n, *grid, cells, [&](i64 i, const double* y, u32 entry) {
        bool proposes = false;
        if (i < n && key_of(i, keys, seed) >= low && (!weights || weights[i] > 0.0)) {
            const int wish = cheapest_in(entry, y, lists, table, n_slots, new_penalty);
            proposes = wish < 0 || is_dormant[wish];
            if (!proposes) __stcs(labels + i, wish);
        }
        gathered.add(proposes, (int)i, 0, listed, nullptr, n_listed);
    });
    gathered.flush(listed, nullptr, n_listed);
}

// Rows of a label, from key `low` on, that prefer a slot of the grid, which was opened `since`, to
// their own, of `own_centers`: they take the cheapest if it was there at their turn. Otherwise
// they are listed.
extern "C" __global__ void __launch_bounds__(kThreads, 1) grid_drawn(
    const ROW* points, i64 begin, i64 n, const u64* keys, u64 seed, const double* ties, u64 low,
    const double* own_centers, const int* slots, const Turn* since, const Grid* grid,
    const u32* cells, const int* lists, const Center* centers, int n_slots, double new_penalty,
    int is_near, int* labels, int* listed, int* n_listed) {
    const Center* table = near_table(centers, n_slots, is_near);
    Gathered gathered{warp_room<kThreads>()};
    look_at_rows<4>(points, begin, n, *grid, cells, [&](i64 i, const double* y, u32 entry) {
        bool waits = false;
        const int label = i < n && entry != kNone ? labels[i] : -1;
        if (label >= 0) {
            const u64 key = key_of(i, keys, seed);
            int found = -1;
            if (key >= low) found = cheapest_in(entry, y, lists, table, n_slots, new_penalty);
            if (found >= 0 && prefers(cost_at(y, table, found), slots[found],
                                      squared_distance(y, own_centers + (i64)label * D), label)) {
                waits = !is_before(since + found, key, ties, i);
                if (!waits) labels[i] = slots[found];
            }
        }
        gathered.add(waits, (int)i, 0, listed, nullptr, n_listed);
    });
    gathered.flush(listed, nullptr, n_listed);
}

// One reading of the rows: the sum of w |y - theta|^2 in N_BINS bins, and the rows that want to
// move.
extern "C" __global__ void __launch_bounds__(kThreads, 1) grid_compare(
    const ROW* points, i64 begin, i64 n, const double* weights, const int* labels, const Grid* grid,
    const u32* cells, const int* lists, const Center* centers, int n_slots, double new_penalty,
    int is_near, const double* shifts, double* within, int* moved, int* moved_to,
    int* n_moved) {
    constexpr int kRows = 2;  // more would leave too few registers
    __shared__ double shift[kMostBins];
    Gathered gathered{warp_room<kThreads>()};
    if (threadIdx.x < N_BINS) shift[threadIdx.x] = shifts[threadIdx.x];
    __syncthreads();
    const Grid g = *grid;
    const Center* table = near_table(centers, n_slots, is_near);
    double sums[kMostBins] = {};
    const i64 step = (i64)gridDim.x * kThreads * kRows;
    for (i64 first = begin + (i64)blockIdx.x * kThreads * kRows; first < n; first += step) {
        double y[kRows][D], own[kRows];
        u32 entry[kRows];
        int label[kRows];
#pragma unroll
        for (int u = 0; u < kRows; ++u) {
            const i64 i = first + u * kThreads + threadIdx.x, known = i < n ? i : n - 1;
            load_row(points, known, y[u]);
            label[u] = i < n ? __ldcs(labels + i) : -1;
        }
#pragma unroll
        for (int u = 0; u < kRows; ++u) {
            const int at = label[u] < 0 ? 0 : label[u];
            entry[u] = entry_at(y[u], g, cells);
            own[u] = label[u] < 0 ? 0.0 : squared_distance(y[u], table[at].x);
        }
#pragma unroll
        for (int u = 0; u < kRows; ++u) {
            const i64 i = first + u * kThreads + threadIdx.x;
            const double term = weights && label[u] >= 0 ? __dmul_rn(weights[i], own[u]) : own[u];
            add_to_bins(term, shift, 1, N_BINS, sums);
            int wish = label[u];
            if (label[u] >= 0 && (entry[u] ^ kSure) != (u32)label[u])
                wish = cheapest_in(entry[u], y[u], lists, table, n_slots, new_penalty);
            gathered.add(wish != label[u], (int)i, wish, moved, moved_to, n_moved);
        }
    }
    gathered.flush(moved, moved_to, n_moved);
    flush_bins(sums, N_BINS, within);
}
