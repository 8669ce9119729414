"""A finished run for the commands that read one."""

import pytest
import run_cases


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A run over thirty windows; to be read, not to be changed."""
    folder = tmp_path_factory.mktemp("runs")
    run_cases.moving_table(30).to_parquet(folder / "moving.parquet", index=False)
    run_cases.follow(folder / "moving.parquet", folder / "run")
    return folder / "run"
