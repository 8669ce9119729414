"""Telling a command, a webhook or a stream."""

import json
import logging
import subprocess
import threading
import urllib.error
import urllib.request
from typing import Any

from dynmeans.alerts.rules import Rule
from dynmeans.runs.streams.addresses import open_sink
from dynmeans.runs.streams.sink import Item

COMMAND_SECONDS, WEBHOOK_SECONDS = 10.0, 5.0

_log = logging.getLogger("dynmeans.runs.alerts")


class Messenger:
    """Delivers alerts; connections to streams are kept."""

    def __init__(self, run: str, stop: threading.Event) -> None:
        self._run, self._stop = run, stop
        self._sinks: dict[str, Any] = {}

    def is_told(self, rule: Rule, step: int, number: int, fields: dict[str, Any]) -> bool:
        """Tell everyone a rule names; False if someone could not be told."""
        text = json.dumps({"run": self._run, **fields})
        done = True
        if rule.command is not None:
            done &= _is_run(rule, text)
        if rule.webhook is not None:
            done &= _is_posted(rule, text)
        if rule.stream is not None:
            if rule.stream not in self._sinks:
                self._sinks[rule.stream] = open_sink(rule.stream, self._stop)
            done &= self._sinks[rule.stream].send(self._run, [Item(step, number, fields)])
        return done

    def close(self) -> None:
        """Give the connections back."""
        for sink in self._sinks.values():
            sink.close()


def _is_run(rule: Rule, text: str) -> bool:
    try:
        done = subprocess.run(
            list(rule.command or ()),
            input=text + "\n",
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return _failed(rule, error)
    return done.returncode == 0 or _failed(
        rule, f"exit code {done.returncode}: {done.stderr[-200:]}"
    )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        """Alerts go where the rule says, and nowhere else."""


def _is_posted(rule: Rule, text: str) -> bool:
    request = urllib.request.Request(
        rule.webhook or "",
        text.encode(),
        {"content-type": "application/json", "user-agent": "dynmeans"},
        method="POST",
    )
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=WEBHOOK_SECONDS):
            return True
    except (OSError, ValueError) as error:
        return _failed(rule, error)


def _failed(rule: Rule, why: object) -> bool:
    text = " ".join(str(why).split())[:300]
    _log.warning("alert %r could not be delivered: %s. Trying again later.", rule.name, text)
    return False
