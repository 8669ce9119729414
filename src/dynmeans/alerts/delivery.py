"""Deliver alerts to commands, webhooks and streams: each has a queue and a thread."""

import http.client
import json
import logging
import math
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dynmeans.alerts.rules import TARGETS, Rule
from dynmeans.runs.store.alert_log import AlertQueue
from dynmeans.runs.streams.addresses import open_sink
from dynmeans.runs.streams.message import Item

COMMAND_SECONDS, WEBHOOK_SECONDS = 10.0, 5.0  # for one alert, to its end
LAST_SECONDS = 10.0  # for what waits when the run is told to stop
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0

_log = logging.getLogger("dynmeans.runs.alerts")


def make_delivery_workers(
    folder: Path, rules: Sequence[Rule], stop: threading.Event
) -> "list[DeliveryWorker]":
    """Return one courier for each command and webhook of a rule, and one for each stream.

    Rules that share a stream share its courier: entries of a stream keep their order.
    """
    groups: dict[tuple[str, str], dict[str, Rule]] = {}
    for rule in rules:
        for target in TARGETS:
            if (place := getattr(rule, target)) is not None:
                key = place if target == "stream" else rule.name
                groups.setdefault((target, key), {})[rule.name] = rule
    return [DeliveryWorker(folder, target, group, stop) for (target, _), group in groups.items()]


def drain(couriers: "Sequence[DeliveryWorker]", stop: threading.Event) -> None:
    """Deliver the queued alerts; if the run is stopping, for a limited time."""
    for courier in couriers:
        courier.drain()
    end = math.inf
    for courier in couriers:
        while not courier.is_finished(0.1) and time.monotonic() < end:
            if stop.is_set():
                end = min(end, time.monotonic() + LAST_SECONDS)


class DeliveryWorker:
    """Delivers the alerts of its rules to one target, in order, and marks each that arrived.

    One that cannot be delivered is tried again after a pause that grows, and those behind it
    wait. One that was delivered just before a kill is delivered again, under the same id.
    """

    def __init__(
        self, folder: Path, target: str, rules: Mapping[str, Rule], stop: threading.Event
    ) -> None:
        self._folder, self._target, self._rules = folder, target, dict(rules)
        self._run = folder.resolve().name
        rule = next(iter(rules.values()))
        self._sink = open_sink(rule.stream or "", stop) if target == "stream" else None
        self._news, self._is_last, self._is_over = threading.Event(), False, False
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Wake the thread: there may be more to deliver."""
        if self._error is not None:
            raise self._error
        self._news.set()

    def drain(self) -> None:
        """Deliver the rest until one cannot be delivered; no more will be added."""
        self._is_last = True
        self.wake()

    def is_finished(self, seconds: float) -> bool:
        """Wait so long; return whether all was delivered, or one could not be."""
        self._thread.join(seconds)
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()

    def close(self) -> None:
        """Deliver no more."""
        self._is_last = self._is_over = True
        self._news.set()
        self._thread.join(LAST_SECONDS if self._sink is not None else 0.2)

    def _work(self) -> None:
        try:
            queue = AlertQueue(self._folder, self._target, self._rules)
            try:
                self._deliver_all(queue)
            finally:
                queue.close()
                if self._sink is not None:
                    self._sink.close()
        except (OSError, ValueError) as error:  # told to the run when it looks next
            self._error = error

    def _deliver_all(self, queue: AlertQueue) -> None:
        pause = _FIRST_PAUSE
        while not self._is_over:
            self._news.clear()
            is_last = self._is_last  # what was stored before it was set is seen below
            row = queue.first()
            if row is None:
                if is_last:
                    return
                self._news.wait()
            elif self._try_deliver(row):
                queue.mark(row)
                pause = _FIRST_PAUSE
            elif is_last:
                return
            else:
                self._wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _wait(self, seconds: float) -> None:
        """Sleep for the retry delay; wake up only on shutdown."""
        end = time.monotonic() + seconds
        while not self._is_last and (left := end - time.monotonic()) > 0:
            self._news.wait(left)
            if not self._is_last:
                self._news.clear()

    def _try_deliver(self, row: Any) -> bool:
        rule, fields = self._rules[row["rule"]], {"id": row["id"], **json.loads(row["body"])}
        text = json.dumps({"run": self._run, **fields})
        try:
            if self._sink is not None:
                item = Item(row["step"], row["number"], fields)
                return self._sink.send(self._run, [item])
            tell = _run_command if self._target == "command" else _send_to_webhook
            tell(rule, text)
            return True
        except (OSError, ValueError, http.client.HTTPException) as error:
            message = " ".join(str(error).split())[:300] or type(error).__name__
            _log.warning("alert %r not delivered: %s. Trying again later.", rule.name, message)
            return False


def _run_command(rule: Rule, text: str) -> None:
    """Run a command to its end; its children end with its time."""
    process = subprocess.Popen(
        list(rule.command or ()),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, message = process.communicate(text + "\n", COMMAND_SECONDS)
    except subprocess.TimeoutExpired:
        is_done = process.poll() == 0  # and what it left running holds its standard error
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if not is_done:
            raise TimeoutError(f"it took more than {COMMAND_SECONDS:g} seconds") from None
        return
    if process.returncode:
        raise OSError(f"exit code {process.returncode}: {message[-200:]}")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        """Refuse redirects: an alert goes to the address of its rule only."""


class _Deadline(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    """Cuts a connection off at the end of its time, however it answers until then."""

    def __init__(self) -> None:
        super().__init__()
        self._connections: list[Any] = []
        self.done = threading.Event()

    def do_open(self, http_class: Any, req: Any, **options: Any) -> Any:
        def open_and_keep(host: str, **more: Any) -> Any:
            self._connections.append(http_class(host, **more))
            return self._connections[-1]

        return super().do_open(open_and_keep, req, **options)

    def cut(self) -> None:
        """Wait for the end, of the work or of its time."""
        self.done.wait(WEBHOOK_SECONDS)
        while not self.done.wait(0.1):
            for connection in self._connections:
                with suppress(OSError, AttributeError):  # not connected yet, or no more
                    connection.sock.shutdown(socket.SHUT_RDWR)


def _send_to_webhook(rule: Rule, text: str) -> None:
    headers = {"content-type": "application/json", "user-agent": "dynmeans"}
    parts = urlsplit(rule.webhook or "")
    who, at, host = parts.netloc.rpartition("@")
    if at:
        headers["authorization"] = f"Basic {b64encode(unquote(who).encode()).decode()}"
    address = parts._replace(netloc=host).geturl()
    request = urllib.request.Request(address, text.encode(), headers, method="POST")
    deadline = _Deadline()
    threading.Thread(target=deadline.cut, daemon=True).start()
    try:
        opener = urllib.request.build_opener(_NoRedirect, deadline)
        opener.open(request, timeout=WEBHOOK_SECONDS).close()
    finally:
        deadline.done.set()
