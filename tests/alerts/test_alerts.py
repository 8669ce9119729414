"""Alerts: what each rule sees, who is told, and that restarts repeat nothing."""

import sqlite3
import threading
from pathlib import Path

import pytest
from run_cases import CONFIG, FAR, NEAR, Hook, rules_file

from dynmeans import Run
from dynmeans.alerts.monitor import make_alert_hook
from dynmeans.alerts.rules import read_rules
from dynmeans.cli.__main__ import main
from dynmeans.runs.reading.window import Window


def follow(folder, rules, *windows):
    """Take windows in one by one, and look after each."""
    run = Run.open(folder) if (folder / "run.sqlite").exists() else Run.create(folder, CONFIG)
    with run:
        run.lock()
        with make_alert_hook(rules, run, threading.Event()) as look:
            for points in windows:
                run.process(Window(points) if points else Window([[50.0, 50.0]]))
                look()
            look(is_last=True)


@pytest.mark.parametrize(
    ("rule", "windows", "expected"),
    [
        ('event = "born"', [[NEAR], [NEAR, FAR]], [(0, 0), (1, 1)]),
        ('event = "born"\nmin_points = 2', [[NEAR], [NEAR, FAR, FAR]], [(1, 1)]),
        ('event = "returned"', [[NEAR, FAR], [NEAR], [NEAR, FAR]], [(2, 1)]),
        ('event = "grown"\npercent = 100', [[NEAR], [NEAR] * 2, [NEAR] * 3], [(1, 0)]),
        (
            'event = "grown"\npercent = 100\nover_windows = 2',
            [[NEAR], [NEAR] * 2, [NEAR] * 3],
            [(2, 0)],
        ),
        ('event = "unseen"\nover_windows = 2', [[NEAR, FAR], [NEAR], [NEAR], [NEAR]], [(2, 1)]),
        (
            'event = "entered"\nbox = {x = [0.5, 2]}',
            [[NEAR], [[0.8, 0]], [[0.9, 0]], [[-0.1, 0]], [[0.9, 0]]],
            [(1, 0), (4, 0)],
        ),
    ],
    ids=["born", "born large", "returned", "grown", "grown in two", "unseen", "entered"],
)
def test_a_rule_sees_what_it_is_for(rule, windows, expected, tmp_path, told):
    rules = rules_file(tmp_path, f'[[rule]]\nname = "r"\n{rule}\ncommand = {told.command}\n')
    follow(tmp_path / "run", rules, *windows)
    assert [(alert["step"], alert["cluster_id"]) for alert in told()] == expected


def test_a_restart_repeats_nothing_and_misses_nothing(tmp_path, told):
    rules = rules_file(
        tmp_path, f'[[rule]]\nname = "new"\nevent = "born"\ncommand = {told.command}\n'
    )
    follow(tmp_path / "run", rules, [NEAR])
    with Run.open(tmp_path / "run") as run:  # committed, and killed before it was looked at
        run.process(Window([NEAR, FAR]))
    follow(tmp_path / "run", rules)
    follow(tmp_path / "run", rules, [NEAR, FAR])
    assert [alert["id"] for alert in told()] == ["new/0/0", "new/1/1"]
    with Run.open(tmp_path / "run") as run:
        run.verify()


@pytest.mark.parametrize("change", ["DELETE FROM alerts", "UPDATE alerts SET body = '{}'"])
def test_verifying_finds_a_changed_or_missing_alert(change, tmp_path, told):
    rules = rules_file(
        tmp_path, f'[[rule]]\nname = "new"\nevent = "born"\ncommand = {told.command}\n'
    )
    follow(tmp_path / "run", rules, [NEAR])
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as connection:
        assert connection.execute(change).rowcount == 1
    connection.close()
    with pytest.raises(ValueError, match=r"damaged.*alerts"), Run.open(tmp_path / "run") as run:
        run.verify()


def test_what_cannot_be_delivered_is_delivered_later(tmp_path, told):
    broken = rules_file(
        tmp_path, '[[rule]]\nname = "new"\nevent = "born"\ncommand = ["no such program"]\n'
    )
    follow(tmp_path / "run", broken, [NEAR])
    mended = rules_file(
        tmp_path, f'[[rule]]\nname = "new"\nevent = "born"\ncommand = {told.command}\n'
    )
    follow(tmp_path / "run", mended, [NEAR])
    assert [alert["id"] for alert in told()] == ["new/0/0"]


def test_rules_given_to_an_old_run_speak_of_windows_to_come(tmp_path, told):
    with Run.create(tmp_path / "run", CONFIG) as run:
        run.process(Window([NEAR]))
    rules = rules_file(
        tmp_path, f'[[rule]]\nname = "new"\nevent = "born"\ncommand = {told.command}\n'
    )
    follow(tmp_path / "run", rules, [NEAR, FAR])
    assert [alert["step"] for alert in told()] == [1]


def test_no_shell_sees_a_command(tmp_path):
    mark = tmp_path / "owned"
    rules = rules_file(
        tmp_path,
        '[[rule]]\nname = "new"\nevent = "born"\n'
        f'command = ["true", "; touch {mark}", "$(touch {mark})"]\n',
    )
    follow(tmp_path / "run", rules, [NEAR])
    assert not mark.exists()


@pytest.mark.parametrize("answers", [[], [500], [302]], ids=["well", "error", "redirect"])
def test_a_webhook_is_posted_to_until_it_answers(hook, answers, tmp_path):
    Hook.answers = list(answers)
    rules = rules_file(tmp_path, f'[[rule]]\nname = "new"\nevent = "born"\nwebhook = "{hook}"\n')
    follow(tmp_path / "run", rules, [NEAR])
    follow(tmp_path / "run", rules, [NEAR])
    assert [alert["id"] for alert in Hook.received] == ["new/0/0"] * (1 + len(answers))
    assert Hook.received[0]["run"] == "run"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rule = 3", "must hold tables"),
        ("a = " + "[" * 9999, "is not TOML"),
        (f"a = {'9' * 5000}", "is not TOML"),
        (
            f'[[rule]]\nname="a"\nevent="entered"\nbox={{x=[0, {"9" * 400}]}}\ncommand=["a"]',
            "two numbers for x",
        ),
        ('[[rule]]\nname="a"\nevent="born"\nwebhook="http://[a"', "webhook must be an address"),
        ('[[rule]]\nname="a"\nevent="born"\nwebhook=["http://a"]', "webhook must be an address"),
        ('[[rule]]\nname="a"\nevent="born"\nwebhook="http:///x"', "webhook must be an address"),
        ('[[rule]]\nname="a"\nevent="born"\nwebhook="http://a\\tb"', "webhook must be an address"),
        ("not toml", "is not TOML"),
        ('[[rule]]\nevent = "born"', "needs a name"),
        ('[[rule]]\nname = "a"\nevent = "flies"', "event must be one of"),
        ('[[rule]]\nname = "a"\nevent = "born"', "needs a delivery"),
        ('[[rule]]\nname = "a"\nevent = "born"\ncommand = "rm -r x"', "command must be a list"),
        (
            '[[rule]]\nname = "a"\nevent = "born"\nwebhook = "file:///etc/passwd"',
            "begins with http",
        ),
        ('[[rule]]\nname = "a"\nevent = "born"\nstream = "ftp://x"', "stream must be an address"),
        ('[[rule]]\nname = "a"\nevent = "grown"\ncommand = ["a"]', "requires percent"),
        (
            '[[rule]]\nname = "a"\nevent = "entered"\nbox = {z = [0, 1]}\ncommand = ["a"]',
            "no feature 'z'",
        ),
        (
            '[[rule]]\nname = "a"\nevent = "entered"\nbox = {x = [2, 1]}\ncommand = ["a"]',
            "must rise",
        ),
        ('[[rule]]\nname = "a"\nevent = "born"\nwings = 3\ncommand = ["a"]', "wings is not known"),
        ('[[rule]]\nname = "a"\nevent = "unseen"\nover_windows = 0\ncommand = ["a"]', "from 1 to"),
    ],
)
def test_a_wrong_rule_is_told(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_rules(rules_file(tmp_path, text), ("x", "y"))


def test_the_command_line_takes_rules(tmp_path, told, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("t,x,y\n1,0,0\n2,0,0\n3,9,9\n")
    rules_file(tmp_path, f'[[rule]]\nname = "new"\nevent = "born"\ncommand = {told.command}\n')
    options = ["-f", "x,y", "--window-column", "t", "--new-penalty", "1", "-o", "run", "-q"]
    assert main(["cluster", "rows.csv", *options, "--alerts", "rules.toml"]) == 0
    assert [(alert["window"], alert["cluster_id"]) for alert in told()] == [("1", 0), ("3", 1)]
