"""Text, embeddings and nested fields in one call: vectors, words, names, stories and dates."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

import dynmeans
from benchmarks.quality.headlines import STOP_WORDS, headlines, n_kept
from dynmeans.cli.__main__ import main
from dynmeans.estimators.word_vectors import WordVectors
from dynmeans.report.from_run import run_report
from dynmeans.runs.run import Run
from dynmeans.spaces.named import find_space

# A few hundred rows leave doubts about lambda; what is found is asserted here.
pytestmark = pytest.mark.filterwarnings("ignore:the suggested penalties may be poor")
WEEKLY = {"time": "when", "every": "1w"}


@pytest.fixture(scope="module")
def news():
    return headlines(4_800, n_topics=6, n_weeks=16, seed=3)


@pytest.fixture(scope="module")
def found(news):
    return dynmeans.cluster(news[0], text="headline", **WEEKLY)


def test_topics_are_found_and_keep_their_numbers_while_they_are_away():
    frame, _ = headlines(4_800, n_topics=6, n_weeks=16, seed=4)
    labels = dynmeans.cluster(frame, text="headline", **WEEKLY).labels
    assert adjusted_rand_score(frame["topic"], labels) >= 0.97
    assert n_kept(frame["topic"], labels) == 6


@pytest.mark.slow
def test_twelve_topics_of_twenty_thousand_headlines_are_found_by_defaults():
    frame, _ = headlines()
    labels = dynmeans.cluster(frame, text="headline", **WEEKLY).labels
    assert adjusted_rand_score(frame["topic"], labels) >= 0.97
    assert n_kept(frame["topic"], labels) == 12


def test_the_same_text_gives_the_same_labels_in_any_order_of_the_frame(news, found):
    turned = news[0].iloc[::-1]
    again = dynmeans.cluster(turned, text="headline", **WEEKLY)
    assert again.labels.loc[found.labels.index].equals(found.labels)


def test_clusters_are_named_by_words_of_their_topic_and_by_no_stop_word(news, found):
    frame, topics = news
    for row in found.clusters.itertuples():
        topic = frame.loc[found.labels == row.cluster_id, "topic"].mode()[0]
        words = row.name.split(", ")
        assert 1 <= len(words) <= 3
        assert set(words) <= set(topics[topic]) - set(STOP_WORDS)


def test_a_name_that_people_give_wins_over_words_until_it_is_taken_away(news):
    found = dynmeans.cluster(news[0], text="headline", **WEEKLY)
    words = found.clusters.loc[0, "name"]
    found.name_cluster(0, "Storms")
    assert found.clusters.loc[0, "name"] == "Storms"
    found.name_cluster(0, "")
    assert found.clusters.loc[0, "name"] == words


def test_the_command_clusters_text_and_names_clusters_too(news, tmp_path, capsys):
    news[0].to_parquet(tmp_path / "news.parquet")
    run = str(tmp_path / "run")
    words = ["cluster", str(tmp_path / "news.parquet"), "--text", "headline", "-t", "when"]
    assert main([*words, "--every", "1w", "-o", run]) == 0
    capsys.readouterr()
    assert main(["summary", run, "--json"]) == 0
    story = json.loads(capsys.readouterr().out)
    assert story[0].startswith("4,800 rows in 16 windows")
    assert main(["labels", run, "-o", str(tmp_path / "out.parquet")]) == 0
    assert pd.read_parquet(tmp_path / "out.parquet")["cluster_name"].notna().all()


def test_the_command_shows_a_typical_text_and_no_empty_line(news, tmp_path, capsys):
    news[0].to_parquet(tmp_path / "news.parquet")
    words = ["cluster", str(tmp_path / "news.parquet"), "--text", "headline", "--time", "when"]
    assert main([*words, "--every", "1w", "-o", str(tmp_path / "run"), "--quiet"]) == 0
    assert main(["clusters", str(tmp_path / "run"), "--describe", "headline", "--top", "1"]) == 0
    lines = [line.split(None, 1) for line in capsys.readouterr().out.splitlines()]
    told = next(rest for first, rest in lines if first == "typical")
    assert told in set(news[0]["headline"])
    with Run.open(tmp_path / "run") as run:
        page = run_report(run, describe=["headline"])
    centers = page.clusters.places
    spread = page.points.places.max(axis=0) - page.points.places.min(axis=0)
    assert np.all(centers <= page.points.places.max(axis=0) + 0.02 * spread)
    assert np.all(centers >= page.points.places.min(axis=0) - 0.02 * spread)
    assert any(line.startswith("typical: ") for told in page.descriptions.values() for line in told)


def test_a_distance_beyond_all_directions_is_no_cosine():
    space = find_space("cosine")
    assert space.format_distance(2.0) == "cosine 0"
    assert space.format_distance(4.1) == "the opposite direction"


def test_text_beside_features_is_refused_by_name(news):
    with pytest.raises(ValueError, match="text cannot be combined with features"):
        dynmeans.cluster(news[0], text="headline", features=["topic"], **WEEKLY)


def vectors_of_three(n_features=8):
    rng = np.random.default_rng(0)
    which = np.arange(600) % 3
    rows = 5 * np.eye(3, n_features)[which] + rng.normal(0, 0.4, (600, n_features))
    frame = pd.DataFrame({"when": pd.date_range("2026-03-01", periods=600, freq="10min")})
    return frame, rows, which


def test_an_array_a_list_column_and_a_polars_array_give_the_same_labels():
    frame, rows, which = vectors_of_three()
    options = {"time": "when", "every": "6h"}
    by_array = dynmeans.cluster(frame, features=rows, **options)
    assert adjusted_rand_score(which, by_array.labels) == 1.0
    listed = frame.assign(embedding=list(rows))
    by_list = dynmeans.cluster(listed, features="embedding", **options)
    polars = pl.DataFrame({"when": frame["when"], "embedding": rows})
    by_polars = dynmeans.cluster(polars, features=["embedding"], **options)
    assert by_list.labels.tolist() == by_array.labels.tolist() == by_polars.labels.to_list()
    with by_list.open_run() as run:
        assert run.config.features[:2] == ("embedding[0]", "embedding[1]")
        assert (run.config.model_config.space, run.config.model_config.search) == (
            "cosine:centered",
            "paper",
        )


def test_a_parquet_file_of_lists_is_read_and_its_labels_are_written(tmp_path):
    frame, rows, which = vectors_of_three()
    frame.assign(e=list(rows)).to_parquet(tmp_path / "e.parquet")
    path = str(tmp_path / "e.parquet")
    found = dynmeans.cluster(path, features="e", time="when", every="6h", space="raw")
    assert adjusted_rand_score(which, found.labels) == 1.0
    assert found.penalties.new_penalty > 1  # not of unit vectors
    written = pd.read_parquet(found.write_labels(tmp_path / "labels.parquet"))
    assert written["cluster_id"].tolist() == found.labels.tolist()


def test_a_list_of_another_length_counts_as_missing():
    frame, rows, _ = vectors_of_three()
    listed = frame.assign(e=list(rows))
    listed.at[4, "e"] = np.ones(3)
    listed.at[9, "e"] = None
    with pytest.warns(dynmeans.DroppedRowsWarning, match="2 without a value for e"):
        found = dynmeans.cluster(listed, features="e", time="when", every="6h")
    assert found.labels.isna().to_numpy().nonzero()[0].tolist() == [4, 9]


@pytest.mark.parametrize("rows", [np.ones((3, 2)), np.ones(600), np.full((600, 2), "a")])
def test_an_array_that_does_not_fit_the_frame_is_refused(rows):
    frame, _, _ = vectors_of_three()
    with pytest.raises(ValueError, match="one row for each of 600 rows"):
        dynmeans.cluster(frame, features=rows, time="when", every="6h")


def test_a_model_of_your_own_makes_the_vectors(news):
    frame = news[0]
    rows = WordVectors().fit_transform(frame["headline"])
    found = dynmeans.cluster(frame, features=rows, space="words", name_by="headline", **WEEKLY)
    assert adjusted_rand_score(frame["topic"], found.labels) > 0.9
    assert found.clusters["name"].notna().all()


def test_fields_of_nested_columns_go_by_their_names(tmp_path, capsys):
    rows = [
        {
            "at": f"2026-03-01T{h:02d}:{m:02d}:00",
            "sensor": {"temp": 9.0 * k + 0.01 * m, "to": {"x": k}},
        }
        for h in range(6)
        for m in range(0, 60, 5)
        for k in (0, 1)
    ]
    path = tmp_path / "nested.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    options = {"time": "at", "every": "1h", "features": ["sensor.temp", "sensor.to.x"]}
    found = dynmeans.cluster(str(path), **options)
    assert found.labels.tolist() == [0, 1] * 72
    assert "center_sensor.temp" in found.clusters
    with pytest.raises(ValueError, match=r"Name a field of it, such as 'sensor\.x'"):
        dynmeans.cluster(str(path), time="at", every="1h", features="sensor")
    written = pd.read_json(found.write_labels(tmp_path / "out.jsonl"), lines=True)
    columns = ["at", "sensor", "step", "cluster_id", "distance", "subcluster_id"]
    assert list(written) == columns


def test_windows_are_dates_as_naive_as_those_of_the_frame(found):
    assert str(found.clusters["first_window"].dtype) == "datetime64[us]"
    frame, rows, _ = vectors_of_three()
    aware = frame.assign(when=frame["when"].dt.tz_localize("UTC"))
    for given, zone in ((frame, None), (aware, "UTC")):
        events = dynmeans.cluster(given, features=rows, time="when", every="6h").events
        assert (
            events["window"].dt.tz is None if zone is None else str(events["window"].dt.tz) == zone
        )
        assert events["window"].iloc[0] == pd.Timestamp("2026-03-01", tz=zone)


def test_the_story_names_the_largest_and_who_comes_back():
    rng = np.random.default_rng(0)
    when = pd.date_range("2026-03-01", periods=24 * 10 * 6, freq="10min")
    hours = when.hour.to_numpy()
    by_day = pd.DataFrame({"when": when, "x": rng.normal(0, 0.1, len(when))})
    lunch = by_day[(hours >= 11) & (hours < 14)].assign(x=lambda f: f["x"] + 9)
    frame = pd.concat([by_day, lunch, pd.DataFrame({"when": [when[500]], "x": [99.0]})])
    found = dynmeans.cluster(
        frame.reset_index(drop=True),
        features="x",
        time="when",
        every="1h",
        new_penalty=1.0,
        max_gap=30,
    )
    story = found.summary()
    assert "The largest is cluster 0, with 1,440 points" in story
    assert "1 cluster returned under the same ID, 9 times in all" in story
    assert "most often: cluster 1 (9)." in story


def test_a_timeline_has_the_names_of_clusters(found):
    texts = [text.get_text() for text in found.plot("timeline").axes[0].get_yticklabels()]
    assert set(texts) == set(found.clusters["name"])


def test_text_is_clustered_by_another_method_on_the_default_search(news):
    found = dynmeans.cluster(news[0], text="headline", method="hdbscan", **WEEKLY)
    with found.open_run() as run:
        model_config = run.config.model_config
    assert (model_config.method, model_config.search) == ("hdbscan", "split")
    assert adjusted_rand_score(news[0]["topic"], found.labels) >= 0.5
    with pytest.raises(ValueError, match="search is not available in method='hdbscan'"):
        dynmeans.cluster(news[0], text="headline", method="hdbscan", search="deep", **WEEKLY)
