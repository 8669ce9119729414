// A row in registers or in memory, and its exact distances in the specification's order of additions.
//
// Compiled with R: the features that each of eight threads keeps in registers, or 0 where rows are
// too wide for that and are read again for each center. FEW is the number of features up to 15, for
// which one thread holds a row and all running sums, and 0 above.

#if R > 0
struct Row {
    double y[R];
    __device__ __forceinline__ void load(const ROW* points, i64 i, int d, int lane) {
#pragma unroll
        for (int r = 0; r < R; ++r) y[r] = lane + 8 * r < d ? widen(points[i * d + lane + 8 * r]) : 0.0;
    }
    template <typename Value>
    __device__ __forceinline__ double sum(const Value* center, int d, int lane) const {
        double s = 0.0;
#pragma unroll
        for (int r = 0; r < R; ++r)
            if (r < R - 1 || lane + 8 * r < d) s = add_square(s, y[r], widen(center[lane + 8 * r]));
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
    template <typename Value>
    __device__ __forceinline__ double sum(const Value* center, int d, int lane) const {
        double s = 0.0;
        for (int j = lane; j < d; j += 8) s = add_square(s, widen(y[j]), widen(center[j]));
        return s;
    }
    template <int kCenters>
    __device__ __forceinline__ void sums(const double* centers, int d, int lane,
                                         double (&s)[kCenters]) const {
#pragma unroll
        for (int k = 0; k < kCenters; ++k) s[k] = 0.0;
        for (int j = lane; j < d; j += 8) {
            const double here = widen(y[j]);
#pragma unroll
            for (int k = 0; k < kCenters; ++k) s[k] = add_square(s[k], here, centers[k * d + j]);
        }
    }
};
#endif

#if FEW > 0
struct WholeRow {
    double y[FEW];
    __device__ __forceinline__ void load(const ROW* points, i64 i, int) {
#pragma unroll
        for (int j = 0; j < FEW; ++j) y[j] = widen(points[i * FEW + j]);
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
#endif

struct Best {
    double cost;
    int slot, version;
    __device__ __forceinline__ void consider(double c, int s, int v) {
        if (c < cost || (c == cost && s < slot)) { cost = c; slot = s; version = v; }
    }
};

#if FEW > 0
// Eight threads compare one row with eight versions at a time.
using ChoosingRow = WholeRow;
[[maybe_unused]] constexpr int kWidth = 1, kChoosing = 8;  // threads for one distance; that look at one row
#else
// 32 threads compare one row with four versions at a time.
[[maybe_unused]] constexpr int kWidth = 8, kChoosing = 32;
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
