import pytest
from tiny_experiment import tiny_config

from paper.synthetic.experiment import run_synthetic


@pytest.fixture(scope="session")
def results_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("synthetic") / "tiny.parquet"
    run_synthetic(tiny_config(), path)
    return path
