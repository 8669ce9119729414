"""A temporary folder that lasts as long as the object that needs it."""

import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

from dynmeans.files.stale_files import hold, sweep

_NAMES = re.compile(r"dynmeans-call-\w+")


class ScratchFolder:
    """A folder that is removed with this object; the next removes those of killed processes."""

    def __init__(self) -> None:
        sweep(Path(tempfile.gettempdir()), _NAMES)
        self.path = Path(tempfile.mkdtemp(prefix="dynmeans-call-"))
        weakref.finalize(self, _remove, str(self.path), hold(self.path))


def _remove(folder: str, handle: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(handle)
