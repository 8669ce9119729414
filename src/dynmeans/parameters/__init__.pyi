from dynmeans.parameters.selection import suggest as suggest
from dynmeans.parameters.selection import suggest_penalties as suggest_penalties
from dynmeans.records.penalties import Penalties as Penalties
from dynmeans.records.suggestion import Candidate as Candidate
from dynmeans.records.suggestion import Suggestion as Suggestion
from dynmeans.records.suggestion import SuggestionWarning as SuggestionWarning

__all__: list[str]
