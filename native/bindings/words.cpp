// Word vectors for Python: tables that are changed in place, rows that are made.
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <vector>

#include "bindings/arrays.hpp"
#include "words/company.hpp"

namespace dynmeans::bindings {

using namespace nb::literals;
using namespace words;

namespace {

using Signs = Given<const std::uint8_t, 2>;
using Sums = Given<std::int32_t, 2>;
using Counts = Given<std::int64_t, 1>;

Texts texts_of(const Ints& starts, const Ints& numbers, const Floats& parts) {
    return {starts.data(), numbers.data(), parts.data(), starts.size() - 1};
}

Company company_of(const Signs& signs, const Sums& sums, const Counts& n_texts,
                   const Counts& total) {
    return {signs.data(), sums.data(), n_texts.data(), total.data()};
}

std::int64_t learn_company(Ints starts, Ints numbers, Floats parts, Signs signs, Sums sums,
                           Counts n_texts, Counts total) {
    const Texts texts = texts_of(starts, numbers, parts);
    const Company known = company_of(signs, sums, n_texts, total);
    nb::gil_scoped_release release;
    return learn(texts, known);
}

Column<double> company_squares(Signs signs, Sums sums, Counts n_texts, Counts total, Ints numbers) {
    const Company known = company_of(signs, sums, n_texts, total);
    std::vector<double> squares(numbers.size());
    write_squares(known, numbers.data(), numbers.size(), squares.data());
    return column(std::move(squares));
}

Rows<float> word_directions(Signs signs, Sums sums, Counts n_texts, Counts total,
                            std::int64_t n_rests, Ints numbers, Floats shares) {
    const Company known = company_of(signs, sums, n_texts, total);
    std::vector<float> found(numbers.size() * kWidth);
    write_directions(known, n_rests, numbers.data(), shares.data(), numbers.size(), found.data());
    return rows(std::move(found), numbers.size(), kWidth);
}

Rows<float> text_rows(Ints starts, Ints numbers, Floats parts, Table<float> directions) {
    const Texts texts = texts_of(starts, numbers, parts);
    std::vector<float> found(texts.n_texts * kWidth);
    write_rows(texts, directions.data(), found.data());
    return rows(std::move(found), texts.n_texts, kWidth);
}

}  // namespace

void bind_words(nb::module_& module) {
    module.def("learn_company", &learn_company, "starts"_a, "words"_a, "parts"_a, "signs"_a,
               "company"_a, "n_texts"_a, "total"_a);
    module.def("company_squares", &company_squares, "signs"_a, "company"_a, "n_texts"_a, "total"_a,
               "words"_a);
    module.def("word_directions", &word_directions, "signs"_a, "company"_a, "n_texts"_a, "total"_a,
               "n_rests"_a, "words"_a, "shares"_a);
    module.def("text_rows", &text_rows, "starts"_a, "words"_a, "parts"_a, "directions"_a);
}

}  // namespace dynmeans::bindings
