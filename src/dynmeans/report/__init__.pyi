from dynmeans.report.build import report_data as report_data
from dynmeans.report.data import ReportData as ReportData
from dynmeans.report.render_page import render_report as render_report
from dynmeans.report.render_page import write_report as write_report

__all__: list[str]
