"""Chunks on a GPU, told apart; what handles them is loaded only where there are some."""

import importlib
from typing import Any

from dynmeans.engine.device_input import is_on_device

__all__ = ["find_device", "is_on_device"]


def find_device() -> Any:
    """Return the module that takes and opens chunks on a device."""
    return importlib.import_module("dynmeans.engine.gpu.part_rows")
