"""python -m paper aircraft: messages to flows, Table 1 and Figure 2."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from dynmeans.cli.output import print_line
from dynmeans.inputs.input_error import InputError
from paper.aircraft.config import AircraftConfig
from paper.aircraft.experiment import run_aircraft, write_figures
from paper.progress_bar import progress_bar

_OUT = Path("experiment-output")


def aircraft(
    messages: Annotated[
        Path | None,
        typer.Option(help="Messages, CSV or Parquet. Without them a week is simulated."),
    ] = None,
    flights: Annotated[
        Path | None, typer.Option(help="Flights with their true flow, CSV or Parquet.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="A column of the messages: id=icao24, time=..., latitude, speed, ..."),
    ] = None,
    time_unit: Annotated[
        str | None, typer.Option(help="s, ms, us or ns, if times are numbers; else detected.")
    ] = None,
    speed_unit: Annotated[
        str | None, typer.Option(help="kt, m/s, km/h or mph; else detected from the positions.")
    ] = None,
    heading_unit: Annotated[
        str | None, typer.Option(help="degrees or radians; else detected.")
    ] = None,
    flight_id: Annotated[str, typer.Option(help="Column of the flights: id.")] = "flight",
    label: Annotated[str, typer.Option(help="Column of the flights: true flow.")] = "flow",
    scored: Annotated[
        str | None, typer.Option(help="Column of the flights: whether the label can be trusted.")
    ] = None,
    confidence: Annotated[
        str | None, typer.Option(help="Column of the flights: weight of the label, 0 to 1.")
    ] = None,
    area: Annotated[str, typer.Option(help="South,north,west,east in degrees.")] = "24,50,-126,-66",
    window: Annotated[
        list[float] | None, typer.Option(help="Hours of a window; may be given more than once.")
    ] = None,
    plain_noise_ratio: Annotated[
        float | None, typer.Option(help="Of the plain feature; by marginal likelihood if left out.")
    ] = None,
    is_gp_own: Annotated[
        bool,
        typer.Option(
            "--own-gp", help="Plain feature: find length and noise separately for each trajectory."
        ),
    ] = False,
    n_trials: Annotated[int, typer.Option(help="Trials of each row of the table.")] = 20,
    gibbs_trials: Annotated[
        int | None, typer.Option(help="The same for the slow sampler, if fewer.")
    ] = None,
    is_quick: Annotated[
        bool, typer.Option("--quick", help="Few trials, half-hour windows; takes a few minutes.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for results and figures.")] = _OUT,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
    n_jobs: Annotated[int, typer.Option(help="Processes; -1 is one for each core.")] = -1,
    is_drawn_only: Annotated[
        bool, typer.Option("--figures-only", help="Draw what the files hold; run nothing.")
    ] = False,
) -> None:
    """Flows of aircraft (Sec. 6.2): messages to features to clusters, table and map.

    Results are kept in OUT/aircraft-*.parquet as they come; an interrupted run is resumed, and one
    that asks for more trials adds them.
    """
    given: dict[str, Any] = {} if window is None else {"windows": tuple(window)}
    config = AircraftConfig(
        messages=None if messages is None else str(messages),
        flights=None if flights is None else str(flights),
        columns=_columns(column or []),
        units=_stated({"time": time_unit, "speed": speed_unit, "heading": heading_unit}),
        flight_id=flight_id,
        label=label,
        scored=scored,
        confidence=confidence,
        area=_area(area),
        plain_noise_ratio=plain_noise_ratio,
        is_gp_own=is_gp_own,
        n_trials=n_trials,
        gibbs_trials=n_trials if gibbs_trials is None else gibbs_trials,
        seed=seed,
        **given,
    )
    config = config.quick() if is_quick else config
    if not is_drawn_only:
        with ExitStack() as stack:
            run_aircraft(config, out, n_jobs=n_jobs, on_progress=_watch(stack))
    files, summary = write_figures(out, config)
    for line in summary.splitlines():
        print_line(line)
    for file in files:
        print_line(f"written: {file}")


def _watch(stack: ExitStack) -> Any:
    """Open a bar for each stage; it closes with the stack, or when the next one opens."""

    def open_bar(stage: str) -> Any:
        stack.close()
        return stack.enter_context(progress_bar(f"aircraft, {stage}", "steps"))

    return open_bar


def _stated(units: dict[str, str | None]) -> dict[str, str] | None:
    return {name: unit for name, unit in units.items() if unit is not None} or None


def _columns(pairs: list[str]) -> dict[str, str] | None:
    columns = {}
    for pair in pairs:
        key, equals, name = pair.partition("=")
        if not equals or not name:
            raise InputError("column", "must be like id=icao24", got=pair)
        columns[key] = name
    return columns or None


def _area(text: str) -> tuple[float, float, float, float]:
    try:
        south, north, west, east = map(float, text.split(","))
    except ValueError as error:
        rule = "must be south,north,west,east in degrees"
        raise InputError("area", rule, got=text) from error
    return south, north, west, east
