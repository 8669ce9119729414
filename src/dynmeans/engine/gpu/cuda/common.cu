// What all kernels share: turns, exact distances, lists and bins.
//
// Compiled with ROW (float or double: the type of the rows). Products and sums that must have the
// bits of the specification are written with __dmul_rn and __dadd_rn, which no compiler contracts.
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned char u8;

[[maybe_unused]] constexpr double kInfinity = 1.7976931348623157e308;  // above every cost that can be chosen
[[maybe_unused]] constexpr int kMostBins = 8;                          // that are kept in registers

// The value of a coordinate. A plain conversion would take a float below 1.2e-38 for 0: CuPy compiles with
// -ftz=true, which what is written in PTX does not follow.
__device__ __forceinline__ double widen(double y) { return y; }
[[maybe_unused]] __device__ __forceinline__ double widen(float y) {
    double wide;
    asm("cvt.f64.f32 %0, %1;" : "=d"(wide) : "f"(y));
    return wide;
}

struct Turn {
    u64 key, tie;
    i64 row;
};

__device__ __forceinline__ u64 mix(u64 key) {
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9ull;
    key = (key ^ (key >> 27)) * 0x94D049BB133111EBull;
    return key ^ (key >> 31);
}

// By key, then by tie, then by row: see host/turns.py.
__device__ __forceinline__ bool is_before(const Turn* a, u64 key, const u64* ties, i64 row) {
    if (a->key != key) return a->key < key;
    const u64 tie = ties ? ties[row] : 0;
    if (a->tie != tie) return a->tie < tie;
    return a->row < row;
}

__device__ __forceinline__ double add_square(double sum, double y, double center) {
    const double difference = __dsub_rn(y, center);
    return __dadd_rn(sum, __dmul_rn(difference, difference));
}

// Eight threads hold the eight running sums of a distance: added in halves, 0+4, then 0+2, 0+1.
__device__ __forceinline__ double add_in_halves(double sum, u32 mask) {
    sum = __dadd_rn(sum, __shfl_xor_sync(mask, sum, 4));
    sum = __dadd_rn(sum, __shfl_xor_sync(mask, sum, 2));
    return __dadd_rn(sum, __shfl_xor_sync(mask, sum, 1));
}

__device__ __forceinline__ double cost_of(double offset, double scale, double squared_distance) {
    return __dadd_rn(offset, __dmul_rn(scale, squared_distance));
}

// Of equal costs the lower slot's is taken.
__device__ __forceinline__ bool prefers(double cost, int slot, double own_cost, int own_slot) {
    return cost < own_cost || (cost == own_cost && slot < own_slot);
}

// A place at the end of a list for each thread that wants one; the order of a list has no meaning.
__device__ __forceinline__ int reserve(bool wants, int* n_listed) {
    const u32 active = __activemask(), asking = __ballot_sync(active, wants);
    if (!wants) return -1;
    const int lane = threadIdx.x & 31, leader = __ffs(asking) - 1;
    int first = 0;
    if (lane == leader) first = atomicAdd(n_listed, __popc(asking));
    return __shfl_sync(asking, first, leader) + __popc(asking & ((1u << lane) - 1));
}

// A warp's share of a list, gathered in shared memory: many threads that ask for places one by one
// would wait for each other. All threads of the warp take part; blocks have so many threads at most.
template <int kThreads = 256>
struct Gathered {
    static constexpr int kRoom = 96;
    int n = 0;

    // Pairs of a row and a choice.
    static __device__ __forceinline__ int2* mine() {
        __shared__ int2 shares[kThreads / 32][kRoom];
        return shares[threadIdx.x >> 5];
    }

    __device__ __forceinline__ void add(bool wants, int row, int choice, int* rows, int* choices,
                                        int* n_listed) {
        if (gather(wants, row, choice)) flush(rows, choices, n_listed);
    }

    // Returns whether the room is nearly full.
    __device__ __forceinline__ bool gather(bool wants, int row, int choice) {
        const u32 asking = __ballot_sync(~0u, wants);
        if (!asking) return false;
        const int lane = threadIdx.x & 31;
        if (wants) mine()[n + __popc(asking & ((1u << lane) - 1))] = make_int2(row, choice);
        n += __popc(asking);
        __syncwarp();
        return n > kRoom - 32;
    }

    __device__ __forceinline__ void flush(int* rows, int* choices, int* n_listed) {
        flush(n_listed, [&](int at, int2 pair) {
            rows[at] = pair.x;
            if (choices) choices[at] = pair.y;
        });
    }

    template <typename Write>
    __device__ __forceinline__ void flush(int* n_listed, const Write& write) {
        const int lane = threadIdx.x & 31;
        int first = 0;
        if (lane == 0 && n) first = atomicAdd(n_listed, n);
        first = __shfl_sync(~0u, first, 0);
        for (int q = lane; q < n; q += 32) write(first + q, mine()[q]);
        __syncwarp();
        n = 0;
    }
};

// Adds one term to bins in registers: every addition is exact, so any order gives the same bits.
__device__ __forceinline__ void add_to_bins(double term, const double* shifts, int stride,
                                            int n_bins, double* sums) {
#pragma unroll
    for (int b = 0; b < kMostBins; ++b)
        if (b < n_bins) {
            const double shift = shifts[b * stride];
            const double h = __dsub_rn(__dadd_rn(term, shift), shift);
            sums[b] = __dadd_rn(sums[b], h);
            term = __dsub_rn(term, h);
        }
}
