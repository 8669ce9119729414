"""One self-contained HTML page from a History, its points and its scores."""

from dynmeans.report.build import report_data
from dynmeans.report.data import ReportData
from dynmeans.report.page import render_report, write_report

__all__ = ["ReportData", "render_report", "report_data", "write_report"]
