"""Spaces of packages that others write come by an entry point."""

import json
import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "examples" / "space"
CODE = """
import json, numpy as np
from dynmeans import DynamicMeans
from dynmeans.follow.memory import Memory
rows = np.array([[1.0], [1.2], [100.0], [130.0]])
model = DynamicMeans(new_penalty=1.0, space="ratios", random_state=0).fit(rows)
model.memory_.save("memory.npz")
again = DynamicMeans.from_memory(
    Memory.load("memory.npz"), new_penalty=1.0, space="ratios", random_state=0
)
try:
    again.predict(np.array([[-1.0]]))
except ValueError as error:
    refused = str(error)
labels = again.predict(np.array([[110.0], [1.1]])).tolist()
centers = model.cluster_centers_.round(2).tolist()
print(json.dumps([model.labels_.tolist(), labels, centers, refused]))
"""


def test_the_space_of_an_installed_package_is_known_by_its_name(tmp_path):
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    alone = ["--no-build-isolation", "--no-deps", "--no-index", "--target", str(site)]
    subprocess.run([*pip, *alone, str(PACKAGE)], check=True, cwd=tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    fitted, predicted, centers, refused = json.loads(done.stdout)
    assert fitted[0] == fitted[1] != fitted[2] == fitted[3]
    assert predicted == [fitted[2], fitted[0]]
    assert sorted(centers) == [[1.1], [114.02]]  # geometric means
    assert refused == "space 'ratios' needs values above 0, got -1.0."
