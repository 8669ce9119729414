"""The files of deploy/: each is loaded, and names only numbers and options that there are."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from dynmeans import Run
from dynmeans.runs import Recipe, RunConfig, Window
from dynmeans.serve.metrics import metrics_text

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


@pytest.fixture
def metrics(tmp_path):
    config = RunConfig(("x",), Recipe(new_penalty=1.0, random_state=0))
    with Run.create(tmp_path / "run", config) as run:
        run.process([Window([[0.0], [5.0]], name="2026-03-01T00:00:00+00:00")])
        return metrics_text(run, 0).decode()


def test_counters_are_counters_and_lag_and_alerts_are_there(metrics):
    kinds = dict(re.findall(r"# TYPE (\w+) (\w+)", metrics))
    assert kinds["dynmeans_rows_total"] == kinds["dynmeans_alerts_total"] == "counter"
    assert kinds["dynmeans_late_rows_total"] == kinds["dynmeans_dead_letters_total"] == "counter"
    assert kinds["dynmeans_event_time_lag_seconds"] == kinds["dynmeans_clusters"] == "gauge"
    assert 'dynmeans_rows_total{run="run"} 2.0' in metrics
    assert not any(name.endswith("_total") for name, kind in kinds.items() if kind == "gauge")


def test_dashboard_and_rules_name_numbers_that_are_there(metrics):
    board = json.loads((DEPLOY / "grafana.json").read_text())
    rules = yaml.safe_load((DEPLOY / "prometheus-rules.yml").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    known = set(re.findall(r"^(dynmeans_\w+)", metrics, re.MULTILINE))
    named = {name for text in asked for name in re.findall(r"dynmeans_\w+", text)}
    assert len(named) > 10
    assert named <= known


def test_the_unit_of_systemd_is_sound(tmp_path):
    unit = (DEPLOY / "dynmeans.service").read_text()
    assert "Restart=on-failure" in unit
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd is not installed")
    (tmp_path / "dynmeans.service").write_text(
        unit.replace("/opt/dynmeans/bin/dynmeans", "/bin/true")
    )
    words = [verify, "verify", str(tmp_path / "dynmeans.service")]
    told = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert "dynmeans.service:" not in told.stderr


def test_the_container_installs_extras_that_there_are():
    text = (DEPLOY / "Dockerfile").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = re.search(r"dynmeans\[([\w,]+)\]", text)[1].split(",")
    assert set(extras) <= set(project["optional-dependencies"])
    words = [line.split()[0] for line in text.splitlines() if line and not line.startswith(" ")]
    assert words == ["FROM", "RUN", "USER", "VOLUME", "STOPSIGNAL", "ENTRYPOINT"]
