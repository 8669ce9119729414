import os

import pytest

from dynmeans.records.whole_file import whole_file


def test_file_is_replaced_when_all_is_written(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with whole_file(path) as temporary:
        with open(temporary, "w") as file:
            file.write("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


def test_file_stays_as_it_was_when_writing_fails(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(IsADirectoryError), whole_file(path):
        raise IsADirectoryError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]
