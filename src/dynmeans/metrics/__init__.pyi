from dynmeans.metrics.accuracy import accuracy_frozen as accuracy_frozen
from dynmeans.metrics.accuracy import accuracy_global as accuracy_global
from dynmeans.metrics.accuracy import accuracy_per_step as accuracy_per_step
from dynmeans.metrics.agreement import ari_global as ari_global
from dynmeans.metrics.agreement import ari_per_step as ari_per_step
from dynmeans.metrics.identity import HotaScores as HotaScores
from dynmeans.metrics.identity import fragmentations as fragmentations
from dynmeans.metrics.identity import hota as hota
from dynmeans.metrics.identity import id_switches as id_switches
from dynmeans.metrics.identity import idf1 as idf1
from dynmeans.metrics.report import tracking_report as tracking_report

__all__: list[str]
