from dynmeans.records.group_states import GroupStates as GroupStates
from dynmeans.scale.anytime.fit_anytime import anytime_results as anytime_results
from dynmeans.scale.anytime.fit_anytime import fit_anytime as fit_anytime
from dynmeans.scale.anytime.result import AnytimeResult as AnytimeResult
from dynmeans.scale.groups.fit_groups import GroupResult as GroupResult
from dynmeans.scale.groups.fit_groups import fit_groups as fit_groups
from dynmeans.scale.groups.key_seeds import seed_of_key as seed_of_key

__all__: list[str]
