"""Alerts when windows are committed in groups, targets are dead or slow, and runs are stopped."""

import json
import socket
import sys
import threading
import time

import numpy as np
import pytest
from run_cases import CONFIG, FAR, NEAR, Hook, rules_file

from dynmeans import Run
from dynmeans.alerts.monitor import make_alert_hook
from dynmeans.runs.reading.window import Window


def rule(event, target, name="r"):
    return f'[[rule]]\nname = "{name}"\nevent = {event}\n{target}\n'


def taken(folder, rules, windows, *, at_once):
    """Take windows in, so many to a commit, and look after each commit; stop between them."""
    for begin in range(0, len(windows), at_once):
        is_there = (folder / "run.sqlite").exists()
        with Run.open(folder) if is_there else Run.create(folder, CONFIG) as run:
            run.lock()
            with make_alert_hook(rules, run, threading.Event()) as look:
                some = [Window(points) for points in windows[begin : begin + at_once]]
                run.process(some, commit_seconds=1e9)
                look()
                look(is_last=True)


def test_a_cluster_that_is_born_small_is_told_once_it_is_large_enough(tmp_path, told):
    rules = rules_file(tmp_path, rule('"born"\nmin_points = 3', f"command = {told.command}"))
    windows = [[NEAR], [NEAR, FAR], [NEAR, FAR, FAR], [NEAR] + [FAR] * 4, [NEAR] * 2 + [FAR] * 5]
    taken(tmp_path / "run", rules, windows, at_once=1)
    assert [(alert["step"], alert["cluster_id"]) for alert in told()] == [(3, 1)]


@pytest.mark.parametrize(
    "event",
    [
        '"entered"\nbox = {x = [30, 32]}',
        '"born"\nmin_points = 2',
        '"returned"',
        '"unseen"\nover_windows = 2',
        '"grown"\npercent = 100\nover_windows = 2',
    ],
)
def test_alerts_do_not_depend_on_how_windows_were_committed(event, tmp_path, told):
    rng = np.random.default_rng(5)
    windows = []
    for step in range(12):
        drifting = [[0.0, 0.0], [1.1 + 0.5 * max(0, step - 5), 0.0]]
        sizes = rng.integers(20, 40, 2)
        groups = [rng.normal(at, 0.3, (n, 2)) for at, n in zip(drifting, sizes, strict=True)]
        swinging = [[30 + 0.9 * np.sin(step), 0]] * (1 + step % 3)
        at_times = [[1.0, 40.0]] * (step % 4) + [[31.0, 60.0]] * (step % 4 == 0)
        windows.append(np.concatenate([*groups, swinging, at_times]))
    rules = rules_file(tmp_path, rule(event, f"command = {told.command}"))
    taken(tmp_path / "one", rules, windows, at_once=1)
    one = told()
    told.log.unlink(missing_ok=True)
    taken(tmp_path / "all", rules, windows, at_once=12)
    assert one, "nothing was told"
    assert told() == [{**alert, "run": "all"} for alert in one]


def test_who_enters_is_told_after_a_stop_between_keeping_and_telling(tmp_path, told, monkeypatch):
    rules = rules_file(tmp_path, rule('"entered"\nbox = {x = [0, 1]}', f"command = {told.command}"))
    windows = [[[0.9 * step - 2, 0.0]] for step in range(6)]
    taken(tmp_path / "whole", rules, windows, at_once=1)
    expected = [alert["id"] for alert in told()]
    told.log.unlink()

    def killed(*arguments):
        raise KeyboardInterrupt

    with (
        Run.create(tmp_path / "run", CONFIG) as run,
        make_alert_hook(rules, run, threading.Event()),
    ):
        pass
    for window in windows:
        # The first look at every window ends where its alerts would have been stored.
        with monkeypatch.context() as patch:
            patch.setattr("dynmeans.runs.store.alert_log.insert_offset", killed)
            with pytest.raises(KeyboardInterrupt):
                taken(tmp_path / "run", rules, [window], at_once=1)
        with (
            Run.open(tmp_path / "run") as run,
            make_alert_hook(rules, run, threading.Event()) as look,
        ):
            run.lock()
            look(is_last=True)
    assert expected
    assert [alert["id"] for alert in told()] == expected


def test_a_dead_webhook_neither_repeats_the_command_nor_holds_other_rules_back(
    tmp_path, told, hook
):
    dead = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{dead.getsockname()[1]}/"
    dead.close()  # nobody listens there
    dead_too = rule('"born"', f'command = {told.command}\nwebhook = "{address}"', "dead")
    other = rule('"born"', f'command = {told.command}\nwebhook = "{hook}"', "other")
    rules = rules_file(tmp_path, dead_too + other)
    for _ in range(3):
        taken(tmp_path / "run", rules, [[NEAR]], at_once=1)
    assert sorted(alert["id"] for alert in told()) == ["dead/0/0", "other/0/0"]
    assert [alert["id"] for alert in Hook.received] == ["other/0/0"]


def test_a_webhook_that_answers_a_byte_a_second_does_not_hold_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("dynmeans.alerts.delivery.WEBHOOK_SECONDS", 1.5)
    server = socket.create_server(("127.0.0.1", 0))
    ends = []

    def drip():
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            begin = time.monotonic()
            try:
                for byte in b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 50:
                    client.sendall(bytes([byte]))
                    time.sleep(0.2)
            except OSError:
                ends.append(time.monotonic() - begin)
            client.close()

    threading.Thread(target=drip, daemon=True).start()
    address = f"http://127.0.0.1:{server.getsockname()[1]}/"
    rules = rules_file(tmp_path, rule('"born"', f'webhook = "{address}"'))
    begin = time.monotonic()
    run = Run.create(tmp_path / "run", CONFIG)
    with run, make_alert_hook(rules, run, threading.Event()) as look:
        for k in range(5):
            run.process(Window([[20.0 * k, 0.0]]))
            look()
        assert time.monotonic() - begin < 1.0, "the run waited for the webhook"
        look(is_last=True)
    assert time.monotonic() - begin < 8.0
    server.close()
    assert ends
    assert ends[0] < 4.0


def test_children_of_a_command_end_with_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr("dynmeans.alerts.delivery.COMMAND_SECONDS", 1.0)
    mark = tmp_path / "child"
    script = tmp_path / "slow.py"
    script.write_text(
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        f"open({str(mark)!r}, 'w').write(str(child.pid))\n"
        "child.wait()\n"
    )
    command = json.dumps([sys.executable, "-S", str(script)])
    rules = rules_file(tmp_path, rule('"born"', f"command = {command}"))
    begin = time.monotonic()
    taken(tmp_path / "run", rules, [[NEAR]], at_once=1)
    assert time.monotonic() < begin + 40  # and not when the child has come to its own end
    child = int(mark.read_text())
    end = time.monotonic() + 5
    while _is_alive(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _is_alive(child)


def _is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_stop_ends_the_run_though_a_command_takes_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr("dynmeans.alerts.delivery.LAST_SECONDS", 0.5)
    command = json.dumps([sys.executable, "-S", "-c", "import time; time.sleep(5)"])
    rules = rules_file(tmp_path, rule('"born"', f"command = {command}"))
    stop = threading.Event()
    run = Run.create(tmp_path / "run", CONFIG)
    begin = time.monotonic()
    with run, make_alert_hook(rules, run, stop) as look:
        run.process(Window([NEAR]))
        look()
        stop.set()
        look(is_last=True)
    assert time.monotonic() - begin < 4.0


def test_a_webhook_may_have_a_password_which_is_not_told(tmp_path, hook, caplog):
    address = hook.replace("http://", "http://me:hunter2swordfish@")
    Hook.answers = [500]
    rules = rules_file(tmp_path, f'[[rule]]\nname = "r"\nevent = "born"\nwebhook = "{address}"\n')
    run = Run.create(tmp_path / "run", CONFIG)
    with run, make_alert_hook(rules, run, threading.Event()) as look:
        run.process(Window([NEAR]))
        look(is_last=True)
    assert Hook.received
    assert "500" in caplog.text
    assert "hunter2swordfish" not in caplog.text
    assert b"hunter2swordfish" not in (tmp_path / "run" / "run.sqlite").read_bytes()


def test_a_rule_added_after_a_pause_without_alerts_speaks_of_later_windows(tmp_path, told):
    folder, old = tmp_path / "run", rule('"born"', f"command = {told.command}", "old")
    added = rule('"born"', f"command = {told.command}", "added")
    added += rule('"entered"\nbox = {x = [20, 90]}', f"command = {told.command}", "inside")
    taken(folder, rules_file(tmp_path, old), [[NEAR]], at_once=1)
    with Run.open(folder) as run:  # a pause: nobody looks at this window
        run.process(Window([NEAR, FAR]))
    taken(
        folder,
        rules_file(tmp_path, old + added),
        [[NEAR, FAR], [NEAR, FAR, [50.0, 0.0]]],
        at_once=1,
    )
    found = sorted((alert["rule"], alert["step"], alert["cluster_id"]) for alert in told())
    assert found == [
        ("added", 3, 2),
        ("inside", 3, 2),
        ("old", 0, 0),
        ("old", 1, 1),
        ("old", 3, 2),
    ]
