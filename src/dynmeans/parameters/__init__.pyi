from dynmeans.parameters.suggest import suggest_details as suggest_details
from dynmeans.parameters.suggest import suggest_penalties as suggest_penalties
from dynmeans.records.penalties import Penalties as Penalties
from dynmeans.records.suggestion import Candidate as Candidate
from dynmeans.records.suggestion import Suggestion as Suggestion
from dynmeans.records.suggestion import SuggestionWarning as SuggestionWarning

__all__: list[str]
