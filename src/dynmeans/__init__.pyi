from dynmeans import datasets as datasets
from dynmeans import metrics as metrics
from dynmeans import parameters as parameters
from dynmeans import plots as plots
from dynmeans import report as report
from dynmeans import runs as runs
from dynmeans import scale as scale
from dynmeans import spark as spark
from dynmeans.engine.guard import ClusterGrowthWarning as ClusterGrowthWarning
from dynmeans.engine.guard import ClusterLimitError as ClusterLimitError
from dynmeans.engine.step import step as step
from dynmeans.estimators.ddp_mixture import DDPMixture as DDPMixture
from dynmeans.estimators.dp_means import DPMeans as DPMeans
from dynmeans.estimators.dynamic_means import DynamicMeans as DynamicMeans
from dynmeans.estimators.river_clusterer import RiverDynamicMeans as RiverDynamicMeans
from dynmeans.estimators.tuning import TuningResult as TuningResult
from dynmeans.estimators.tuning import tune as tune
from dynmeans.families.find import find_families as find_families
from dynmeans.follow.memory import Memory as Memory
from dynmeans.follow.recipe import Recipe as Recipe
from dynmeans.parameters.suggest import suggest_details as suggest_details
from dynmeans.parameters.suggest import suggest_penalties as suggest_penalties
from dynmeans.records.events import Event as Event
from dynmeans.records.families import Families as Families
from dynmeans.records.history import History as History
from dynmeans.records.orders import VisitingOrders as VisitingOrders
from dynmeans.records.penalties import Penalties as Penalties
from dynmeans.records.state import Clustering as Clustering
from dynmeans.records.state import ClusterState as ClusterState
from dynmeans.runs.one_call.cluster import RowsLeftOutWarning as RowsLeftOutWarning
from dynmeans.runs.one_call.cluster import cluster as cluster
from dynmeans.runs.one_call.clustered_rows import ClusteredRows as ClusteredRows
from dynmeans.runs.run import Run as Run
from dynmeans.scale.anytime.fit_anytime import fit_anytime as fit_anytime
from dynmeans.scale.groups.fit_groups import fit_groups as fit_groups

__version__: str
__all__: list[str]
