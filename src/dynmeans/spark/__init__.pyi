from dynmeans.spark.labeling import assign_udf as assign_udf
from dynmeans.spark.micro_batches import foreach_batch as foreach_batch

__all__: list[str]
