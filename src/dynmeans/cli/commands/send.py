"""dynmeans send: labels and events of a run to a stream or a table."""

import threading
from typing import Any

from dynmeans.cli import options
from dynmeans.cli.fields import with_options
from dynmeans.cli.run_options import RunOptions


@with_options({RunOptions: options.OUTPUT}, only={RunOptions: ("labels_to", "events_to")})
def send(run_folder: options.RunFolder, **addresses: Any) -> None:
    """Send labels and events of a run to Redis, Kafka, MQTT or PostgreSQL, from the last sent one.

    Redis and PostgreSQL receive every item exactly once, Kafka and MQTT at least once: repeated
    items have the same key.

    [bold]Example[/bold]

    dynmeans send run --events-to kafka://localhost:9092/events
    """
    from dynmeans.cli.output import log_to_standard_error, print_line
    from dynmeans.inputs.input_error import InputError
    from dynmeans.runs.run import Run
    from dynmeans.runs.streams.sink import ResultForwarder

    if not any(addresses.values()):
        raise InputError("", "give {labels_to=...} or {events_to=...}")
    log_to_standard_error()
    with Run.open(run_folder) as run:
        run.lock()
        for kind in ("labels", "events"):
            if (address := addresses[f"{kind}_to"]) is None:
                continue
            sender = ResultForwarder(run, address, kind, threading.Event())
            try:
                if not sender.send_new():
                    raise ConnectionError(f"not all {kind} were sent. Run the command again.")
            finally:
                sender.close()
            print_line(f"all {kind} are sent")
