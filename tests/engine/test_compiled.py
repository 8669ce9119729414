"""CPU dispatch takes the widest module that is both built and runnable."""

import pytest

from dynmeans.engine import compiled


@pytest.fixture
def machine(monkeypatch):
    """Pretend to be a machine that runs up to some instruction set, with some modules built."""

    def pretend(widest, built):
        modules = {compiled.INSTRUCTION_SETS[name] for name in built}
        monkeypatch.setattr(compiled._native_cpu, "instruction_set", lambda: widest)
        monkeypatch.setattr(compiled, "find_spec", lambda name: name if name in modules else None)

    return pretend


def test_a_machine_takes_the_widest_module_it_can_run(machine):
    machine("avx2", built=["baseline", "avx2", "avx512"])
    assert compiled.usable_instruction_sets() == ["baseline", "avx2"]


def test_a_build_for_this_machine_alone_needs_no_baseline(machine):
    machine("avx512", built=["avx512"])
    assert compiled.usable_instruction_sets() == ["avx512"]


def test_a_module_that_was_not_built_is_passed_over(machine):
    machine("avx512", built=["baseline", "avx2"])
    assert compiled.usable_instruction_sets() == ["baseline", "avx2"]


def test_a_build_for_wider_machines_is_refused_by_name(machine):
    machine("avx2", built=["avx512"])
    with pytest.raises(ImportError, match=r"this one runs baseline and avx2\. Build it here"):
        compiled.usable_instruction_sets()


def test_every_module_that_this_machine_runs_was_built_for_the_tests():
    names = list(compiled.INSTRUCTION_SETS)
    runnable = names[: names.index(compiled._native_cpu.instruction_set()) + 1]
    assert compiled.usable_instruction_sets() == runnable
