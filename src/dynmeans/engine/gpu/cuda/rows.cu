// One look at every row: magnitudes, hashes, stretches of the visiting order, labels.

// Bits of the largest |y| of each feature; of the lightest and the heaviest weight. Threads keep
// one column each: their number is a multiple of the features.
extern "C" __global__ void magnitudes(const ROW* points, i64 begin, i64 n, int d,
                                      const double* weights, u64* farthest, u64* range) {
    const i64 n_threads = (i64)gridDim.x * blockDim.x / d * d;
    const i64 first = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= n_threads) return;
    double most = 0.0, lightest = kInfinity, heaviest = 0.0;
    const int column = (int)(first % d);
    for (i64 e = begin * d + first; e < n * d; e += n_threads) {
        const double y = fabs(widen(points[e]));
        if (weights) {
            const double w = weights[e / d];
            if (!(w > 0.0)) continue;
            lightest = fmin(lightest, w);
            heaviest = fmax(heaviest, w);
        }
        most = fmax(most, y);
    }
    atomicMax(farthest + column, (u64)__double_as_longlong(most));
    if (!weights) return;
    atomicMin(range, (u64)__double_as_longlong(lightest));
    atomicMax(range + 1, (u64)__double_as_longlong(heaviest));
}

// The place of the first value that is beyond `most` or no number at all.
extern "C" __global__ void first_bad(const ROW* values, i64 n, double most, u64* first) {
    for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n; e += (i64)gridDim.x * blockDim.x)
        if (!(fabs(widen(values[e])) <= most)) {
            atomicMin(first, (u64)e);
            return;
        }
}

extern "C" __global__ void widen_values(const ROW* values, i64 n, double* wide) {
    for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n; e += (i64)gridDim.x * blockDim.x)
        wide[e] = widen(values[e]);
}

// The bits of a value; -0.0 has those of 0.0.
__device__ __forceinline__ u64 bits_of(double value) {
    return (u64)__double_as_longlong(__dadd_rn(value, 0.0));
}

// Two hashes of each row (decision 0005): of its content, and, for rows of equal keys, of its
// content and weight.
extern "C" __global__ void hash_rows(const ROW* points, i64 begin, i64 n, int d,
                                     const u64* multipliers, const double* weights, u64* hashes,
                                     u64* ties) {
    for (i64 i = begin + (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (i64)gridDim.x * blockDim.x) {
        u64 hash = 0, tie = mix(bits_of(weights ? weights[i] : 1.0));
        for (int j = 0; j < d; ++j) {
            const u64 bits = bits_of(widen(points[i * d + j]));
            hash += (bits ^ (bits >> 32)) * multipliers[j];
            tie = mix((tie ^ bits) + 0x9E3779B97F4A7C15ull);
        }
        hashes[i] = hash;
        ties[i] = tie;
    }
}

extern "C" __global__ void mix_keys(const u64* hashes, i64 n, u64 key, u64* keys) {
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (i64)gridDim.x * blockDim.x)
        keys[i] = mix(hashes[i] ^ key);
}

// Rows that take part, of all or of those in `among`, with a key from `low` to below `high`.
extern "C" __global__ void __launch_bounds__(256) select_rows(const int* among, i64 n, const u64* keys,
                                                              const double* weights, u64 low,
                                                              u64 high, int* listed, int* n_listed) {
    Gathered<> gathered;
    for (i64 first = (i64)blockIdx.x * 256; first < n; first += (i64)gridDim.x * 256) {
        const i64 p = first + threadIdx.x, i = among && p < n ? among[p] : p;
        const u64 key = p < n ? keys[i] : 0;
        const bool wants = p < n && key >= low && key < high && (!weights || weights[i] > 0.0);
        gathered.add(wants, (int)i, 0, listed, nullptr, n_listed);
    }
    gathered.flush(listed, nullptr, n_listed);
}

// Rows of the slots that are asked for, up to a key of each.
extern "C" __global__ void __launch_bounds__(256) select_early(i64 n, const u64* keys,
                                                               const int* labels, const u8* is_asked,
                                                               const u64* limits, int* listed,
                                                               int* n_listed) {
    Gathered<> gathered;
    for (i64 first = (i64)blockIdx.x * 256; first < n; first += (i64)gridDim.x * 256) {
        const i64 i = first + threadIdx.x;
        const int label = i < n ? labels[i] : -1;
        const bool wants = label >= 0 && is_asked[label] && keys[i] <= limits[label];
        gathered.add(wants, (int)i, 0, listed, nullptr, n_listed);
    }
    gathered.flush(listed, nullptr, n_listed);
}

// Labels rows from key `low` on by what they found, unless that would open or revive a cluster. A
// bound on the costs of other slots holds beside the slot that was found: it goes where the label
// is another.
extern "C" __global__ void __launch_bounds__(256) label_rest(
    i64 n, const u64* keys, const double* weights, u64 low, const int* wishes,
    const u8* is_inactive, int* labels, int* listed, int* n_listed, float* bounds) {
    Gathered<> gathered;
    for (i64 first = (i64)blockIdx.x * 256; first < n; first += (i64)gridDim.x * 256) {
        const i64 i = first + threadIdx.x;
        const bool is_rest = i < n && keys[i] >= low && (!weights || weights[i] > 0.0);
        const int wish = i < n ? wishes[i] : 0;
        const bool proposes = is_rest && (wish < 0 || is_inactive[wish]);
        if (is_rest && !proposes) labels[i] = wish;
        if (bounds && i < n && labels[i] != wish) bounds[i] = 0.f;
        gathered.add(proposes, (int)i, 0, listed, nullptr, n_listed);
    }
    gathered.flush(listed, nullptr, n_listed);
}

extern "C" __global__ void rename_labels(i64 n, const int* renamed, int* labels) {
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (i64)gridDim.x * blockDim.x)
        if (labels[i] >= 0) labels[i] = renamed[labels[i]];
}

// Indices into a list of the rows that open or revive a cluster.
extern "C" __global__ void find_proposers(const int* choices, int n, const u8* is_inactive, int* listed,
                                          int* n_listed) {
    const i64 n_threads = (i64)gridDim.x * blockDim.x;
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += n_threads) {
        const bool wants = choices[p] < 0 || is_inactive[choices[p]];
        const int at = reserve(wants, n_listed);
        if (wants) listed[at] = (int)p;
    }
}

// A row whose choice may be an event: its turn, its place in a list, its slot before and the choice.
struct Chooser {
    u64 key, tie;
    int row, place, label, choice;
};

extern "C" __global__ void tell_choosers(const int* rows, const int* choices, int n, const u64* keys,
                                         const u64* ties, const int* labels, const u8* is_inactive,
                                         const u8* all_left, int n_start, Chooser* found, int most,
                                         int* n_found) {
    const i64 n_threads = (i64)gridDim.x * blockDim.x;
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n; p += n_threads) {
        const int i = rows[p], choice = choices[p], label = labels[i];
        bool wants = choice < 0 || is_inactive[choice];
        if (all_left) {
            wants |= all_left[label];
            if (choice >= 0 && choice < n_start) wants |= all_left[choice];
        }
        const int at = reserve(wants, n_found);
        if (wants && at < most)
            found[at] = {keys[i], ties ? ties[i] : 0, i, (int)p, label, choice};
    }
}

// Counts rows that leave each slot, and that choose another version; the last counts new clusters.
// Counters are in shared memory where there is room. How many rows are listed is known here or in memory.
extern "C" __global__ void __launch_bounds__(256) count_moves(const int* rows, const int* choices,
                                                              int n_known, const int* n_listed,
                                                              const int* labels, int n_choices,
                                                              int is_shared, u64* counts) {
    extern __shared__ u32 here[];
    const int n = n_listed ? *n_listed : n_known, n_counts = 2 * n_choices + 1;
    if ((i64)blockIdx.x * blockDim.x >= n) return;
    if (is_shared) {
        for (int k = threadIdx.x; k < n_counts; k += blockDim.x) here[k] = 0;
        __syncthreads();
    }
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n;
         p += (i64)gridDim.x * blockDim.x) {
        const int choice = choices[p], label = labels[rows[p]];
        if (choice == label) continue;
        const int joined = n_choices + (choice < 0 ? n_choices : choice);
        if (is_shared) {
            atomicAdd(here + label, 1u);
            atomicAdd(here + joined, 1u);
        } else {
            atomicAdd(counts + label, 1ull);
            atomicAdd(counts + joined, 1ull);
        }
    }
    if (!is_shared) return;
    __syncthreads();
    for (int k = threadIdx.x; k < n_counts; k += blockDim.x)
        if (here[k]) atomicAdd(counts + k, (u64)here[k]);
}

// Listed rows, or all that have a label, that wish for another slot than their own.
extern "C" __global__ void __launch_bounds__(256) list_moves(const int* rows, i64 n,
                                                             const int* labels, const int* wishes,
                                                             int* moved, int* moved_to,
                                                             int* n_moved) {
    Gathered<> gathered;
    for (i64 first = (i64)blockIdx.x * 256; first < n; first += (i64)gridDim.x * 256) {
        const i64 p = first + threadIdx.x;
        const int i = p >= n ? 0 : rows ? rows[p] : (int)p, wish = p < n ? wishes[p] : 0;
        gathered.add(p < n && labels[i] >= 0 && labels[i] != wish, i, wish, moved, moved_to, n_moved);
    }
    gathered.flush(moved, moved_to, n_moved);
}

// Labels rows by the slots of the versions they chose, or by their choices where `slots` is null, but
// for those that open one; `before` and `after` tell who moved.
extern "C" __global__ void relabel(const int* rows, const int* choices, int n, const int* slots,
                                   int* labels, int* before, int* after) {
    for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < n;
         p += (i64)gridDim.x * blockDim.x) {
        const int i = rows[p], choice = choices[p], label = labels[i];
        if (choice < 0) continue;
        const int slot = slots ? slots[choice] : choice;
        const bool has_moved = label != slot;
        labels[i] = slot;
        if (!before) continue;
        before[p] = has_moved ? label : -1;
        after[p] = has_moved ? slot : -1;
    }
}

// Listed rows, one after the other, as doubles.
extern "C" __global__ void gather_rows(const ROW* points, int d, const int* rows, i64 n, double* found) {
    for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n * d; e += (i64)gridDim.x * blockDim.x)
        found[e] = widen(points[(i64)rows[e / d] * d + e % d]);
}
