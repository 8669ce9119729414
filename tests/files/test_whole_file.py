import os

import pytest

from dynmeans.files.whole_file import whole_file


def test_file_is_replaced_when_all_is_written(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with whole_file(path) as temporary:
        with open(temporary, "w") as file:
            file.write("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_place_that_cannot_be_written_is_named_as_it_was_given(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "file"):
        with pytest.raises(OSError, match="directory") as error, whole_file(path):
            pass
        assert error.value.filename == str(path)
    assert os.listdir(tmp_path) == []


def test_others_may_read_the_file_where_they_may_read_others(tmp_path):
    before = os.umask(0o022)
    try:
        with whole_file(tmp_path / "file"):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


def test_file_stays_as_it_was_when_writing_fails(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(IsADirectoryError), whole_file(path):
        raise IsADirectoryError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]
