"""Arrays on a device are told apart without any library for one."""

import sys

import numpy as np
import pytest

from dynmeans.engine.batch import prepare_batch
from dynmeans.engine.device_input import device_engine, is_on_device
from dynmeans.engine.execution import Execution


class _Array:
    """Speaks DLPack from a device of some kind."""

    def __init__(self, kind):
        self.kind = kind

    def __dlpack_device__(self):
        return self.kind, 0


class _Old:
    __cuda_array_interface__ = ()


@pytest.mark.parametrize("array", [_Array(2), _Array(13), _Old()], ids=["cuda", "managed", "old"])
def test_arrays_of_a_cuda_device_lie_on_a_device(array):
    assert is_on_device(array)


@pytest.mark.parametrize("array", [_Array(1), np.ones((2, 2)), [[1.0]], None, "rows"])
def test_everything_else_does_not(array):
    assert not is_on_device(array)


@pytest.mark.parametrize("way", ["batch", "backend"])
def test_a_missing_library_is_named_with_the_way_to_get_it(way, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    for name in [name for name in sys.modules if name.startswith("dynmeans.engine.gpu.backend")]:
        monkeypatch.delitem(sys.modules, name)
    if "cupy" in sys.modules and sys.modules["cupy"] is not None:
        pytest.skip("CuPy is loaded")
    with pytest.raises(ModuleNotFoundError, match=r"needs cupy: pip install 'dynmeans\[gpu\]'"):
        prepare_batch(_Array(2)) if way == "batch" else Execution("gpu").load()


def test_a_batch_on_a_device_is_not_run_by_the_reference():
    with pytest.raises(ValueError, match="backend must be native or gpu"):
        device_engine(Execution("reference"))
