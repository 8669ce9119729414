"""MQTT topics: no broker keeps them to be read twice, so what comes is kept in the run's inbox."""

import queue
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.store.inbox import INBOX, Inbox, Received
from dynmeans.runs.streams.addresses import Address
from dynmeans.runs.streams.backoff import FIRST_PAUSE, LONGEST_PAUSE, Backoff
from dynmeans.runs.streams.message import Item, Message, SinglePartitionStream

_AT_ONCE = 2000
_KEEP_ALIVE, _SEND_SECONDS = 60, 10.0
_AT_LEAST_ONCE = 1


def make_client(address: Address, name: str, *, manual_ack: bool) -> mqtt.Client:
    """Return a client whose session the broker keeps while it is away."""
    client = mqtt.Client(
        CallbackAPIVersion.VERSION2,
        client_id=name,
        clean_session=not name,
        manual_ack=manual_ack,
        reconnect_on_failure=True,
    )
    client.reconnect_delay_set(max(1, int(FIRST_PAUSE)), int(LONGEST_PAUSE))
    if address.user:
        client.username_pw_set(address.user, address.password)
    if address.scheme == "mqtts":
        client.tls_set()
    return client


class MqttTopic(SinglePartitionStream):
    """The topic at ``mqtt://host:port/TOPIC?client=NAME``, or all of a filter (``ships/+/rows``).

    Messages come at least once (QoS 1) within a session that the broker keeps. Each is put into
    the run's inbox, on disk, and only then acknowledged.
    """

    def __init__(self, address: Address, columns: Sequence[str], stop: threading.Event) -> None:
        options = address.only("client")
        if not address.path or not options.get("client"):
            raise InputError(
                "input",
                ": {!r} must name a topic and a client, whose session the broker keeps: "
                "mqtt://host/TOPIC?client=NAME",
                str(address),
            )
        self._address = address
        self._backoff = Backoff(address, stop)
        self._client = make_client(address, options["client"], manual_ack=True)
        self._client.on_connect = self._on_connect
        self._client.on_message = self._on_message
        self._client.on_disconnect = self._on_disconnect
        # While the queue is full the client reads nothing more from the broker.
        self._received: queue.Queue[Any] = queue.Queue(2 * _AT_ONCE)
        self._is_away, self._is_started = True, False
        self._refused: str | None = None
        self._session = 0  # acknowledgments belong to one connection
        self._after = 0

    def open(self, after: Mapping[str, Any], inbox: Inbox) -> None:
        """Begin with what the inbox holds after the given number."""
        self._inbox, self._after, self._is_kept_read = inbox, after.get(INBOX) or 0, False

    def poll(self, seconds: float) -> list[Message] | None:
        """Return what the inbox held before, then what comes."""
        if not self._is_kept_read:
            kept = self._inbox.after(self._after, _AT_ONCE)
            self._is_kept_read = not kept
            if kept:
                return self._messages(kept)
        if not self._is_started and not self._start():
            return None
        batch = self._next_batch(seconds)
        if self._refused is not None:
            raise ConnectionError(f"{self._address} refused the client: {self._refused}.")
        if not batch:
            return None if self._is_away else []
        kept = self._inbox.add([received for _, received in batch])
        for session, received in batch:
            if session == self._session:
                self._client.ack(received.packet, _AT_LEAST_ONCE)
        return self._messages(kept)

    def _start(self) -> bool:
        host, port = host_of(self._address)
        try:
            self._client.connect(host, port, _KEEP_ALIVE)
        except OSError as error:
            self._backoff.wait(error)
            return False
        self._client.loop_start()
        self._is_started = True
        return True

    def _next_batch(self, seconds: float) -> list[Any]:
        batch: list[Any] = []
        try:
            batch.append(self._received.get(timeout=seconds))
            while len(batch) < _AT_ONCE:
                batch.append(self._received.get_nowait())
        except queue.Empty:
            pass
        return batch

    def _messages(self, kept: list[tuple[int, bytes]]) -> list[Message]:
        messages = [Message(INBOX, number, number, body) for number, body in kept]
        self._after = messages[-1].offset if messages else self._after
        return messages

    def _on_connect(self, client: Any, data: Any, flags: Any, reason: Any, extra: Any) -> None:
        if reason.is_failure:
            self._refused = str(reason) if "unavailable" not in str(reason).lower() else None
            return
        self._is_away = False
        client.subscribe(self._address.path, _AT_LEAST_ONCE)

    def _on_disconnect(self, client: Any, data: Any, flags: Any, reason: Any, extra: Any) -> None:
        self._is_away = True
        self._session += 1

    def _on_message(self, client: Any, data: Any, message: Any) -> None:
        if message.qos == 0:
            received = Received(-1, False, message.topic, message.payload)
        else:
            received = Received(message.mid, message.dup, message.topic, message.payload)
        self._received.put((self._session, received))

    def position_of(self, partition: str, offset: Any) -> str:
        """Name a message."""
        return f"message {offset}"

    def close(self) -> None:
        """End the connection; the broker keeps the session."""
        if self._is_started:
            self._client.disconnect()
            self._client.loop_stop()


class MqttSink:
    """A topic: at least once (QoS 1). An item that was sent twice has the same key twice."""

    def __init__(self, address: Address, stop: threading.Event) -> None:
        options = address.only("client")
        if not address.path or set("+#") & set(address.path):
            raise InputError("to", ": {!r} must name one topic", str(address))
        self._address = address
        self._backoff = Backoff(address, stop, is_waiting=False)
        self._client = make_client(address, options.get("client", ""), manual_ack=False)
        self._client.max_inflight_messages_set(1000)
        self._is_started = False

    def send(self, run: str, items: Sequence[Item]) -> bool:
        """Publish items in order, and wait until the broker has them."""
        try:
            if not self._is_started:
                host, port = host_of(self._address)
                self._client.connect(host, port, _KEEP_ALIVE)
                self._client.loop_start()
                self._is_started = True
            topic = self._address.path
            sent = [self._client.publish(topic, i.body(run), _AT_LEAST_ONCE) for i in items]
            for one in sent:
                one.wait_for_publish(_SEND_SECONDS)
                if not one.is_published():
                    raise TimeoutError("the broker did not answer")
        except (OSError, ValueError, RuntimeError) as error:
            self.close()
            self._backoff.wait(error)
            return False
        return True

    def close(self) -> None:
        """End the connection."""
        if self._is_started:
            self._client.disconnect()
            self._client.loop_stop()
            self._is_started = False


def host_of(address: Address) -> tuple[str, int]:
    """Return host and port of a broker."""
    return address.host_and_port(8883 if address.scheme == "mqtts" else 1883)


open_stream, open_sink = MqttTopic, MqttSink
