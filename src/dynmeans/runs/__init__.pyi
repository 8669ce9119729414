from dynmeans.follow.model_config import ModelConfig as ModelConfig
from dynmeans.runs.analysis.profiles import describe_clusters as describe_clusters
from dynmeans.runs.configuration import RunConfig as RunConfig
from dynmeans.runs.export.export_labels import export_labels as export_labels
from dynmeans.runs.reading.sources.reading_options import ReadingOptions as ReadingOptions
from dynmeans.runs.reading.sources.source import Source as Source
from dynmeans.runs.reading.window import Window as Window
from dynmeans.runs.reading.window import WindowOptions as WindowOptions
from dynmeans.runs.reading.windows import Windows as Windows
from dynmeans.runs.run import Run as Run

__all__: list[str]
