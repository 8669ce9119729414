"""The page on which a file is clustered in the browser alone."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from report_pages import PHONE, Page
from selenium.webdriver.support.ui import WebDriverWait
from typer.testing import CliRunner

from dynmeans import DynamicMeans
from dynmeans.cli.app import app_for
from dynmeans.report import browser_page
from dynmeans.spaces.globe import find_seam

CENTERS = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])


@pytest.fixture(scope="module")
def try_path(tmp_path_factory):
    return browser_page.write_browser_page(tmp_path_factory.mktemp("try") / "try.html")


@pytest.fixture
def page(driver, try_path):
    shown = Page(driver)
    shown.show_as()
    shown.open(try_path)
    return shown


@pytest.fixture(scope="module")
def rows():
    """Three still clouds, a minute apart for half an hour."""
    rng = np.random.default_rng(2)
    return [
        {
            "when": f"2026-05-01 10:{minute:02}:{i:02}",
            "east": round(float(place[0]), 3),
            "north": round(float(place[1]), 3),
            "note": f'a "quoted", word {i}',
            "sensor_id": i % 3,
        }
        for minute in range(30)
        for i, place in enumerate(np.repeat(CENTERS, 6, axis=0) + rng.normal(size=(18, 2)) * 0.4)
    ]


def give(page, path):
    page.find("#try-file").send_keys(str(path))
    settle(page)


def settle(page):
    """Wait until the clusters are shown, or the page says why not."""
    done = "!document.getElementById('try-labels').hidden || document.querySelector('.is-problem')"
    WebDriverWait(page.driver, 30).until(lambda driver: driver.execute_script(f"return {done}"))


def write_csv(rows, path):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_json_lines(rows, path):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_parquet(rows, path):
    pq.write_table(pa.Table.from_pylist(rows), path, compression=path.stem)
    return path


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (write_csv, "a.csv"),
        (write_json_lines, "a.jsonl"),
        *((write_parquet, f"{codec}.parquet") for codec in ("snappy", "zstd", "gzip", "none")),
    ],
)
def test_a_file_is_followed_with_what_is_proposed(page, rows, tmp_path, try_path, write, name):
    give(page, write(rows, tmp_path / name))
    assert page.text("#try-said").startswith("540 rows in 30 windows: 3 clusters.")
    checked = page.run(
        "return [...document.querySelectorAll('#try-features input:checked')]"
        ".map((box) => box.value)"
    )
    assert checked == ["east", "north"]
    assert page.find("#try-time").get_attribute("value") == "when"
    sent = [at for at in page.requests() if not at.startswith(("blob:", "data:", "about:"))]
    assert set(sent) <= {try_path.as_uri()}
    assert page.messages() == []


def test_labels_are_those_of_the_package_with_the_settings_that_are_copied(page, rows, tmp_path):
    give(page, write_csv(rows, tmp_path / "a.csv"))
    page.run(
        "URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; });"
        "return 'data:text/csv,'; }; document.getElementById('try-labels').click();"
    )
    page.wait("window.saved !== undefined")
    saved = list(csv.DictReader(io.StringIO(page.run("return window.saved"))))
    assert [row["note"] for row in saved] == [row["note"] for row in rows]
    settings = page.run(
        "return document.querySelector('iframe').contentWindow.dynmeansReport.store.header.engine"
    )
    names = ("new_penalty", "max_gap", "reach", "motion", "random_state")
    model = DynamicMeans(**{name: settings[name] for name in names})
    windows = {}
    for row in rows:
        windows.setdefault(row["when"][:16], []).append((row["east"], row["north"]))
    labels, _ = model.fit_sequence(list(windows.values()))
    assert [int(row["cluster_id"]) for row in saved] == np.concatenate(labels).tolist()


def test_other_windows_can_be_asked_for(page, rows, tmp_path):
    give(page, write_csv(rows, tmp_path / "a.csv"))
    page.run(
        "document.getElementById('try-every').value = '5min';"
        "document.getElementById('try-said').textContent = '';"
        "document.getElementById('try-labels').hidden = true;"
        "document.getElementById('try-form').requestSubmit();"
    )
    settle(page)
    assert page.text("#try-said").startswith("540 rows in 6 windows")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\nx,y\n", "a.csv has no column of numbers to cluster."),
        ("a,b\n", "could not be read: the file has no rows below its first line."),
        ('{"a": 1\n', "could not be read"),
        ("a,b,a\n1,2,3\n", 'two columns are named "a": rename one'),
        ('a,b\n1,2\n3,"4\n5,6\n7,8\n', "a quote that opens in line 3 is never closed"),
        ('a,b\n1,"x"y\n2,z\n', "line 2 has text behind a closing quote"),
        ('a,b\n1,"x\ny"\n2,"x"y\n', "line 4 has text behind a closing quote"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 values, and the first line has 2"),
        ("a,b\n1,2\n3\n", "line 3 has 1 value, and the first line has 2"),
        (
            "when,x\n01/02/2024,1\n02/02/2024,2\n",
            'the dates of "when", such as 01/02/2024, may begin with the day or the month',
        ),
        ("when,x\n01.02.2024 10:00,1\n02.02.2024,2\n", "may begin with the day or the month"),
    ],
)
def test_a_file_that_cannot_be_taken_is_refused_in_one_line(page, tmp_path, text, said):
    path = tmp_path / "a.csv"
    path.write_text(text)
    give(page, path)
    assert said in page.text("#try-said")


def test_rows_without_a_number_are_counted_and_left_out(page, rows, tmp_path):
    holes = [dict(row, east="" if k % 54 == 0 else row["east"]) for k, row in enumerate(rows)]
    give(page, write_csv(holes, tmp_path / "a.csv"))
    assert page.text("#try-said").startswith("530 rows")


def test_the_examples_work_on_a_phone(page):
    page.show_as(PHONE)
    page.find("#try-blobs").click()
    settle(page)
    assert "6 clusters" in page.text("#try-said")
    assert page.run("return document.documentElement.scrollWidth") <= PHONE[0]


@pytest.mark.parametrize("name", ["browser-page", "try"])
def test_the_command_writes_the_page(tmp_path, name):
    path = tmp_path / "page.html"
    words = [name, "-o", str(path)]
    done = CliRunner().invoke(app_for(words), words)
    assert done.exit_code == 0, done.output
    assert 300_000 < path.stat().st_size < 1_500_000


def test_a_map_is_cut_open_where_no_row_is_not_at_the_date_line(page, tmp_path):
    rng = np.random.default_rng(0)
    places = [
        {"when": f"2026-05-01 10:{minute:02}:00", "lon": lon, "lat": round(float(lat), 3)}
        for minute in range(30)
        for lat in rng.normal(-17, 0.3, 8)
        for lon in (178.5, -179.0)
    ]
    give(page, write_csv(places, tmp_path / "fiji.csv"))
    axis = page.run(
        "return document.querySelector('iframe').contentWindow.dynmeansReport.store.header.axes[0]"
    )
    values = [place["lon"] for place in places]
    assert axis["seam"] == pytest.approx(find_seam(np.array(values), 360.0))
    assert axis["start"] == -180


@pytest.mark.parametrize(
    ("first", "last", "none"),
    [
        ("{day:02}/05/2026", "31/05/2026", "31/04/2026"),
        ("05/{day:02}/2026", "05/31/2026", "04/31/2026"),
        ("2026-05-{day:02}", "2026-05-31", "2026-04-31"),
    ],
)
def test_dates_are_read_in_the_one_order_that_fits_and_impossible_days_are_left_out(
    page, tmp_path, first, last, none
):
    days = [first.format(day=day) for day in range(1, 31) for _ in range(4)] + [last] * 4
    lines = ["when,x,y", *(f"{day},{9 * (k % 2)},0" for k, day in enumerate(days)), f"{none},0,0"]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines) + "\n")
    give(page, path)
    told = page.text("#try-said")
    assert told.startswith("124 rows in 31 windows")
    assert "1 row without a number or a date left out" in told
