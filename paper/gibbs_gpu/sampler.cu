// native/mixture/gibbs.hpp for points of two features, one warp a chain: the same draws of the same
// random numbers, up to the last bit of exp and log. Lane l holds slots l * J to l * J + J - 1.
// No exponent needs the best one taken off: a new cluster's chance keeps their sum above 0.
typedef unsigned long long u64;
typedef unsigned short u16;

#define ALL 0xffffffffu
#define INFINITE __longlong_as_double(0x7ff0000000000000ll)
// Wider lanes hold their slots in memory.
constexpr int UNROLLED = J <= 8 ? J : 1;
#define UNLABELED 0xffffu

struct Random {
    u64 words[4];

    __device__ explicit Random(u64 seed) {
        for (u64& word : words) {
            seed += 0x9E3779B97F4A7C15ull;
            u64 mixed = seed;
            mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ull;
            mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
            word = mixed ^ (mixed >> 31);
        }
    }

    __device__ static u64 rotate_left(u64 x, int by) { return (x << by) | (x >> (64 - by)); }

    __device__ double uniform() {
        const u64 result = rotate_left(words[0] + words[3], 23) + words[0];
        const u64 shifted = words[1] << 17;
        words[2] ^= words[0];
        words[3] ^= words[1];
        words[1] ^= words[2];
        words[0] ^= words[3];
        words[2] ^= shifted;
        words[3] = rotate_left(words[3], 45);
        return (double)(result >> 11) * 0x1.0p-53;
    }

    __device__ double2 normals() {
        double a, b, s;
        do {
            a = 2.0 * uniform() - 1.0;
            b = 2.0 * uniform() - 1.0;
            s = a * a + b * b;
        } while (s >= 1.0 || s == 0.0);
        const double scale = sqrt(-2.0 * log(s) / s);
        return make_double2(a * scale, b * scale);
    }
};

// What one batch of one chain is drawn from.
struct Prior {
    int n_old;
    const double *log_weights, *past_counts, *variances;
    const double2* means;
    double log_new_weight, noise_variance, new_variance, new_mean;

    __device__ double variance(int k) const { return k < n_old ? variances[k] : new_variance; }
    __device__ double2 mean(int k) const {
        return k < n_old ? means[k] : make_double2(new_mean, new_mean);
    }
    __device__ double log_weight(int k) const {
        return k < n_old ? log_weights[k] : log_new_weight;
    }
    __device__ double opening_factor(int k) const {
        return log_weight(k) - log((noise_variance + variance(k)) / noise_variance);
    }
};

// The slots of one lane.
struct Slots {
    double2 at[J], sums[J];
    double log_factors[J], scales[J], past[J], counts[J];

    __device__ void vacate(int j, int k, const Prior& prior) {
        log_factors[j] = -INFINITE;
        scales[j] = 0.0;
        at[j] = make_double2(0.0, 0.0);
        if (k >= prior.n_old) return;
        at[j] = prior.mean(k);
        scales[j] = 0.5 / (prior.noise_variance + prior.variances[k]);
        log_factors[j] = prior.opening_factor(k);
    }

    __device__ void draw_parameter(int j, int k, double n, double2 sum, double2 normal,
                                   const Prior& prior) {
        const double v = prior.variance(k), sigma = prior.noise_variance;
        const double gain = n * v / (sigma + n * v), deviation = sqrt(gain * sigma / n);
        const double2 m = prior.mean(k);
        at[j].x = m.x + gain * (sum.x / n - m.x) + deviation * normal.x;
        at[j].y = m.y + gain * (sum.y / n - m.y) + deviation * normal.y;
        scales[j] = 0.5 / sigma;
        log_factors[j] = 0.0;
    }

    __device__ double density(int j, double2 y) const {
        const double dx = y.x - at[j].x, dy = y.y - at[j].y;
        return exp(log_factors[j] - scales[j] * (dx * dx + dy * dy));
    }

    __device__ double weight(int j) const { return counts[j] > 0.0 ? past[j] + counts[j] : 1.0; }
};

__device__ double sum_of_lanes(double value) {
    for (int by = 16; by; by /= 2) value += __shfl_xor_sync(ALL, value, by);
    return value;
}

__device__ double sum_up_to_lane(double value, int lane) {
    for (int by = 1; by < 32; by *= 2) {
        const double before = __shfl_up_sync(ALL, value, by);
        if (lane >= by) value += before;
    }
    return value;
}

// Draws a label; returns the slot with bit 16 set if it has no points, -1 if none is free.
__device__ int draw_slot(const Slots& slots, const double* densities, double opening,
                         double uniform, int lane, int n_old) {
    double chances[J], sum = 0.0;
    int is_free = J;  // the lane's first free slot
#pragma unroll UNROLLED
    for (int j = 0; j < J; ++j) {
        chances[j] = slots.weight(j) * densities[j];
        sum += chances[j];
        if (is_free == J && lane * J + j >= n_old && slots.counts[j] == 0.0) is_free = j;
    }
    const double inclusive = sum_up_to_lane(sum, lane);
    double exclusive = __shfl_up_sync(ALL, inclusive, 1);
    if (lane == 0) exclusive = 0.0;
    const double total = __shfl_sync(ALL, inclusive, 31) + opening;
    const double left = uniform * total - opening;
    if (left < 0.0) {
        const unsigned lanes = __ballot_sync(ALL, is_free < J);
        if (!lanes) return -1;
        const int owner = __ffs(lanes) - 1;
        return (owner * J + __shfl_sync(ALL, is_free, owner)) | 1 << 16;
    }
    double rest = left - exclusive;
    int mine = 0;
    bool is_done = false;
#pragma unroll UNROLLED
    for (int j = 0; j < J; ++j) {
        if (is_done || chances[j] == 0.0) continue;
        mine = j | (slots.counts[j] == 0.0) << 16;
        rest -= chances[j];
        is_done = rest < 0.0;
    }
    const unsigned lanes = __ballot_sync(ALL, left < inclusive);
    const int owner = lanes ? __ffs(lanes) - 1 : 31 - __clz(__ballot_sync(ALL, sum > 0.0));
    return owner * J + __shfl_sync(ALL, mine, owner);
}

// log posterior of the labels, up to a constant of the batch.
__device__ double log_posterior(const Slots& slots, const Prior& prior, double squares, int lane) {
    double total = 0.0, explained = 0.0;
    const double sigma = prior.noise_variance;
#pragma unroll UNROLLED
    for (int j = 0; j < J; ++j) {
        const double n = slots.counts[j];
        if (n == 0.0) continue;
        const int k = lane * J + j;
        const double2 m = prior.mean(k);
        const double x = slots.sums[j].x / n, y = slots.sums[j].y / n;
        const double dx = x - m.x, dy = y - m.y, spread = sigma + n * prior.variance(k);
        explained += n * (x * x + y * y);
        total += prior.log_weight(k) + lgamma(slots.past[j] + n) - lgamma(slots.past[j] + 1.0) -
                 0.5 * n * (dx * dx + dy * dy) / spread - log(spread / sigma);
    }
    return sum_of_lanes(total) - 0.5 * (squares - sum_of_lanes(explained)) / sigma;
}

// Labels with the new clusters numbered as they first appear.
__device__ void record(const u16* labels, u16* names, int n, int n_old, int lane, u16* out) {
    for (int k = lane; k < 32 * J; k += 32) names[k] = k < n_old ? k : UNLABELED;
    __syncwarp();
    int next = n_old;
    u16 mine = 0;
    for (int i = 0; i < n; ++i) {
        const int k = labels[i];
        int name = names[k];
        __syncwarp();
        if (name == UNLABELED) {
            name = next++;
            if (lane == 0) names[k] = name;
        }
        if ((i & 31) == lane) mine = name;
        if ((i & 31) == 31 || i == n - 1) {
            const int at = (i & ~31) + lane;
            if (at < n) out[at] = mine;
        }
        __syncwarp();
    }
}

extern "C" __global__ void __launch_bounds__(32)
    gibbs(const double2* points, const int* n_old, const double* log_weights,
          const double* past_counts, const double2* means, const double* variances,
          const double* log_new_weights, const double* noise_variances, double new_mean,
          double new_variance, const u64* seeds, int n, int n_samples, int thin, u16* samples,
          double* log_posteriors, int* is_full) {
    extern __shared__ double openings[];
    u16* const labels = (u16*)(openings + n);
    u16* const names = labels + n;
    const int chain = blockIdx.x, lane = threadIdx.x;
    const size_t row = (size_t)chain * 32 * J;
    const Prior prior{n_old[chain],           log_weights + row,      past_counts + row,
                      variances + row,        means + row,            log_new_weights[chain],
                      noise_variances[chain], new_variance,           new_mean};
    const double2* y = points + (size_t)chain * n;
    Random random(seeds[chain]);
    Slots slots;
#pragma unroll UNROLLED
    for (int j = 0; j < J; ++j) {
        slots.counts[j] = 0.0;
        slots.past[j] = lane * J + j < prior.n_old ? prior.past_counts[lane * J + j] : 0.0;
        slots.vacate(j, lane * J + j, prior);
    }
    double squares = 0.0;
    const double factor = prior.opening_factor(prior.n_old);
    const double scale = 0.5 / (prior.noise_variance + new_variance);
    for (int i = lane; i < n; i += 32) {
        const double dx = y[i].x - new_mean, dy = y[i].y - new_mean;
        openings[i] = exp(factor - scale * (dx * dx + dy * dy));
        labels[i] = UNLABELED;
        squares += y[i].x * y[i].x + y[i].y * y[i].y;
    }
    squares = sum_of_lanes(squares);
    __syncwarp();
    for (int sweep = 1; sweep <= n_samples * thin; ++sweep) {
#pragma unroll UNROLLED
        for (int j = 0; j < J; ++j) slots.sums[j] = make_double2(0.0, 0.0);
        // Densities of the next point are found while this one is drawn, but for slots that change.
        double2 next = y[0];
        double densities[J], ahead[J];
#pragma unroll UNROLLED
        for (int j = 0; j < J; ++j) ahead[j] = slots.density(j, next);
        for (int i = 0; i < n; ++i) {
            const double2 here = next;
            next = y[i + 1 < n ? i + 1 : i];
            const int last = labels[i];
#pragma unroll UNROLLED
            for (int j = 0; j < J; ++j) {
                densities[j] = ahead[j];
                if (last == lane * J + j) {
                    slots.counts[j] -= 1.0;
                    if (slots.counts[j] == 0.0) {
                        slots.vacate(j, last, prior);
                        densities[j] = slots.density(j, here);
                    }
                }
                ahead[j] = slots.density(j, next);
            }
            const int drawn = draw_slot(slots, densities, openings[i], random.uniform(), lane,
                                        prior.n_old);
            if (drawn < 0) {
                is_full[chain] = 1;
                return;
            }
            const int k = drawn & 0xffff;
            double2 normal = make_double2(0.0, 0.0);
            if (drawn >> 16) normal = random.normals();
#pragma unroll UNROLLED
            for (int j = 0; j < J; ++j)
                if (k == lane * J + j) {
                    if (drawn >> 16) {
                        slots.draw_parameter(j, k, 1.0, here, normal, prior);
                        ahead[j] = slots.density(j, next);
                    }
                    slots.counts[j] += 1.0;
                    slots.sums[j].x += here.x;
                    slots.sums[j].y += here.y;
                }
            if (lane == 0) labels[i] = k;
            __syncwarp();
        }
        double2 normals[J];
        unsigned taken[J];
#pragma unroll UNROLLED
        for (int j = 0; j < J; ++j) taken[j] = __ballot_sync(ALL, slots.counts[j] > 0.0);
        for (int owner = 0; owner < 32; ++owner)
#pragma unroll UNROLLED
            for (int j = 0; j < J; ++j)
                if (taken[j] >> owner & 1) {
                    const double2 drawn = random.normals();
                    if (lane == owner) normals[j] = drawn;
                }
        if (sweep % thin == 0) {
            const size_t sample = (size_t)chain * n_samples + sweep / thin - 1;
            record(labels, names, n, prior.n_old, lane, samples + sample * n);
            const double log_p = log_posterior(slots, prior, squares, lane);
            if (lane == 0) log_posteriors[sample] = log_p;
        }
#pragma unroll UNROLLED
        for (int j = 0; j < J; ++j)
            if (slots.counts[j] > 0.0)
                slots.draw_parameter(j, lane * J + j, slots.counts[j], slots.sums[j], normals[j],
                                     prior);
    }
}
