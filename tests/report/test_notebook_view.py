"""A report in a notebook: the page in a real browser, with a model in place of the notebook's."""

from importlib.resources import files

import numpy as np
import pytest
from report_pages import Page

from dynmeans.cluster_function.view import ReportView
from dynmeans.inputs.input_error import InputError

HOST = """<!DOCTYPE html><meta charset="utf-8"><div id="out"></div>
<script type="text/plain" id="page">{page}</script>
<script type="module">
const text = document.getElementById("page").textContent;
const page = text.replaceAll("\\u0001", "<\\/script>");
const values = {{ page, height: 700, selection: null, wish: {{}} }};
const listeners = new Map();
window.model = {{
  values, get: (name) => values[name], save_changes() {{}},
  set: (name, value) => {{ values[name] = value; }},
  on: (name, callback) => listeners.set(name, callback), off() {{}},
  wish: (value) => {{ values.wish = value; listeners.get("change:wish")(); }},
}};
{esm}
render({{ model: window.model, el: document.getElementById("out") }});
</script>"""


@pytest.fixture
def host(driver, report_path, tmp_path):
    """A page with the report in a frame, as a notebook has it."""
    view = files("dynmeans.report").joinpath("page", "notebook", "view.js").read_text("utf-8")
    esm = view.replace("export default { render };", "")
    page = report_path.read_text().replace("</script>", "\u0001")
    path = tmp_path / "host.html"
    path.write_text(HOST.format(page=page, esm=esm))
    shown = Page(driver)
    shown.show_as()
    shown.open(path)
    shown.wait("window.model && document.querySelector('iframe')")
    shown.wait("model.values.selection !== null")
    return shown


def test_a_cluster_chosen_on_the_page_is_known_to_the_notebook(host):
    host.driver.switch_to.frame(0)
    host.click("#lives-1")
    host.driver.switch_to.default_content()
    host.wait("model.values.selection.clusters.length === 1")
    assert host.run("return model.values.selection") == {
        "clusters": [1],
        "members": [1],
        "rows": None,
    }


def test_the_notebook_chooses_a_cluster_and_the_page_moves_to_it(host):
    host.run("model.wish({ clusters: [3], step: 7, n: 1 })")
    host.wait("model.values.selection.clusters[0] === 3")
    host.driver.switch_to.frame(0)
    camera, step, center = host.run(
        "const {view, player} = dynmeansReport; const {batch} = view;"
        "return [view.camera, batch.step, player.scene.center(batch, [...batch.ids].indexOf(3))]"
    )
    host.driver.switch_to.default_content()
    assert step == 7
    assert camera["x"][0] < center[0] < camera["x"][1]
    assert camera["y"][1] - camera["y"][0] < 3.0, "of 6 between the clusters"


class FakeWidget:
    def __init__(self):
        self.selection, self.wish = {"clusters": [], "rows": None}, {}


def test_selected_has_the_rows_of_the_chosen_clusters():
    widget = FakeWidget()
    view = ReportView(widget, np.array([5, 3, 9]), lambda ids: np.array([1, 2]) * ids[0])
    widget.selection = {"clusters": [4], "rows": None}
    assert view.selected.cluster_ids == [4]
    assert view.selected.rows.tolist() == [4, 8]
    widget.selection = {"clusters": [], "rows": [0, 2, 1]}
    assert view.selected.rows.tolist() == [3, 5, 9]


def test_select_asks_the_page_anew_each_time():
    widget = FakeWidget()
    view = ReportView(widget, np.arange(3), lambda ids: np.arange(0))
    view.select(7)
    first = widget.wish
    view.select(7)
    assert first["clusters"] == widget.wish["clusters"] == [7]
    assert first != widget.wish


def test_a_view_without_anywidget_names_what_to_install():
    view = ReportView(None, np.arange(3), lambda ids: np.arange(0))
    with pytest.raises(InputError, match=r"Install dynmeans\[notebook\]"):
        _ = view.selected
