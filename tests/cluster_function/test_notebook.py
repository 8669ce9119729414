"""A messy file to a named cluster and an inline report: in a real kernel and a real browser."""

import re
from pathlib import Path

import nbformat
import pytest
from browser import find_browser, open_browser
from nbclient import NotebookClient
from report_pages import Page
from selenium.webdriver.support.ui import WebDriverWait

EXAMPLES = Path(__file__).parents[2] / "examples"
CODE = compile((EXAMPLES / "messy_csv.py").read_text(encoding="utf-8"), "messy_csv.py", "exec")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the file, as the notebook finds it."""
    folder = tmp_path_factory.mktemp("notebook")
    names = {"__name__": "messy_csv"}
    exec(CODE, names)
    names["write_messy_csv"](folder / "messy.csv")
    return folder


@pytest.fixture(scope="module")
def notebook(folder):
    """The notebook, executed by a kernel."""
    notebook = nbformat.read(EXAMPLES / "messy_csv.ipynb", as_version=4)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}})
    return client.execute()


def outputs(notebook, kind):
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    found = [out.get("data", {}) for cell in cells for out in cell.outputs]
    return [data[kind] for data in found if kind in data]


def test_the_file_is_messy(folder):
    data = (folder / "messy.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfwhen;ship;lon;lat;note\r\n")
    lines = data.decode("utf-8-sig").splitlines()[1:]
    forms = (r"\d\d\.\d\d\.\d{4} ", r"\d{4}-\d\d-\d\d ", r"\d{4}-\d\d-\d\dT", r"\d\d/\d\d/\d{4} ")
    assert all(any(re.match(form, line) for line in lines) for form in forms)
    assert any(re.search(r";\d,\d+;\d\d,\d+;", line) for line in lines)
    assert len(set(lines)) < len(lines)
    assert any(";NA;" in line for line in lines)
    assert any(";;" in line for line in lines)


def test_the_notebook_has_at_most_twelve_lines():
    notebook = nbformat.read(EXAMPLES / "messy_csv.ipynb", as_version=4)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert len("\n".join(sources).splitlines()) <= 12


def test_labels_names_and_a_figure_are_shown_and_rows_left_out_are_told(notebook):
    told = "".join(
        out.text for cell in notebook.cells for out in cell.get("outputs", []) if "text" in out
    )
    assert "16 rows were left out and have no label: 15 without a value for lon" in told
    labels, *_ = outputs(notebook, "text/plain")
    assert re.findall(r" (\d+)$", labels, flags=re.MULTILINE) == ["298", "296", "291", "16"]
    described, summary, _ = outputs(notebook, "text/html")
    assert re.search(r"<th>0</th>\s*<td>0</td>.*?TUG 17", described, flags=re.DOTALL)
    assert "<td>TUG 17</td>" in summary
    assert len(outputs(notebook, "image/png")) == 1


def test_the_report_plays_within_the_notebook(notebook, tmp_path):
    *_, report = outputs(notebook, "text/html")
    path = tmp_path / "cell.html"
    path.write_text(f"<!DOCTYPE html><title>Notebook</title>{report}", encoding="utf-8")
    with open_browser(find_browser(), tmp_path / "browser") as driver:
        page = Page(driver)
        page.show_as()
        page.open(path)
        driver.switch_to.frame(page.find("iframe"))
        page.settle()
        assert page.text("#scene-title") == "1 Mar 2026, 10:50 · 3 clusters · 30 points"
        assert any("TUG 17" in text for text in page.texts("body"))
        assert page.messages() == []


def test_another_scale_is_tried_within_the_notebook(notebook, tmp_path):
    *_, report = outputs(notebook, "text/html")
    path = tmp_path / "cell.html"
    path.write_text(f"<!DOCTYPE html><title>Notebook</title>{report}", encoding="utf-8")
    with open_browser(find_browser(), tmp_path / "browser") as driver:
        page = Page(driver)
        page.show_as()
        page.open(path)
        driver.switch_to.frame(page.find("iframe"))
        page.settle()
        page.click("#trial summary")
        driver.execute_script(
            "const field = document.querySelector('#trial-distance'); field.value = '50';"
            "field.dispatchEvent(new Event('input')); field.dispatchEvent(new Event('change'));"
        )
        WebDriverWait(driver, 20).until(lambda _: "· 1 cluster ·" in page.text("#scene-title"))
        assert page.find("#trial-mark").is_displayed()
        assert page.messages() == []


SLOW = """
import dynmeans, numpy as np, pandas as pd
from dynmeans.cluster_function import notebook
notebook._MOMENT = notebook._BETWEEN = 0.0
frame = pd.DataFrame({"t": np.arange(600) // 10, "x": np.arange(600) % 2 * 9.0})
dynmeans.cluster(frame, time="t", every=1, features="x", penalties=1.0, sample_size=3).status.n_rows
"""


def test_a_bar_moves_in_the_cell_and_is_gone_at_the_end():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SLOW)])
    seen = []

    class Client(NotebookClient):
        def process_message(self, msg, cell, cell_index):
            seen.append(msg)
            return super().process_message(msg, cell, cell_index)

    Client(notebook, timeout=120).execute()
    told = [m["content"]["data"]["text/html"] for m in seen if "display" in m["msg_type"]]
    assert any('<progress value="300" max="600">' in text for text in told)
    assert told[-1] == ""
    assert notebook.cells[0].outputs[-1]["data"]["text/plain"] == "600"
