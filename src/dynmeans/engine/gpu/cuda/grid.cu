// What rows ask of the grid: one look at each row, all in one pass over them.

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
        y[0] = widen(v.x);
        y[1] = widen(v.y);
    } else
#pragma unroll
        for (int j = 0; j < D; ++j) y[j] = widen(__ldcs(points + i * D + j));
}

constexpr int kThreads = D < 3 ? 1024 : 512;  // More features need more registers.

// Looks at the rows from `begin` to below `n`, kRows at a time for each thread and all asked for
// before the first is used; all threads of a warp look together, at a row behind the last too.
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
    const ROW* points, i64 begin, i64 n, const u64* keys, const double* weights, u64 low,
    const Grid* grid, const u32* cells, const int* lists, const Center* centers, int n_slots,
    double new_penalty, int is_near, const u8* is_inactive, int* labels, int* listed,
    int* n_listed) {
    const Center* table = near_table(centers, n_slots, is_near);
    Gathered<kThreads> gathered;
    look_at_rows<4>(points, begin, n, *grid, cells, [&](i64 i, const double* y, u32 entry) {
        bool proposes = false;
        if (i < n && keys[i] >= low && (!weights || weights[i] > 0.0)) {
            const int wish = cheapest_in(entry, y, lists, table, n_slots, new_penalty);
            proposes = wish < 0 || is_inactive[wish];
            if (!proposes) __stcs(labels + i, wish);
        }
        gathered.add(proposes, (int)i, 0, listed, nullptr, n_listed);
    });
    gathered.flush(listed, nullptr, n_listed);
}

// Rows of a label, from key `low` on, that prefer a slot of the grid, which was opened `since`, to
// their own, of `own_centers`: they take the cheapest if it was there at their turn. Otherwise
// they are listed.
extern "C" __global__ void __launch_bounds__(kThreads, 1) grid_attracted(
    const ROW* points, i64 begin, i64 n, const u64* keys, const u64* ties, u64 low,
    const double* own_centers, const int* slots, const Turn* since, const Grid* grid,
    const u32* cells, const int* lists, const Center* centers, int n_slots, double new_penalty,
    int is_near, int* labels, int* listed, int* n_listed) {
    const Center* table = near_table(centers, n_slots, is_near);
    Gathered<kThreads> gathered;
    look_at_rows<4>(points, begin, n, *grid, cells, [&](i64 i, const double* y, u32 entry) {
        bool waits = false;
        const int label = i < n && entry != kNone ? labels[i] : -1;
        if (label >= 0) {
            const u64 key = keys[i];
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

// One reading of the rows: those that want to move.
extern "C" __global__ void __launch_bounds__(kThreads, 1) grid_compare(
    const ROW* points, i64 begin, i64 n, const int* labels, const Grid* grid, const u32* cells,
    const int* lists, const Center* centers, int n_slots, double new_penalty, int is_near, int* moved,
    int* moved_to, int* n_moved) {
    constexpr int kRows = 2;  // more would leave too few registers
    Gathered<kThreads> gathered;
    const Grid g = *grid;
    const Center* table = near_table(centers, n_slots, is_near);
    const i64 step = (i64)gridDim.x * kThreads * kRows;
    for (i64 first = begin + (i64)blockIdx.x * kThreads * kRows; first < n; first += step) {
        double y[kRows][D];
        u32 entry[kRows];
        int label[kRows];
#pragma unroll
        for (int u = 0; u < kRows; ++u) {
            const i64 i = first + u * kThreads + threadIdx.x, known = i < n ? i : n - 1;
            load_row(points, known, y[u]);
            label[u] = i < n ? __ldcs(labels + i) : -1;
        }
#pragma unroll
        for (int u = 0; u < kRows; ++u) entry[u] = entry_at(y[u], g, cells);
#pragma unroll
        for (int u = 0; u < kRows; ++u) {
            const i64 i = first + u * kThreads + threadIdx.x;
            int wish = label[u];
            if (label[u] >= 0 && (entry[u] ^ kSure) != (u32)label[u])
                wish = cheapest_in(entry[u], y[u], lists, table, n_slots, new_penalty);
            gathered.add(wish != label[u], (int)i, wish, moved, moved_to, n_moved);
        }
    }
    gathered.flush(moved, moved_to, n_moved);
}

// Rows that may prefer another slot than their own, or a new one, while every center stays within its
// margin; the grid was built with these.
extern "C" __global__ void __launch_bounds__(kThreads, 1) grid_border(
    const ROW* points, i64 begin, i64 n, const int* labels, const double* margins, const Grid* grid,
    const u32* cells, const int* lists, const Center* centers, int n_slots, double new_penalty,
    int is_near, int* listed, int* n_listed) {
    const Center* table = near_table(centers, n_slots, is_near);
    Gathered<kThreads> gathered;
    look_at_rows<2>(points, begin, n, *grid, cells, [&](i64 i, const double* y, u32 entry) {
        const int label = i < n ? __ldcs(labels + i) : -1;
        bool wants = label >= 0 && (entry ^ kSure) != (u32)label;
        if (wants && (entry & kPair) != kSure && entry != kNone) {
            const double own = cost_at(y, table, label), u = sqrt(own) + margins[label];
            const auto is_cheap = [&](int k) {
                const double root = (u + margins[k]) * (1.0 + 1e-9);
                return k != label && cost_at(y, table, k) * (1.0 - 1e-9) <= root * root + 1e-300;
            };
            wants = !(u * u * (1.0 + 3e-9) < new_penalty);
            if (entry > kPair) wants |= is_cheap((int)(entry & kPairSlots)) || is_cheap((int)(entry >> 15 & kPairSlots));
            else {
                const bool is_all = entry == kAll;
                const int m = is_all ? n_slots : (int)(entry & 63u);
                for (int q = 0; q < m && !wants; ++q)
                    wants = is_cheap(is_all ? q : __ldg(lists + (entry >> 6) + q));
            }
        }
        gathered.add(wants, (int)i, 0, listed, nullptr, n_listed);
    });
    gathered.flush(listed, nullptr, n_listed);
}
