extern "C" __global__ void __launch_bounds__(kThreads, 1) filter(
    const ROW* points, i64 begin, i64 n, const int* rows, int d, const double* origin,
    const unsigned short* b, const float2* base_scale, int n_slots, int n_tile, int stride,
    const Bounds* largest, double new_penalty, float* bounds, double drift, int* wishes, int* listed,
    float* limits, float* floors, int* n_listed) {
    filter_rows<false>({points, begin, n, rows, d, origin, b, base_scale, n_slots, n_tile, stride, largest,
                        new_penalty, bounds, drift, wishes, listed, limits, floors, n_listed},
                       {});
}

// Lists, for rows in doubt, the slots that may be their cheapest; all rows if `listed` is null.
extern "C" __global__ void __launch_bounds__(kThreads, 1) filter_again(
    const ROW* points, i64 begin, i64 n, const int* rows, int d, const double* origin,
    const unsigned short* b, const float2* base_scale, int n_slots, int n_tile, int stride,
    const Bounds* largest, int* listed, float* limits, const float* lengths, int n_real, int2* pairs,
    int* n_pairs, int most_pairs) {
    filter_rows<true>({points, begin, n, rows, d, origin, b, base_scale, n_slots, n_tile, stride,
                       largest, 0.0, nullptr, 0.0, nullptr, listed, limits, nullptr, nullptr},
                      {lengths, n_real, pairs, n_pairs, most_pairs});
}
