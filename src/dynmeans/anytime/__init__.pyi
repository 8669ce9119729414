from dynmeans.anytime.fit import fit_anytime as fit_anytime
from dynmeans.anytime.fit import iter_anytime as iter_anytime
from dynmeans.anytime.result import AnytimeResult as AnytimeResult

__all__: list[str]
