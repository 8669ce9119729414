import os

import pytest

from dynmeans.files.atomic_write import atomic_write


def test_file_is_replaced_when_all_is_written(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with atomic_write(path) as temporary:
        with open(temporary, "w") as file:
            file.write("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_place_that_cannot_be_written_is_named_as_it_was_given(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "file"):
        with pytest.raises(OSError, match="directory") as error, atomic_write(path):
            pass
        assert error.value.filename == str(path)
    assert os.listdir(tmp_path) == []


def test_others_may_read_the_file_where_they_may_read_others(tmp_path):
    before = os.umask(0o022)
    try:
        with atomic_write(tmp_path / "file"):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


def test_file_stays_as_it_was_when_writing_fails(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(IsADirectoryError), atomic_write(path):
        raise IsADirectoryError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_permissions_of_the_old_file_are_kept(tmp_path, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    with atomic_write(path) as temporary:
        assert os.stat(temporary).st_mode & 0o777 == 0o600
        with open(temporary, "w") as file:
            file.write("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == mode


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "file", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with atomic_write(link) as temporary, open(temporary, "w") as file:
        file.write("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_links_that_go_round_are_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="symbolic links"), atomic_write(tmp_path / "a"):
        pass
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"), atomic_write(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_what_a_killed_writer_left_is_swept_and_what_a_living_one_writes_is_not(tmp_path):
    path = tmp_path / "file"
    dead, other = tmp_path / ".file.0123abcd", tmp_path / ".other.0123abcd"
    for left in (dead, other):
        left.write_text("half")
        os.utime(left, (0, 0))
    with atomic_write(path) as living:
        os.utime(living, (0, 0))
        with atomic_write(path):
            pass
        assert os.path.exists(living)
    assert sorted(os.listdir(tmp_path)) == [".other.0123abcd", "file"]
