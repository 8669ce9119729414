// How well a clustering describes its batches, for Python: arrays in, arrays out, the GIL released
// in between. The caller has checked shapes and values.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "numpy_arrays.hpp"
#include "tracks.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dynmeans {
namespace {

// starts, ids, counts, means, cell_of_row, squares and scatters (n_identities rows).
using CellArrays = std::tuple<Column<std::int64_t>, Column<std::int64_t>, Column<double>,
                              Rows<double>, Column<std::int64_t>, Column<double>, Rows<double>>;

Stream to_stream(const Table<double>& points, const Floats& weights, const Ints& starts) {
    return {points.data(), weights.data(), starts.data(), starts.shape(0) - 1, points.shape(1)};
}

CellArrays cells_of(Table<double> points, Floats weights, Ints starts, Ints labels,
                    std::size_t n_identities) {
    Cells cells;
    {
        nb::gil_scoped_release release;
        cells = gather_cells(to_stream(points, weights, starts), labels.data(), n_identities);
    }
    const std::size_t d = points.shape(1), n_cells = cells.ids.size();
    return {column(std::move(cells.starts)),
            column(std::move(cells.ids)),
            column(std::move(cells.counts)),
            rows(std::move(cells.means), n_cells, d),
            column(std::move(cells.cell_of_row)),
            column(std::move(cells.squares)),
            rows(std::move(cells.scatters), n_identities, cells.n_shaped * cells.n_shaped)};
}

double overlap_of(Table<double> points, Floats weights, Ints starts, Ints cell_starts,
                  Table<double> means, Floats log_shares, Ints cell_of_row, double scale,
                  double degrees) {
    nb::gil_scoped_release release;
    const auto copied = [](const auto& array) {
        return std::vector(array.data(), array.data() + array.size());
    };
    Cells cells;
    cells.starts = copied(cell_starts);
    cells.means = copied(means);
    cells.cell_of_row = copied(cell_of_row);
    return cell_overlap(to_stream(points, weights, starts), cells, copied(log_shares),
                        {scale, degrees});
}

}  // namespace

void bind_suggestion(nb::module_& module) {
    module.def("cells", &cells_of, "points"_a, "weights"_a, "starts"_a, "labels"_a,
               "n_identities"_a);
    module.def("overlap", &overlap_of, "points"_a, "weights"_a, "starts"_a, "cell_starts"_a,
               "means"_a, "log_shares"_a, "cell_of_row"_a, "scale"_a, "degrees"_a);
}

}  // namespace dynmeans
