"""Secrets in addresses: whatever option or odd password they stand in, nothing tells them."""

import json
import random
import string
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from attack.targets import Case
from dynmeans.alerts.rules import read_rules
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.input import Input
from dynmeans.runs.reading.sources.file_kinds import find_files
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.streams.addresses import is_address, open_sink, parse_address

_KAFKA = (
    "sasl.password", "sasl.oauthbearer.client.secret", "ssl.key.pem", "ssl.key.password",
    "ssl.keystore.password", "sasl.oauthbearer.config", "ssl.certificate.pem", "SASL.Password",
    "sasl.jaas.config", "sasl.username", "ssl_key", "plugin.library.paths",
)  # fmt: skip
_POSTGRESQL = (
    "password", "Password", "pass", "PASSWORD", "passfile", "sslpassword", "options", "pwd",
    "scram_client_key", "oauth_client_secret", "service", "requirepassword",
)  # fmt: skip
_TEMPLATES = (
    *(f"kafka://b:9092/rows?security.protocol=SSL&{name}={{}}" for name in _KAFKA),
    *(f"postgresql://me@db/rows?table=a&by=id&{name}={{}}" for name in _POSTGRESQL),
    "redis://me:{}@h/0?stream=s", "redis://:{}@h:6379/0?stream=s", "redis://{}@h/0?stream=s",
    "rediss://me:{}@h/0?stream=s&password={}", "mqtt://me:{}@h/topic/+?client=a",
    "mqtts://{}@h/topic?client=a", "kafka://me:{}@a:1,b:2/rows", "kafka://me:{}@a:1/rows?x={}",
    "reddis://me:{}@h/0?stream=s", "redis:me:{}@h/0?stream=s", "me:{}@h/0?stream=s",
    "redis://h/0?stream=s&password=ab&{}=1", "kafka://h/rows?sasl.password=ab&{}",
    "mqtt://h/rows?client=a&{}=", "h/0?stream=s&password={}", "host=db password={}",
    "postgres://me:{}@db/rows?table=a&by=id", "postgresql://me:{}@db/rows?sslmode=require&table=a",
)  # fmt: skip

_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """There are forty-two addresses."""
    assert len(_TEMPLATES) == 42
    yield _attack


def _attack(rng: random.Random) -> None:
    core = "".join(rng.choices(string.ascii_letters + string.digits, k=rng.randint(8, 24)))
    odd = "".join(rng.choices("/?#@:%&=+ ;$\\'\"", k=rng.randint(0, 3)))
    secret = "".join(rng.sample([core, odd], 2))
    template = rng.choice(_TEMPLATES)
    if "://{}@" in template:  # up to a colon it would be a name
        secret = secret.replace(":", "")
    written = rng.choice([secret, quote(secret, safe=""), core])
    text = template.replace("{}", written)
    options = WindowOptions(("x",), rows_per_window=5)
    told: list[str] = []
    try:
        if not is_address(text):
            raise ValueError("a file, if there is one")
        job = ClusterJob(Input(text), options, ModelConfig(new_penalty=1.0), Path("/nowhere"))
        told.append(json.dumps(job.config(None).to_fields()))
        address = parse_address(text)
        told += [str(address), repr(address), address.redact(f"no {address.password!r}")]
    except ValueError as error:
        told.append(str(error))
    for call in (
        lambda: open_sink(text, threading.Event()),
        lambda: find_files(text),
        lambda: _rules("webhook", text),
        lambda: _rules("webhook", text.replace(text.partition("://")[0], "https", 1)),
        lambda: _rules("stream", text),
    ):
        try:
            call()
        except (ValueError, OSError) as error:
            told.append(str(error))
    for one in told:
        assert core not in one, f"{core} of {text!r} is told: {one}"


def _rules(target: str, text: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".toml", dir=_MEMORY) as file:
        file.write(f'[[rule]]\nname = "r"\nwhen = "born"\n{target} = {json.dumps(text)}\n')
        file.flush()
        read_rules(Path(file.name), ("x",))
