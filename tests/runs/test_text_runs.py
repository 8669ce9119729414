"""Runs of texts: streams, kills and resumes, hostile texts, groups of topics."""

import json
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.metrics import normalized_mutual_info_score

import dynmeans
from benchmarks.quality.headlines import headlines
from benchmarks.quality.text_streams import Kind, make_texts
from dynmeans.cli.__main__ import main
from dynmeans.report.from_run import run_report
from dynmeans.runs.analysis.topics import topic_lines
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.run import Run
from dynmeans.runs.store.schema import DATABASE
from dynmeans.runs.window_processor import WindowProcessor
from dynmeans.words.stop_words import ENGLISH

WEEKLY = {"time": "when", "every": "1w"}


@pytest.fixture(scope="module")
def news():
    return headlines(1_600, n_topics=6, n_weeks=12, seed=3)[0]


def all_of(folder):
    """Labels, names, memory and words of a run."""
    with Run.open(folder) as run:
        run.verify()
        labels = pa.concat_tables(run.label_tables())
        words = [tuple(row) for row in run.store.rows("words", "ORDER BY word")]
        names, header = dict(run.edits.names), run.store.manifest("word_table")
        topics = [tuple(row) for row in run.store.rows("topics", "ORDER BY cluster_id")]
        told = [tuple(row) for row in run.store.rows("topic_words", "ORDER BY step, cluster_id")]
        return labels, names, run.memory, words, header, topics, told


def assert_same_run(found, expected):
    assert found[0].equals(expected[0])
    assert found[1] == expected[1]
    assert found[2].clusters == expected[2].clusters
    assert found[3:] == expected[3:]


def test_a_run_that_was_stopped_resumes_to_the_labels_names_and_words_of_an_unbroken_one(
    news, tmp_path, monkeypatch
):
    news.to_parquet(tmp_path / "news.parquet")
    path, options = str(tmp_path / "news.parquet"), {"text": "headline", **WEEKLY}
    dynmeans.cluster(path, run_folder=tmp_path / "whole", **options)
    stops = iter([2, 3])
    process = Run.process

    def killed(run, windows, *arguments, **more):
        def some():
            n = next(stops, None)
            for taken, window in enumerate(windows):
                if taken == n:
                    raise KeyboardInterrupt
                yield window

        more["commit_seconds"] = 0.0
        return process(run, some(), *arguments, **more)

    monkeypatch.setattr(Run, "process", killed)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            dynmeans.cluster(path, run_folder=tmp_path / "broken", **options)
    dynmeans.cluster(path, run_folder=tmp_path / "broken", **options)
    assert_same_run(all_of(tmp_path / "broken"), all_of(tmp_path / "whole"))


def test_a_live_source_of_texts_gives_the_labels_of_a_file(news, tmp_path, monkeypatch):
    lines = [
        json.dumps({"headline": row.headline, "when": row.when.isoformat()})
        for row in news.itertuples()
    ]
    (tmp_path / "news.jsonl").write_text("\n".join(lines) + "\n")
    words = ["--text", "headline", "-t", "when", "--every", "1w", "--quiet"]
    assert main(["cluster", str(tmp_path / "news.jsonl"), *words, "-o", str(tmp_path / "f")]) == 0
    with open(tmp_path / "news.jsonl") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert main(["cluster", "-", *words, "-o", str(tmp_path / "live")]) == 0
    from_file, live = all_of(tmp_path / "f"), all_of(tmp_path / "live")
    assert live[0]["cluster_id"].equals(from_file[0]["cluster_id"])
    assert live[1] == from_file[1]
    assert live[2].clusters == from_file[2].clusters
    assert live[3:] == from_file[3:]


def test_texts_without_a_word_are_noise_that_is_counted(news):
    frame = news.copy()
    frame.loc[5, "headline"] = None
    frame.loc[7, "headline"] = "! ? 12 \U0001f600"
    found = dynmeans.cluster(frame, text="headline", **WEEKLY)
    assert found.labels.index[found.labels == -1].tolist() == [5, 7]
    assert found.status.n_wordless == 2
    assert "2 rows without a word: noise, with the label -1." in found.summary()


def test_hostile_texts_are_clustered_or_noise_and_leave_no_markup_on_the_page(tmp_path):
    texts = ["", " ", "12 34", "\U0001f600", "a", "<script>alert(1)</script>", "x" * 100_000]
    texts += [
        "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
        "NULL",
        "'; DROP TABLE words; --",
        "\x00\x07 bell",
        "\ud800 lone",
        5,
    ]
    texts += ["war of words <img src=x onerror=alert(1)>", None] + ["storm and flood"] * 20
    column = pd.Series(texts, dtype=object)
    frame = pd.DataFrame({"t": column, "n": np.arange(len(texts)) // 10})
    found = dynmeans.cluster(frame, text="t", window_column="n")
    assert found.labels.notna().all()
    names = [name for name in found.topics["name"] if name] + list(found.clusters["name"].dropna())
    assert not any(set(name) & set("<>&") for name in names)
    found.report(tmp_path / "page.html")
    assert "<img src=x" not in (tmp_path / "page.html").read_text()


def test_windows_without_any_word_let_time_pass():
    frame = pd.DataFrame({"t": ["storm flood", "...", "storm flood"], "n": [0, 1, 2]})
    assert dynmeans.cluster(frame, text="t", window_column="n").labels.tolist() == [0, -1, 0]


def test_topics_come_in_the_number_asked_for_and_stay_in_one_group(news, tmp_path):
    found = dynmeans.cluster(
        news, text="headline", n_clusters=4, run_folder=tmp_path / "run", **WEEKLY
    )
    assert found.labels.nunique() == 4
    assert len(found.topics) == 4
    assert found.topics["n_texts"].is_monotonic_decreasing
    with found.open_run() as run:
        assert run.levels.option("default")["n_clusters"] == 4
    assert (
        main(["labels", str(tmp_path / "run"), "--labels-only", "-o", str(tmp_path / "l.csv")]) == 0
    )
    assert pd.read_csv(tmp_path / "l.csv")["cluster_id"].nunique() == 4


def test_small_topics_are_listed_together_where_they_join_no_larger_one(news):
    frame = pd.concat([news, pd.DataFrame({"when": [news["when"].iloc[-1]], "headline": ["zyx"]})])
    found = dynmeans.cluster(frame, text="headline", **WEEKLY)
    assert (found.topics["cluster_id"] >= 0).all()
    found.choose_level("fine")
    topics = found.topics
    assert topics["name"].iloc[-1] == "small topics"
    assert topics["cluster_id"].iloc[-1] == -1
    assert topics["n_texts"].sum() == len(frame)


def test_text_takes_a_language_and_stop_words(news):
    with pytest.raises(ValueError, match="language"):
        dynmeans.cluster(news, text="headline", language="xx", **WEEKLY)
    word = news["headline"].str.split().explode().value_counts().index[0].lower()
    found = dynmeans.cluster(news, text="headline", stop_words=[word], **WEEKLY)
    assert not found.clusters["name"].str.split(", ").explode().eq(word).any()


def test_a_column_of_numbers_is_no_text(news):
    with pytest.raises(ValueError, match="text must be a column of text, but 'topic' is BIGINT"):
        dynmeans.cluster(news, text="topic", **WEEKLY)


def test_a_job_of_texts_stores_how_they_are_read():
    options = WindowOptions(text="t", rows_per_window=5, language="none", stop_words=("foo",))
    assert WindowOptions.from_fields((), options.to_fields()) == options


def test_a_step_that_fails_leaves_no_word_of_its_window(news, tmp_path, monkeypatch):
    news.to_parquet(tmp_path / "news.parquet")
    path, options = str(tmp_path / "news.parquet"), {"text": "headline", **WEEKLY}
    dynmeans.cluster(path, run_folder=tmp_path / "whole", **options)
    step, n = WindowProcessor._step, iter(range(100))

    def failing(self, window):
        if next(n) == 4:
            raise KeyboardInterrupt
        return step(self, window)

    monkeypatch.setattr(WindowProcessor, "_step", failing)
    with pytest.raises(KeyboardInterrupt):
        dynmeans.cluster(path, run_folder=tmp_path / "broken", **options)
    with Run.open(tmp_path / "broken") as run:
        assert run.status().n_windows == 4
    dynmeans.cluster(path, run_folder=tmp_path / "broken", **options)
    assert_same_run(all_of(tmp_path / "broken"), all_of(tmp_path / "whole"))


def test_words_of_each_window_and_texts_of_each_topic_are_shown(news):
    found = dynmeans.cluster(news, text="headline", **WEEKLY)
    texts = set(news["headline"])
    for row in found.topics.itertuples():
        if row.cluster_id >= 0:
            assert {row.typical, *row.recent} <= texts
            assert news["headline"][found.labels == row.cluster_id].iloc[-1] == row.recent[0]
    told = found.words_per_window
    assert set(told["cluster_id"]) <= set(found.labels)
    assert told["words"].str.len().between(1, 30).all()
    assert told["name"].notna().all()


def test_topics_named_by_stop_words_give_a_warning():
    frame = make_texts(Kind(30, 8, 0.2, 0.75, n_texts=2_000, n_windows=4), 0)
    with pytest.warns(dynmeans.StopWordWarning, match=r"named by words that occur in any context"):
        dynmeans.cluster(frame, text="text", window_column="window", language="none")
    with warnings.catch_warnings():
        warnings.simplefilter("error", dynmeans.StopWordWarning)
        dynmeans.cluster(frame, text="text", window_column="window")


@pytest.mark.parametrize("kind", [Kind(30, 8, 0.5, 0.25), Kind(10, 40, 0.3, 0.4, n_texts=1_000)])
def test_generated_topics_are_found_at_the_default_cosine(kind):
    frame = make_texts(kind, 5)
    found = dynmeans.cluster(frame, text="text", window_column="window")
    assert normalized_mutual_info_score(frame["topic"], found.labels) >= 0.8
    assert not set(", ".join(found.topics["name"].dropna()).split(", ")) & ENGLISH


def test_suggest_counts_topics_at_three_cosines(news, tmp_path, capsys):
    news.to_parquet(tmp_path / "news.parquet")
    words = ["suggest", str(tmp_path / "news.parquet"), "--text", "headline", "-t", "when"]
    assert main([*words, "--every", "1w", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["new_penalty"] == 1.7
    usual, coarse, fine = (one["n_clusters_total"] for one in found["candidates"])
    assert coarse <= usual < fine
    assert main([*words, "--every", "1w"]) == 0
    assert "This cosine suits most texts" in capsys.readouterr().out


def test_the_page_shows_texts_and_words_of_topics(news, tmp_path):
    found = dynmeans.cluster(news, text="headline", **WEEKLY)
    with found.open_run() as run:
        lines = topic_lines(run)
        page = run_report(run)
    largest = int(found.topics["cluster_id"][0])
    assert [line.partition(": ")[0] for line in lines[largest]] == [
        "typical",
        "latest",
        "new words",
    ]
    assert set(lines[largest]) <= set(page.descriptions[largest])


def test_the_list_of_clusters_shows_the_latest_text(news, tmp_path, capsys):
    dynmeans.cluster(news, text="headline", run_folder=tmp_path / "run", **WEEKLY)
    assert main(["clusters", str(tmp_path / "run"), "--top", "1"]) == 0
    lines = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert {lines["typical"], lines["latest"]} <= set(news["headline"])


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value encountered")
@pytest.mark.parametrize("n_clusters", [None, 3])
def test_texts_of_which_none_has_a_word_are_noise_in_every_answer(n_clusters, tmp_path, capsys):
    texts = ["", "\U0001f600", "123", "the of"]
    frame = pd.DataFrame({"t": texts, "n": range(4)})
    folder = tmp_path / "run"
    found = dynmeans.cluster(
        frame, text="t", window_column="n", n_clusters=n_clusters, run_folder=folder
    )
    assert found.labels.tolist() == [-1] * 4
    assert "4 rows without a word" in found.summary()
    assert "4 rows in 4 windows" in found._repr_html_()
    found.choose_level("fine")
    assert not len(found.topics)
    assert not len(found.clusters)
    assert {len(one.sentence) > 0 for one in found.levels.values()} == {True}
    found.report(tmp_path / "page.html")
    with pytest.raises(ValueError, match="has no clusters to plot"):
        found.plot()
    commands = (["summary"], ["clusters"], ["report", "-o", str(tmp_path / "p.html")])
    for command in commands:
        assert main([command[0], str(folder), *command[1:]]) == 0, capsys.readouterr().err


def test_one_large_topic_that_only_stop_words_name_gives_a_warning():
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(300)]
    texts = [f"out of {' '.join(rng.choice(words, 2))}" for _ in range(90)]
    texts += [f"t{k}a t{k}b t{k}c {rng.choice(words)}" for k in range(12) for _ in range(30)]
    frame = pd.DataFrame({"t": texts, "n": np.arange(len(texts)) % 3})
    with pytest.warns(dynmeans.StopWordWarning, match=r"such as stop words: (of|out)"):
        dynmeans.cluster(frame, text="t", window_column="n", language="none")


def test_a_stream_of_texts_from_a_broker_survives_kills_to_the_labels_of_an_unbroken_one(
    news, redis, tmp_path
):
    bodies = [
        json.dumps({"headline": row.headline, "when": row.when.isoformat()})
        for row in news.itertuples()
    ]
    address = redis.make("headlines")
    words = ["--text", "headline", "-t", "when", "--every", "1w"]
    command = [sys.executable, "-m", "dynmeans.cli", "cluster", address, *words, "-o"]
    broken = tmp_path / "broken"
    for part in (bodies[:500], bodies[500:1_000]):
        redis.send("headlines", part)
        before = n_windows_of(broken)
        run = subprocess.Popen([*command, str(broken)], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while n_windows_of(broken) < before + 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        run.kill()  # SIGKILL
        assert run.wait() == -9
        assert n_windows_of(broken) >= before + 2
    redis.send("headlines", bodies[1_000:])
    for folder in (broken, tmp_path / "whole"):
        done = [*command, str(folder), "--idle-timeout", "2s", "--quiet"]
        subprocess.run(done, check=True)
    found, expected = all_of(broken), all_of(tmp_path / "whole")
    assert len(expected[0]) == len(bodies)
    for name in ("cluster_id", "row_id"):
        assert found[0][name].equals(expected[0][name])
    assert found[1] == expected[1]
    assert found[2].clusters == expected[2].clusters
    assert found[3:] == expected[3:]


def n_windows_of(folder):
    if not (folder / DATABASE).exists():
        return 0
    with Run.open(folder) as run:
        return run.status().n_windows
