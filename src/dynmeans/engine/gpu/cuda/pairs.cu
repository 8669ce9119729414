// Rows in doubt after a filter, and the slots that may be their cheapest: exact costs of those pairs.

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
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n;
         p += (i64)gridDim.x * blockDim.x) {
        const bool opens = __longlong_as_double((i64)lowest[p]) > new_penalty;
        const int at = listed[p];
        wishes[at] = opens ? -1 : slots[p];
        if (!bounds) continue;
        // Bits that are no cost stand for none: a row without a second pair.
        const double other = second[p] == ~0ull ? 3e38 : __longlong_as_double((i64)second[p]);
        const double least = opens ? 0.0 : fmin(other, widen(floors[p]));
        bounds[rows ? rows[at] : at] = (float)((sqrt(least) + drift) * (1.0 - 1e-6));
    }
}
