from dynmeans.groups.fit import GroupResult as GroupResult
from dynmeans.groups.fit import fit_groups as fit_groups
from dynmeans.groups.key_seeds import key_seed as key_seed
from dynmeans.records.group_states import GroupStates as GroupStates

__all__: list[str]
