"""Kafka topics: every partition is read in order; offsets are the run's, not a group's."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import confluent_kafka as kafka

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.store.inbox import Inbox
from dynmeans.runs.streams.addresses import Address
from dynmeans.runs.streams.backoff import Backoff
from dynmeans.runs.streams.message import Item, Message, RowsLostError

_AT_ONCE = 2000
_METADATA_SECONDS, _SEND_SECONDS = 10.0, 10.0
# What librdkafka reports and cures by itself, or another attempt may.
_PASSING = (
    kafka.KafkaError._ALL_BROKERS_DOWN,
    kafka.KafkaError._TRANSPORT,
    kafka.KafkaError._TIMED_OUT,
    kafka.KafkaError._RESOLVE,
    kafka.KafkaError._WAIT_COORD,
    kafka.KafkaError.LEADER_NOT_AVAILABLE,
    kafka.KafkaError.NOT_LEADER_FOR_PARTITION,
    kafka.KafkaError.UNKNOWN_TOPIC_OR_PART,
    kafka.KafkaError._UNKNOWN_TOPIC,
    kafka.KafkaError._UNKNOWN_PARTITION,
)


def settings_of(address: Address) -> dict[str, Any]:
    """Return the settings of a client; options of the address are librdkafka's."""
    if not address.path or "/" in address.path:
        raise InputError("input", ": {!r} must name one topic after the hosts", str(address))
    settings: dict[str, Any] = {"bootstrap.servers": address.hosts, **address.options}
    if address.user:
        settings |= {"sasl.username": address.user, "sasl.password": address.password or ""}
    return settings | {"log_level": 0}  # brokers that are away are told here, in one line


class KafkaTopic:
    """The topic at ``kafka://host:port,host:port/TOPIC``; a value is a JSON object.

    Partitions are all that there are when it is opened.
    """

    def __init__(self, address: Address, columns: Sequence[str], stop: threading.Event) -> None:
        self._address, self._stop = address, stop
        settings = settings_of(address) | {
            "group.id": "dynmeans",  # asked for by the client; positions are not committed there
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "socket.keepalive.enable": True,
            "error_cb": self._note_error,
        }
        self._consumer = _make_client(kafka.Consumer, settings, address)
        self._backoff = Backoff(address, stop)
        self._after: dict[str, Any] = {}
        self._behind: set[str] | None = None  # None until partitions are assigned
        self._unheard: set[str] = set()  # assigned, and no fetch was answered yet
        self._outage = ""

    def open(self, after: Mapping[str, Any], inbox: Inbox) -> None:
        """Begin after the given offsets, as soon as the brokers are there."""
        self._after = dict(after)

    def poll(self, seconds: float) -> list[Message] | None:
        """Return the next messages of any partition; None before each has answered."""
        try:
            if self._behind is None:
                self._assign()
            found = self._consumer.consume(_AT_ONCE, seconds)
        except kafka.KafkaException as error:
            if error.args[0].code() not in _PASSING:
                sentence = self._backoff.redact(_format_error(error))
                raise ConnectionError(f"{self._address}: {sentence}.") from None
            self._backoff.wait(_format_error(error))
            return None
        messages = [message for one in found for message in self._messages(one)]
        if messages:
            self._outage = ""
            self._backoff.reset()
        elif self._outage:
            # The client reconnects by itself, but does not tell when; another assignment does.
            self._behind, outage, self._outage = None, self._outage, ""
            self._backoff.wait(outage)
            return None
        return messages if messages or not self._unheard else None

    def _note_error(self, error: Any) -> None:
        if error.code() in _PASSING:
            self._outage = error.str()

    def _assign(self) -> None:
        topic = self._address.path
        known = self._consumer.list_topics(topic, _METADATA_SECONDS).topics[topic]
        if known.error is not None:
            raise kafka.KafkaException(known.error)
        starts = []
        for number in sorted(known.partitions):
            after = self._after.get(str(number))
            offset = kafka.OFFSET_BEGINNING if after is None else after + 1
            self._check_kept(number, after)
            starts.append(kafka.TopicPartition(topic, number, offset))
        self._consumer.assign(starts)
        self._behind = {str(number) for number in known.partitions}
        self._unheard = set(self._behind)

    def _check_kept(self, number: int, after: int | None) -> None:
        """Refuse a partition that has lost rows that were not read, or that were."""
        if after is None:
            return
        place = kafka.TopicPartition(self._address.path, number)
        low, high = self._consumer.get_watermark_offsets(place, _METADATA_SECONDS)
        if not low <= after + 1 <= high:
            what = f"partition {number} has offsets {low} to {high}, and {after} was read last"
            raise RowsLostError(str(self._address), what)

    def _messages(self, found: Any) -> list[Message]:
        error, behind = found.error(), self._behind or set()
        if error is None:
            number, offset = found.partition(), found.offset()
            behind.add(str(number))
            self._unheard.discard(str(number))
            self._after[str(number)] = offset
            body = found.value() or b""
            return [Message(str(number), offset, f"{number}-{offset}", body)]
        if error.code() == kafka.KafkaError._PARTITION_EOF:
            behind.discard(str(found.partition()))
            self._unheard.discard(str(found.partition()))
        elif error.code() in (
            kafka.KafkaError._AUTO_OFFSET_RESET,
            kafka.KafkaError.OFFSET_OUT_OF_RANGE,
        ):
            raise RowsLostError(str(self._address), error.str())
        elif error.code() in _PASSING:
            self._outage = error.str()
        else:
            raise ConnectionError(f"{self._address}: {error.str()}.")
        return []

    def behind(self) -> set[str]:
        """Return the partitions that were not read to their end."""
        return self._behind or set()

    def position_of(self, partition: str, offset: Any) -> str:
        """Name a message."""
        return f"offset {offset} of partition {partition}"

    def close(self) -> None:
        """Give the connection back."""
        self._consumer.close()


class KafkaSink:
    """A topic, written at least once. An item that was sent twice has the same key twice."""

    def __init__(self, address: Address, stop: threading.Event) -> None:
        self._topic = address.path
        self._backoff = Backoff(address, stop, is_waiting=False)
        settings = settings_of(address) | {
            "enable.idempotence": True,
            "message.timeout.ms": int(_SEND_SECONDS * 1000),
            "linger.ms": 5,
        }
        self._producer = _make_client(kafka.Producer, settings, address)

    def send(self, run: str, items: Sequence[Item]) -> bool:
        """Send items in order, and wait until brokers have them."""
        errors: list[str] = []

        def on_delivery(error: Any, message: Any) -> None:
            if error is not None:
                errors.append(error.str())

        for item in items:
            key = f"{run}/{item.step}-{item.number}"
            self._producer.produce(self._topic, item.body(run), key, on_delivery=on_delivery)
            self._producer.poll(0)
        left = self._producer.flush(_SEND_SECONDS)
        if errors or left:
            self._producer.purge()
            self._producer.flush(1.0)
            self._backoff.wait(errors[0] if errors else "no answer")
        return not errors and not left

    def close(self) -> None:
        """Nothing is held between two calls."""


def _make_client(kind: Any, settings: dict[str, Any], address: Address) -> Any:
    try:
        return kind(settings)
    except kafka.KafkaException as error:
        message = address.redact(_format_error(error))
        raise InputError("input", ": {!r}: {}", str(address), message) from None


def _format_error(error: Exception) -> str:
    inner = error.args[0] if error.args else error
    return inner.str() if isinstance(inner, kafka.KafkaError) else str(inner)


open_stream, open_sink = KafkaTopic, KafkaSink
