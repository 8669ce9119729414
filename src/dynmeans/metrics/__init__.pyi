from dynmeans.metrics.accuracy import accuracy_frozen as accuracy_frozen
from dynmeans.metrics.accuracy import accuracy_global as accuracy_global
from dynmeans.metrics.accuracy import accuracy_per_step as accuracy_per_step
from dynmeans.metrics.agreement import ami_global as ami_global
from dynmeans.metrics.agreement import ami_per_step as ami_per_step
from dynmeans.metrics.agreement import ari_global as ari_global
from dynmeans.metrics.agreement import ari_per_step as ari_per_step
from dynmeans.metrics.identity import HotaScores as HotaScores
from dynmeans.metrics.identity import fragmentations as fragmentations
from dynmeans.metrics.identity import hota as hota
from dynmeans.metrics.identity import id_switches as id_switches
from dynmeans.metrics.identity import idf1 as idf1
from dynmeans.metrics.report import tracking_report as tracking_report
from dynmeans.metrics.without_truth import life_times as life_times
from dynmeans.metrics.without_truth import quality_report as quality_report
from dynmeans.metrics.without_truth import silhouettes as silhouettes
from dynmeans.metrics.without_truth import stability as stability

__all__: list[str]
