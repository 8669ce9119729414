"""The files of deploy/: each is loaded, and names only numbers and options that there are."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
import yaml

from dynmeans import Run
from dynmeans.runs import ModelConfig, RunConfig, Window
from dynmeans.serve.metrics import metrics_text

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


@pytest.fixture
def metrics(tmp_path):
    config = RunConfig(("x",), ModelConfig(new_penalty=1.0, random_state=0))
    with Run.create(tmp_path / "run", config) as run:
        run.process([Window([[0.0], [5.0]], name="2026-03-01T00:00:00+00:00")])
        return metrics_text(run, 0).decode()


def test_counters_are_counters_and_lag_and_alerts_are_there(metrics):
    kinds = dict(re.findall(r"# TYPE (\w+) (\w+)", metrics))
    assert kinds["dynmeans_rows_total"] == kinds["dynmeans_alerts_total"] == "counter"
    assert kinds["dynmeans_late_rows_total"] == kinds["dynmeans_dead_letters_total"] == "counter"
    assert kinds["dynmeans_event_time_lag_seconds"] == kinds["dynmeans_active_clusters"] == "gauge"
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


def container_lines():
    """The instructions of the container, each with its text, in order."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in lines]


def test_the_container_installs_extras_that_there_are():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = container_lines()
    installed = [text for word, text in lines if word == "RUN" and "pip" in text]
    assert len(installed) == 2
    for text in installed:
        extras = re.search(r"\[([\w,]+)\]", text)[1].split(",")
        assert set(extras) <= set(project["optional-dependencies"])
        assert "--no-cache-dir" in text
    assert json.loads(lines[-1][1])[0] in project["scripts"]


def test_the_container_is_made_of_what_there_is_and_runs_as_nobody_special():
    lines, stages = container_lines(), []
    for word, text in lines:
        if word == "FROM":
            image, *name = text.split()
            assert re.fullmatch(r"python:3\.\d+(-slim)?", image), "a tag is given, not the latest"
            stages += name[1:]
        if word == "COPY":
            source = text.split()[-2]
            assert (ROOT / source).exists() or any(f"--from={name}" in text for name in stages)
    words = [word for word, _ in lines]
    assert words[-4:] == ["USER", "VOLUME", "STOPSIGNAL", "ENTRYPOINT"]
    assert dict(lines)["USER"] not in ("root", "0")
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv"} <= set(ignored), "what COPY . takes along"


@pytest.mark.slow
def test_the_wheel_of_the_container_is_built_and_answers_in_a_scratch_environment(tmp_path):
    words = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
    words += ["-C", f"build-dir={tmp_path / 'objects'}"]
    words += ["-C", "cmake.define.DYNMEANS_INSTRUCTION_SETS=native"]  # the container has them all
    subprocess.run([*words, "-w", str(tmp_path / "wheels"), str(ROOT)], check=True, timeout=900)
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    found = ["--no-deps", "--no-index", "--find-links", str(tmp_path / "wheels"), "dynmeans"]
    subprocess.run([python, "-m", "pip", "install", "-q", *found], check=True, timeout=300)
    command = str(tmp_path / "venv" / "bin" / "dynmeans")
    told = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout.startswith("dynmeans ")
