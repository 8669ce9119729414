"""dynmeans report and dynmeans demo, as called from a shell."""

import base64
import json

import pytest

from dynmeans.cli.__main__ import main

TABLE = """at,x,y,ship
1,0.0,0.0,a
1,9.0,9.0,b
2,0.1,0.0,a
2,9.1,9.0,b
3,9.2,9.0,b
"""


@pytest.fixture
def run_folder(tmp_path, capsys):
    """A run over three windows of a small table."""
    table = tmp_path / "ships.csv"
    table.write_text(TABLE)
    folder = str(tmp_path / "run")
    options = ["--time", "at", "--every", "1", "-f", "x,y", "--new-penalty", "1", "-o", folder]
    assert main(["cluster", str(table), *options, "--quiet"]) == 0
    capsys.readouterr()
    return folder


def page_data(path):
    text = path.read_text()
    return json.loads(text.split('id="report-data">')[1].split("</script>")[0])


def test_report_writes_one_page_and_names_it(run_folder, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", run_folder, "-o", str(page)]) == 0
    assert str(page) in capsys.readouterr().out
    assert page_data(page)["title"] == "Clusters of ships.csv"


def test_report_tells_machines_what_it_wrote(run_folder, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", run_folder, "-o", str(page), "--truth", "ship", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["file"] == str(page)
    assert told["n_bytes"] == page.stat().st_size
    assert (told["n_batches"], told["n_points"], told["n_clusters"]) == (3, 5, 2)
    assert told["scores"]["accuracy_global"] == 1.0


def test_report_draws_the_axes_asked_for(run_folder, tmp_path):
    page = tmp_path / "page.html"
    assert main(["report", run_folder, "-o", str(page), "--axes", "time, y"]) == 0
    assert page_data(page)["initial_axes"] == [-1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--axes", "x"], "--axes must be two names with a comma between, got 'x'"),
        (["--axes", "x,z"], "--axes: y must be one of x, y or time, got 'z'"),
        (["-o", "nowhere/page.html"], "--output must be in an existing folder"),
        (["-o", "/"], "--output must be a file, not a folder, got '/'"),
        (["--truth", "captain"], "captain"),
    ],
)
def test_report_refuses_what_is_not_there(run_folder, tmp_path, capsys, options, message):
    page = tmp_path / "page.html"
    assert main(["report", run_folder, "-o", str(page), *options]) == 1
    assert message in capsys.readouterr().err
    assert not page.exists()


def test_report_of_no_run_is_an_error_in_one_line(tmp_path, capsys):
    assert main(["report", str(tmp_path / "nothing")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("dynmeans: error: ")
    assert error.count("\n") == 1


def test_the_demo_does_the_whole_job_and_ends_by_naming_the_report(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / "demo")]) == 0
    report = tmp_path / "demo" / "report.html"
    assert capsys.readouterr().out.splitlines()[-1] == str(report)
    packed = page_data(report)
    happened = base64.b64decode(packed["chunks"][0]["events"]["kinds"])
    kinds = {packed["event_kinds"][row] for row in happened}
    assert {"born", "vanished", "returned", "forgotten"} <= kinds
    assert packed["n_clusters"] >= 10
    labels = (tmp_path / "demo" / "labels.csv").read_text().splitlines()
    stream = (tmp_path / "demo" / "ships.csv").read_text().splitlines()
    assert len(labels) == len(stream) > 10_000
    assert "cluster_id" in labels[0]


@pytest.mark.slow
def test_the_demo_can_be_made_again_and_gives_the_same_page(tmp_path, capsys):
    pages = []
    for _ in range(2):
        assert main(["demo", "--output", str(tmp_path), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        pages.append((tmp_path / "report.html").read_bytes())
    assert pages[0] == pages[1]
    assert told["scores"]["accuracy_global"] > 0.88


def test_the_demo_leaves_a_folder_of_other_things_alone(tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("ten years of work")
    assert main(["demo", "--output", str(tmp_path)]) == 1
    assert "'thesis.txt', which the demo did not make" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_report_describes_clusters_by_columns_of_the_input(run_folder, tmp_path):
    page = tmp_path / "page.html"
    assert main(["report", run_folder, "-o", str(page), "--describe", "ship"]) == 0
    told = page_data(page)["descriptions"]
    assert {text for texts in told.values() for text in texts if text.startswith("ship:")} == {
        "ship: a",
        "ship: b",
    }


def test_report_takes_families_and_who_is_confirmed(run_folder, tmp_path):
    page = tmp_path / "page.html"
    shown = ["--families", "--min-batches", "3", "--min-cluster-size", "2"]
    assert main(["report", run_folder, "-o", str(page), *shown]) == 0
    data = page_data(page)
    assert data["families"]["level"] > 0.0
    assert data["confirmed"] == {"min_cluster_size": 2.0, "min_batches": 3}


def test_report_confirms_as_the_run_was_told_when_it_was_made(run_folder, tmp_path):
    page, strict = tmp_path / "page.html", str(tmp_path / "strict")
    options = ["--time", "at", "--every", "1", "-f", "x,y", "--new-penalty", "900", "-q"]
    more = ["--min-batches", "3", "-o", strict]
    assert main(["cluster", str(tmp_path / "ships.csv"), *options, *more]) == 0
    assert main(["report", strict, "-o", str(page)]) == 0
    assert page_data(page)["confirmed"] == {"min_cluster_size": 1.0, "min_batches": 3}
    assert main(["report", strict, "-o", str(page), "--min-batches", "2"]) == 0
    assert page_data(page)["confirmed"]["min_batches"] == 2


def test_report_shows_two_runs_side_by_side(run_folder, tmp_path, capsys):
    page, coarse = tmp_path / "page.html", tmp_path / "coarse"
    options = ["--time", "at", "--every", "1", "-f", "x,y", "--new-penalty", "900", "-q"]
    assert main(["cluster", str(tmp_path / "ships.csv"), *options, "-o", str(coarse)]) == 0
    assert main(["report", run_folder, "-o", str(page), "--compare-with", str(coarse)]) == 0
    other = json.loads(page.read_text().split('id="report-data-compare">')[1].split("</script>")[0])
    assert page_data(page)["title"] == "Clusters of ships.csv, run"
    assert (other["title"], other["n_clusters"]) == ("Clusters of ships.csv, coarse", 1)


def test_a_run_to_show_beside_must_be_there(run_folder, tmp_path, capsys):
    assert main(["report", run_folder, "--compare-with", str(tmp_path / "none")]) != 0
    assert "is not a run folder" in capsys.readouterr().err


def test_the_ships_of_the_demo_are_followed_as_getting_started_says(tmp_path, capsys):
    assert main(["demo", "--ships", "--output", str(tmp_path)]) == 0
    assert "13,151 positions of 33 ships" in capsys.readouterr().out
    words = f"--time time --every 2min --features lon,lat --truth ship --output {tmp_path}/run"
    assert main(["cluster", str(tmp_path / "ships.csv"), *words.split()]) == 0
    capsys.readouterr()
    assert main(["score", str(tmp_path / "run"), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert round(scores["accuracy_per_step"], 2) == 0.95
    assert round(scores["accuracy_global"], 2) == 0.87
