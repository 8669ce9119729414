// Exact costs: where a row is held by many threads, they are the eight running sums of the
// specification. What is compiled is said in distances.cu.

// The cheapest version that each listed row sees at its turn; all rows if `rows` is null. Where
// `base` has the cheapest slot at the start of the pass, and it is still there, only versions that
// events added are compared. The centers of slots at the start lie in a table of their own.
extern "C" __global__ void __launch_bounds__(256, 2) choose(
    const ROW* points, int d, const int* rows, const int* base, i64 n, const u64* keys,
    const u64* ties, const int* slots, const double* start_centers, const double* centers,
    const double* offsets, const double* scales, const Turn* since, const Turn* until, int n_start,
    int n_versions, double new_penalty, int* choices, double* costs) {
    constexpr int kAtOnce = kChoosing / kWidth;
    const int place = threadIdx.x % kChoosing / kWidth;
    [[maybe_unused]] const u32 mask = kChoosing == 32 ? ~0u : 0xffu << (threadIdx.x & 24);
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kChoosing;
    const i64 first = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kChoosing;
    for (i64 p = first; p < n; p += n_groups) {
        const i64 i = rows ? rows[p] : p;
        const u64 key = since ? keys[i] : 0;
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

// Rows that `bounds` do not settle: plus `drift`, a lower bound on the square root of every other slot's
// cost (Hamerly). Eight threads read four rows together; then four of them have one each.
// `shifts` are what the bounds of a slot's rows may fall by besides; no row is settled then whose
// distance from its center is above its limit of `reaches`, squared.
extern "C" __global__ void __launch_bounds__(256) own_costs(
    const ROW* points, i64 begin, i64 n, int d, const int* labels, const float* bounds, double drift,
    const double* shifts, const double* reaches, double new_penalty, const double* centers, int* listed,
    int* n_listed) {
    constexpr int kRows = 4;
    const int lane = threadIdx.x & 7, group = threadIdx.x >> 3;
    const u32 mask = 0xffu << (threadIdx.x & 24);
    Gathered<> gathered;
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
        bool wants = false;
        if (lane < kRows && i < n && labels[i] >= 0) {
            const double bound = widen(bounds[i]) - drift - (shifts ? shifts[labels[i]] : 0.0);
            const bool is_near = reaches ? own < reaches[labels[i]] : own <= new_penalty;
            wants = !(bound > 0.0 && is_near && own < bound * bound * (1.0 - 1e-9));
        }
        gathered.add(wants, (int)i, 0, listed, nullptr, n_listed);
    }
    gathered.flush(listed, nullptr, n_listed);
}

// Rows not listed yet that may prefer one of the versions near their slot.
extern "C" __global__ void __launch_bounds__(256) followers(
    const ROW* points, i64 begin, i64 n, int d, const int* labels, u8* is_listed, const u64* keys,
    const u64* ties, const double* start_centers, const int* starts, const int* near,
    const double* centers, const double* offsets, const double* scales, const Turn* since,
    int* listed, int* n_listed) {
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kWidth;
    const i64 first = begin + ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kWidth;
    for (i64 i = first; i < n; i += n_groups) {
        const int label = labels[i];
        if (label < 0) continue;
        const int begin = starts[label], end = starts[label + 1];
        if (begin == end || is_listed[i]) continue;
        const u64 key = keys[i];
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
extern "C" __global__ void __launch_bounds__(256) label_attracted(
    const ROW* points, i64 n, int d, const u64* keys, const u64* ties, u64 low,
    const double* own_centers, const int* slots, const Turn* since, const int* wishes,
    const double* centers, const double* offsets, const double* scales, int* labels, int* listed,
    int* n_listed) {
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kWidth;
    for (i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kWidth; i < n; i += n_groups) {
        const int wish = wishes[i], label = labels[i];
        if (wish < 0 || label < 0) continue;
        const u64 key = keys[i];
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

// What each row pays for the slot it chose: lambda for a new one.
extern "C" __global__ void __launch_bounds__(256) chosen_costs(
    const ROW* points, i64 n, int d, const int* choices, const double* centers, const double* offsets,
    const double* scales, double new_penalty, double* costs) {
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kWidth;
    for (i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kWidth; i < n; i += n_groups) {
        const int k = choices[i];
        double cost = new_penalty;
        if (k >= 0) {
            ChoosingRow row;
            row.load(points, i, d);
            cost = cost_of(offsets[k], scales[k], row.squared_distance(centers, k, d));
        }
        if (threadIdx.x % kWidth == 0) costs[i] = cost;
    }
}

// The distance of each row to each center.
extern "C" __global__ void __launch_bounds__(256) all_distances(const ROW* points, i64 n, int d,
                                                                const double* centers, int n_slots,
                                                                double* found) {
    const i64 n_groups = (i64)gridDim.x * blockDim.x / kWidth;
    for (i64 e = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / kWidth; e < n * n_slots; e += n_groups) {
        ChoosingRow row;
        row.load(points, e / n_slots, d);
        const double square = row.squared_distance(centers, e % n_slots, d);
        if (threadIdx.x % kWidth == 0) found[e] = __dsqrt_rn(square);
    }
}
