"""How soon a committed window reaches fifty readers of ``dynmeans serve``.

Run as ``python -m benchmarks.streams.live_readers``. A server in a process of its own, fifty
connections in this one, and a run that takes in a window every half second; prints the time from
the commit to the arrival at the last reader, and ends with an error if one takes a second.
"""

import asyncio
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

from benchmarks.machine import machine, write_results
from dynmeans import Run
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window

N_READERS, N_WINDOWS, N_POINTS = 50, 20, 2000
LIMIT = 1.0


def window(step: int, rng: np.random.Generator) -> Window:
    """Forty clusters that move a little."""
    centers = np.stack([np.arange(40) * 3.0, np.full(40, 0.01 * step)], axis=1)
    points = centers[rng.integers(0, 40, N_POINTS)] + rng.normal(0, 0.1, (N_POINTS, 2))
    return Window(points, name=f"window {step}")


async def measured(folder: Path, address: str) -> list[float]:
    """Commit windows one after the other; return the slowest arrival of each."""
    rng = np.random.default_rng(0)
    limits = httpx.Limits(max_connections=N_READERS + 5)
    arrivals: list[dict[int, float]] = [{} for _ in range(N_READERS)]
    committed: dict[int, float] = {}

    async def read(mine: dict[int, float], client: httpx.AsyncClient) -> None:
        async with client.stream("GET", f"{address}/api/stream?after=0", timeout=120) as response:
            async for line in response.aiter_lines():
                if line.startswith("id: "):
                    last = int(line[4:])
                    for step in range(1, last + 1):
                        mine.setdefault(step, time.monotonic())
                    if last == N_WINDOWS:
                        return

    async with httpx.AsyncClient(limits=limits) as client:
        tasks = [asyncio.create_task(read(mine, client)) for mine in arrivals]
        await asyncio.sleep(2.0)
        with Run.open(folder) as run:
            for step in range(1, N_WINDOWS + 1):
                run.process(window(step, rng))
                committed[step] = time.monotonic()
                await asyncio.sleep(0.5)
        await asyncio.gather(*tasks)
    return [
        max(mine[step] for mine in arrivals) - committed[step] for step in range(1, N_WINDOWS + 1)
    ]


def main() -> None:
    """Serve, read, write, print."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        config = RunConfig(("x", "y"), ModelConfig(new_penalty=1.0, random_state=0))
        with Run.create(folder, config) as run:
            run.process(window(0, np.random.default_rng(0)))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "dynmeans.cli", "serve", str(folder), "--port", str(port)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            address = f"http://127.0.0.1:{port}"
            for _ in range(300):
                try:
                    httpx.get(address + "/health")
                    break
                except httpx.TransportError:
                    time.sleep(0.1)
            httpx.get(address + "/", timeout=60)
            delays = asyncio.run(measured(folder, address))
        finally:
            server.terminate()
            server.wait()
    print(
        f"{N_READERS} readers, {N_WINDOWS} windows of {N_POINTS:,} rows: the last reader has a "
        f"window {np.median(delays):.2f} s after its commit (median), {max(delays):.2f} s at most"
    )
    write_results("streams/live_readers", {"machine": machine(), "seconds": delays})
    if max(delays) >= LIMIT:
        raise SystemExit(f"more than {LIMIT:g} s")


if __name__ == "__main__":
    main()
