"""The settings that the committed search found, for the studies that begin from them."""

from functools import cache

from paper.results_file import RESULTS, read_results
from paper.synthetic.config import SyntheticConfig
from paper.synthetic.summary import settings_of
from paper.synthetic.tasks import FOUND, Settings


@cache
def found_settings(noise: str, origin: str = FOUND) -> Settings:
    """Return the setting of every method: the paper's, or the one of the committed search."""
    path = RESULTS / f"synthetic-{noise}-full.parquet"
    config = SyntheticConfig.of_size("full", noise=noise)
    return settings_of(config, read_results(path, "synthetic").frame, origin)
