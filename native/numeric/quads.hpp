// Four doubles side by side on every machine, and the lowest of them without a branch.
#pragma once

#include <cstdint>
#include <cstring>

#include "numeric/simd.hpp"

namespace dynmeans {

#if defined(DYNMEANS_PLAIN_LANES)
using Quad = ScalarSimd<double, 4>;
#else
using Quad [[gnu::vector_size(4 * sizeof(double))]] = double;
#endif

inline Quad load_quad(const double* from) {
    Quad values;
    std::memcpy(&values, from, sizeof values);
    return values;
}

inline double lowest_of_quad(const Quad& values) {
#if defined(DYNMEANS_PLAIN_LANES)
    const double a = values[0] < values[2] ? values[0] : values[2];
    const double b = values[1] < values[3] ? values[1] : values[3];
    return a < b ? a : b;
#else
    Quad other = __builtin_shufflevector(values, values, 2, 3, 0, 1);
    const Quad lowest = values < other ? values : other;
    other = __builtin_shufflevector(lowest, lowest, 1, 0, 3, 2);
    return (lowest < other ? lowest : other)[0];
#endif
}

struct LowestOfQuad {
    double value;
    std::int32_t id;  // the lowest of those that have it
};

inline LowestOfQuad lowest_of_quad(const Quad& values, const std::int32_t* ids) {
#if defined(DYNMEANS_PLAIN_LANES)
    LowestOfQuad found{values[0], ids[0]};
    for (std::size_t lane = 1; lane < 4; ++lane)
        if (values[lane] < found.value || (values[lane] == found.value && ids[lane] < found.id))
            found = {values[lane], ids[lane]};
    return found;
#else
    using Ids [[gnu::vector_size(4 * sizeof(std::int32_t))]] = std::int32_t;
    Quad other = __builtin_shufflevector(values, values, 2, 3, 0, 1);
    Quad lowest = values < other ? values : other;
    other = __builtin_shufflevector(lowest, lowest, 1, 0, 3, 2);
    lowest = lowest < other ? lowest : other;
    Ids having;
    std::memcpy(&having, ids, sizeof having);
    having = __builtin_convertvector(values == lowest, Ids) ? having : having - having + INT32_MAX;
    const Ids turned = __builtin_shufflevector(having, having, 2, 3, 0, 1);
    having = having < turned ? having : turned;
    return {lowest[0], having[0] < having[1] ? having[0] : having[1]};
#endif
}

}  // namespace dynmeans
