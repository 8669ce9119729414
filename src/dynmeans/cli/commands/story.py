"""dynmeans story: what happened in a run, in a few sentences."""

from dynmeans.cli import options


def story(run_folder: options.RunFolder, as_json: options.AsJson = False) -> None:
    """Say what happened: how many clusters, the largest, who comes back, splits, what is left out.

    [bold]Example[/bold]

    dynmeans story run
    """
    from dynmeans.cli.output import print_json, say
    from dynmeans.runs.look.story import story_of
    from dynmeans.runs.run import Run

    with Run.open(run_folder) as run:
        sentences = story_of(run)
    if as_json:
        print_json(sentences)
        return
    for sentence in sentences:
        say(sentence)
