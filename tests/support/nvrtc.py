"""NVIDIA's run-time compiler, from its wheel: it needs no GPU and no driver."""

import ctypes
from importlib.resources import files
from pathlib import Path


def find_compiler():
    """Return the library, or None where the wheel is not installed."""
    try:
        homes = list(files("nvidia").iterdir())
    except ModuleNotFoundError:
        return None
    found = [path for home in homes for path in Path(str(home)).glob("lib/libnvrtc.so.*")]
    return ctypes.CDLL(str(found[0])) if found else None


def compile_kernels(library, source, options):
    """Compile to machine code; return whether that succeeded, and the log with resources used."""
    return _compile(library, source, options)[:2]


def to_assembly(library, source, options):
    """Compile to NVIDIA's portable assembly."""
    succeeded, log, assembly = _compile(library, source, options)
    assert succeeded, log
    return assembly


def _compile(library, source, options):
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None)
    encoded = [option.encode() for option in options]
    code = library.nvrtcCompileProgram(
        program, len(encoded), (ctypes.c_char_p * len(encoded))(*encoded)
    )
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcGetPTXSize(program, ctypes.byref(size))
    assembly = ctypes.create_string_buffer(size.value)
    library.nvrtcGetPTX(program, assembly)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return code == 0, log.value.decode(), assembly.value.decode()
