"""python -m paper synthetic: the parameter sweep, the comparison with samplers and Figure 1."""

from pathlib import Path
from typing import Annotated

import typer

from dynmeans.cli.output import print_line
from paper.progress_bar import progress_bar
from paper.synthetic.config import SyntheticConfig
from paper.synthetic.experiment import run_synthetic, write_figures

_OUT = Path("experiment-output")


def synthetic(
    noise: Annotated[
        str,
        typer.Option(help="Noise of points and motion: isotropic (as the paper says) or radial."),
    ] = "isotropic",
    is_quick: Annotated[
        bool, typer.Option("--quick", help="A small version; takes a few minutes.")
    ] = False,
    is_full: Annotated[
        bool, typer.Option("--full", help="As published; takes about nine processor hours.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the results file and figures.")] = _OUT,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
    n_jobs: Annotated[int, typer.Option(help="Processes; -1 is one for each core.")] = -1,
    is_drawn_only: Annotated[
        bool, typer.Option("--figures-only", help="Draw what the results file holds; run nothing.")
    ] = False,
    search_by: Annotated[
        str, typer.Option(help="Tracking accuracy to search by and to show: frozen or global.")
    ] = "frozen",
) -> None:
    """Moving Gaussian clusters (Sec. 6.1): parameter sweep, comparison with samplers, figures.

    Results are kept in OUT/synthetic-NOISE.parquet as they come; an interrupted run is resumed.
    With --search-by global, and in other sizes, the file has that in its name too.
    """
    if is_quick and is_full:
        raise ValueError("give --quick or --full, not both.")
    size = "quick" if is_quick else "full" if is_full else "default"
    config = SyntheticConfig.of_size(size, noise=noise, seed=seed, search_by=search_by)
    name = f"synthetic-{noise}{'' if size == 'default' else f'-{size}'}"
    path = out / f"{name}{'' if search_by == 'frozen' else f'-{search_by}'}.parquet"
    if not is_drawn_only:
        with progress_bar(f"synthetic, {noise}", "seconds of work") as advance:
            run_synthetic(config, path, n_jobs=n_jobs, on_progress=advance)
    files, summary = write_figures(path, out)
    for line in summary.splitlines():
        print_line(line)
    for file in (path, *files):
        print_line(f"written: {file}")
