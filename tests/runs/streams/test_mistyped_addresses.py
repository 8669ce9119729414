"""Addresses that are typed wrong: refused, and nothing of them that may be a secret is shown."""

import contextlib
import json

import pytest

from dynmeans.alerts.rules import read_rules
from dynmeans.cli.__main__ import main

SECRET = "hunter2swordfish"
STARTS = [
    "http://", "https://", "reddis://", "Redis://", "redis:/", "redis:", "redis//", "rediss:://",
    "", "kafak://", "kafka:/", "mqtt:/", "mqqt://", "postgress://", "postgresql:/", "amqp://",
    "ftp://", "s3://", "//",
]  # fmt: skip
RESTS = [
    f"me:{SECRET}@h/0?stream=s",
    f":{SECRET}@h/0?stream=s",
    f"h/0?stream=s&password={SECRET}",
    f"me:a/{SECRET}@h/0?stream=s",
]
UNESCAPED = [
    f"redis://me@h/0?stream=s&password=ab&{SECRET}",
    f"redis://me@h/0?stream=s&{SECRET}",
    f"redis://h/0?stream=s&password=ab&{SECRET}=1",
    f"redis://me:ab?{SECRET}&c@h/0",
    f"redis://me:ab&{SECRET}@h/0?stream=s&x=1",
    f"mqtt://h/rows?client=a&password=ab&{SECRET}",
    f"mqtt://h/rows?client=a&{SECRET}=",
    f"kafka://h/rows?sasl.password=ab&{SECRET}",
    f"kafka://h/rows?{SECRET}=1",
    f"kafka://h/a/b?sasl.password={SECRET}",
    f"postgresql://h/db?table=a&by=id&password=ab&{SECRET}=1",
    f"postgresql://h/db?password=ab&{SECRET}=1",
    f"postgresql://h/db?table=a&by=id&{SECRET}=1",
    f"redis://h:port/0?stream=s&password={SECRET}",
    f"redis://h:99999999/0?stream=s&password={SECRET}",
    f"redis://me:{SECRET}@h:99999999/0?stream=s",
    f"redis://me:{SECRET}@h/zero?stream=s",
    f"redis://h/{SECRET}@0?stream=s",
    f"redis://${{{SECRET}@h/0",
    f"redis://me:{SECRET}@h:1:2/0?stream=s",
    f"host=db user=me password={SECRET} dbname=rows",
    f"host=db user=me password = '{SECRET}'",
    f"redis://me:{SECRET}\n@h/0",
    f"redis://me:{SECRET} @h/0",
    f"-redis://me:{SECRET}@h/0",
    f"--redis://me:{SECRET}@h/0",
    f"redis://[me:{SECRET}@h/0",
    f"redis://me:%{SECRET}@h/0",
    f"redis://me:{SECRET}@/0",
    f"redis://me:{SECRET}@h",
    f"redis://me:{SECRET}@h/?stream=",
    f"kafka://me:{SECRET}@h",
]
ADDRESSES = [*(start + rest for start in STARTS for rest in RESTS), *UNESCAPED]


def test_there_are_a_hundred_and_eight_addresses():
    assert len({*ADDRESSES}) == 108


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x\n1\n2\n3\n4\n")
    return str(path)


@contextlib.contextmanager
def told_without(secret):
    try:
        yield
    except ValueError as error:
        if secret in str(error):
            raise AssertionError(f"{error} holds the secret") from error
        raise


def refused(words, tmp_path, capfd, caplog):
    """Run a command that must fail, and look for the secret in all that it leaves."""
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code
    captured = capfd.readouterr()
    told = captured.out + captured.err + caplog.text
    assert SECRET not in told
    for path in tmp_path.rglob("*"):
        assert SECRET not in str(path)
        assert (
            path.is_dir() or path.name == "rules.toml" or SECRET.encode() not in path.read_bytes()
        )
    return code, told


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_mistyped_source_or_sink_is_refused_without_its_secrets(
    address, rows, tmp_path, capfd, caplog
):
    many = ["-f", "x", "--rows-per-window", "2", "--new-penalty", "1"]
    commands = [["cluster", address, *many], ["cluster", rows, *many, f"--labels-to={address}"]]
    if address in UNESCAPED:
        commands += [
            ["cluster", rows, *many, "--events-to", address],
            ["cluster", rows, *many, "--labels_to", address],
            ["cluster", rows, address, *many],
            ["suggest", address, "-f", "x", "--rows-per-window", "2"],
        ]
    for number, words in enumerate(commands):
        out = ["-o", str(tmp_path / f"run{number}")] if words[0] == "cluster" else []
        code, told = refused([*words, *out], tmp_path, capfd, caplog)
        assert code != 0
        assert told.strip()


@pytest.mark.parametrize("address", ["redis://me:{}@h/0", "reddis://:{}@h", "s3://k:{}@b/run/"])
def test_an_address_in_place_of_a_run_is_refused_without_its_secrets(
    address, rows, tmp_path, capfd, caplog, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    address = address.format(SECRET)
    many = ["-f", "x", "--rows-per-window", "2", "--new-penalty", "1"]
    for words in (
        ["status", address],
        ["report", address],
        ["serve", address],
        ["send", address, "--labels-to", "redis://h/0?stream=s"],
        ["cluster", rows, *many, "-o", address],
        ["cluster", rows, *many, "--labels-to", address, "-o", address],
    ):
        code, told = refused(words, tmp_path, capfd, caplog)
        assert code != 0, words
        assert told.strip()


@pytest.mark.parametrize("address", ADDRESSES)
def test_mistyped_addresses_of_alerts_are_refused_without_their_secrets(address, tmp_path):
    for target in ("stream", "webhook"):
        path = tmp_path / "rules.toml"
        text = json.dumps(address)
        path.write_text(f'[[rule]]\nname = "r"\nevent = "born"\n{target} = {text}\n')
        with contextlib.suppress(ValueError), told_without(SECRET):
            read_rules(path, ("x",))
