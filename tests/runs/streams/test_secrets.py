"""Secrets in addresses: used, and neither stored nor shown, in whatever option they stand."""

import json
import logging
import subprocess
import sys
import threading
import time

import pytest
import servers

from dynmeans.cli.__main__ import main
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.input import Input
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.streams import kafka_connector
from dynmeans.runs.streams.addresses import parse_address

SECRET = "hunter2swordfish"
KAFKA = "kafka://b:9092/rows?security.protocol=SASL_SSL&"
POSTGRES = "postgresql://me@db/rows?table=a&by=id&"
ADDRESSES = [
    *(f"{KAFKA}{name}={SECRET}" for name in (
        "sasl.password", "sasl.oauthbearer.client.secret", "ssl.key.pem", "ssl.key.password",
        "ssl.keystore.password", "sasl.oauthbearer.config", "ssl.certificate.pem", "SASL.Password",
        "sasl.oauthbearer.client.id", "ssl_key", "plugin.library.paths", "sasl.jaas.config",
        "sasl.username",
    )),
    *(f"{POSTGRES}{name}={SECRET}" for name in (
        "password", "Password", "pass", "PASSWORD", "passfile", "sslpassword", "options",
        "requirepassword", "pwd", "scram_client_key", "oauth_client_secret", "service",
    )),
    f"redis://me:{SECRET}@h/0?stream=s", f"redis://:{SECRET}@h/0?stream=s",
    f"redis://{SECRET}@h/0?stream=s", f"redis://me:a/{SECRET}@h/0?stream=s",
    f"redis://me:1/{SECRET}@h/0?stream=s", f"redis://me:a?{SECRET}@h/0?stream=s",
    f"redis://me:1?{SECRET}@h/0?stream=s", f"redis://me:%2F{SECRET}@h/0?stream=s",
    f"rediss://me:{SECRET}@h:1/0?stream=s&password={SECRET}", f"mqtts://{SECRET}@h/topic?client=a",
    f"mqtt://me:{SECRET}@h/topic/+?client=a", f"mqtt://me:x#{SECRET}@h/topic?client=a",
    f"kafka://me:{SECRET}@a:1,b:2/rows", f"postgres://me:{SECRET}@db/rows?table=a&by=id",
    f"postgresql://me:{SECRET}:x@db/rows?table=a",
]  # fmt: skip
REMOTE = [
    f"https://me:{SECRET}@h/rows.csv", f"https://{SECRET}@h/rows.csv",
    f"https://me:a/{SECRET}@h/rows.csv", f"https://me:a?{SECRET}@h/rows.csv",
    f"https://h/rows.csv?token={SECRET}", f"https://h/rows.csv#{SECRET}",
    f"s3://bucket/rows.csv?s3_secret_access_key={SECRET}", f"HTTP://me:{SECRET}@h/rows.csv",
]  # fmt: skip


def test_there_are_forty_addresses():
    assert len(ADDRESSES) == 40


@pytest.mark.parametrize("text", ADDRESSES)
def test_an_address_is_stored_and_shown_without_its_secrets(text, tmp_path):
    job = ClusterJob(
        Input(text),
        WindowOptions(("x",), rows_per_window=5),
        ModelConfig(new_penalty=1.0),
        tmp_path,
    )
    address, told = None, ""
    try:
        address = parse_address(text)
        told = f"{address} {address!r} {json.dumps(job.config(None).to_fields())}"
    except ValueError as error:
        told = str(error)
    assert told
    assert SECRET not in told
    if address is not None:
        held = f"{address.password} {address.user} {address.options}"
        assert SECRET in held
        assert SECRET not in address.redact(f"bad value in {text}: {held}")


@pytest.mark.parametrize("text", REMOTE)
def test_an_address_of_a_file_is_refused_without_its_secrets(text, tmp_path, capsys):
    words = ["cluster", text, "-f", "x", "--rows-per-window", "5", "--new-penalty", "1"]
    assert main([*words, "-o", str(tmp_path / "run")]) == 1
    assert not (tmp_path / "run").exists()
    assert SECRET not in "".join(capsys.readouterr())


def test_what_is_harmless_stays():
    text = "kafka://me:pw@b:9092/rows?security.protocol=SASL_SSL&ssl.ca.location=/etc/ca.pem"
    assert str(parse_address(text)) == text.replace(":pw", "")


def test_a_secret_may_stand_in_the_environment_or_in_a_file(tmp_path, monkeypatch):
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    monkeypatch.setenv("PLACE_PASSWORD", SECRET)
    for reference in ("PLACE_PASSWORD", f"file:{tmp_path}/secret".replace("/", "%2F")):
        address = parse_address(f"redis://me:${{{reference}}}@h/0?stream=s")
        assert address.password == SECRET
        assert str(address) == "redis://me@h/0?stream=s"
    with pytest.raises(ValueError, match="no variable 'NO_SUCH'"):
        parse_address("redis://me:${NO_SUCH}@h/0?stream=s")


@pytest.mark.parametrize(
    "text",
    [
        f"redis://me:{SECRET}@127.0.0.1:{{}}/0?stream=s",
        f"kafka://me:{SECRET}@127.0.0.1:{{}}/rows?security.protocol=SASL_PLAINTEXT"
        "&sasl.mechanism=PLAIN",
        f"mqtt://me:{SECRET}@127.0.0.1:{{}}/topic?client=a",
        f"postgresql://me:{SECRET}@127.0.0.1:{{}}/rows?table=a&by=id",
    ],
)
def test_a_run_that_cannot_reach_its_place_tells_no_secret(
    text, tmp_path, caplog, capfd, monkeypatch
):
    monkeypatch.setattr(kafka_connector, "_METADATA_SECONDS", 0.5)
    stop = threading.Event()
    options = WindowOptions(("x",), time="t", every="10")
    address = text.format(servers.free_port())
    job = ClusterJob(Input(address), options, ModelConfig(new_penalty=1.0), tmp_path / "run")

    def stop_once_told():
        end = time.monotonic() + 30
        while "cannot be reached" not in caplog.text and time.monotonic() < end:
            time.sleep(0.05)
        stop.set()

    threading.Thread(target=stop_once_told).start()
    with caplog.at_level(logging.DEBUG):
        job.start(stop=stop)
    told = caplog.text + "".join(capfd.readouterr())
    assert "cannot be reached" in told
    assert SECRET not in told
    for path in (tmp_path / "run").rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes()


def test_a_wrong_password_is_told_without_it(tmp_path):
    servers.need("redis")
    server = servers.RedisServer(tmp_path / "redis")
    try:
        server.client().config_set("requirepass", "another one")
        code = "import sys; from dynmeans.cli.__main__ import main; sys.exit(main(sys.argv[1:]))"
        address = f"redis://:{SECRET}@127.0.0.1:{server.port}/0?stream=s"
        words = ["cluster", address, "-f", "x", "--rows-per-window", "5", "--new-penalty", "1"]
        done = subprocess.run(
            [sys.executable, "-c", code, *words, "-o", str(tmp_path / "run"), "--debug"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert SECRET not in done.stdout + done.stderr
    finally:
        server.stop()


@pytest.mark.slow
def test_a_wrong_sslmode_is_told_and_not_tried_again(tmp_path, capsys):
    servers.need("postgresql")
    words = ["-f", "x", "-t", "t", "--every", "10", "--new-penalty", "1", "-o", str(tmp_path / "r")]
    address = "postgresql://me@localhost:1/rows?table=a&by=id&sslmode=bogus"
    assert main(["cluster", address, *words]) == 1
    assert "sslmode" in capsys.readouterr().err
