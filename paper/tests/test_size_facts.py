"""Words such as "published size" appear where the rows carry them, and not otherwise."""

import pytest

from paper.pages import size_facts, tables
from paper.results_file import Results


@pytest.fixture
def fewer(monkeypatch):
    """Leave out the rows of the committed results that a test names."""

    def leave_out(condition):
        whole = {noise: tables.synthetic(noise) for noise in tables.NOISES}

        def cut(noise):
            found = whole[noise]
            return Results(found.frame.query(condition), found.configuration, found.sessions)

        monkeypatch.setattr(size_facts, "synthetic", cut)
        size_facts._compared.cache_clear()

    yield leave_out
    size_facts._compared.cache_clear()


def test_published_size_is_said_of_fifty_streams_of_everything():
    assert size_facts.size() == "published size"
    assert size_facts.swept() == "540 settings on 50 streams"
    assert size_facts.compared() == "50 streams"


def test_a_setting_with_fewer_streams_is_not_the_published_size(fewer):
    fewer("part != 'search' or trial < 8 or new_penalty != 0.2")
    assert size_facts.size() == "8 to 50 streams of each kind"
    assert size_facts.swept() == "540 settings on 8 to 50 streams"


def test_a_kind_of_trial_with_fewer_streams_is_not_the_published_size(fewer):
    fewer("part == 'search' or method != 'gibbs' or n_clusters != 50 or trial < 3")
    assert size_facts.size() == "3 to 50 streams of each kind"


def test_the_search_is_the_same_only_if_every_setting_had_as_many_streams(fewer):
    assert size_facts.search() == "a shallower search"
    fewer("part != 'search' or trial < 2")
    assert size_facts.search() == "the same search"
