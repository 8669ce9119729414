"""Files of names: what is written is what is read, whatever a spreadsheet would make of it."""

import pytest

from dynmeans.runs.export.name_files import read_names, write_names


@pytest.mark.parametrize("name", ["=A1", "'=A1", "''@x", "tug", "'tis", "-5", "+1(x)", "", "'"])
def test_a_name_comes_back_as_it_was(name, tmp_path):
    write_names({7: name}, tmp_path / "names.csv")
    assert read_names(tmp_path / "names.csv") == {7: name}


def test_no_cell_is_a_formula(tmp_path):
    write_names({7: "=A1"}, tmp_path / "names.csv")
    assert "7,'=A1" in (tmp_path / "names.csv").read_text()
