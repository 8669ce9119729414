"""dynmeans send: labels and events of a run to a stream or a table."""

import threading

from dynmeans.cli import options


def send(
    run_folder: options.RunFolder,
    labels_to: options.LabelsTo = None,
    events_to: options.EventsTo = None,
) -> None:
    """Send what a run found to Redis, Kafka, MQTT or PostgreSQL; it starts where it last stopped.

    A stream of Redis and a table of PostgreSQL get every item exactly once, Kafka and MQTT at
    least once: an item that comes twice has the same key twice.

    [bold]Example[/bold]

    dynmeans send run --events-to kafka://localhost:9092/events
    """
    from dynmeans.cli.output import log_to_standard_error, say
    from dynmeans.inputs.input_error import InputError
    from dynmeans.runs.run import Run
    from dynmeans.runs.streams.sink import Forwarder

    if labels_to is None and events_to is None:
        raise InputError("", "give {labels_to=...} or {events_to=...}")
    log_to_standard_error()
    with Run.open(run_folder) as run:
        run.lock()
        for kind, address in (("labels", labels_to), ("events", events_to)):
            if address is None:
                continue
            sender = Forwarder(run, address, kind, threading.Event())
            try:
                if not sender.send_new():
                    raise ConnectionError(f"not all {kind} were sent. Run the command again.")
            finally:
                sender.close()
            say(f"all {kind} are sent")
