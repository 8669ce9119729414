from dynmeans.anytime.fit_anytime import fit_anytime as fit_anytime
from dynmeans.anytime.fit_anytime import iter_anytime as iter_anytime
from dynmeans.anytime.result import AnytimeResult as AnytimeResult

__all__: list[str]
