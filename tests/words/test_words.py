"""Words of texts, their vectors, and what is remembered of them."""

import sys
import types

import numpy as np
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from dynmeans.inputs.input_error import InputError
from dynmeans.words.split_words import split_words
from dynmeans.words.stop_words import ENGLISH, stop_words
from dynmeans.words.topic_groups import group_topics, set_far_apart, topic_levels
from dynmeans.words.topic_names import new_words, topic_name
from dynmeans.words.topics import Topic, Topics
from dynmeans.words.word_table import COMPANY_UNIT, WordTable

TEXTS = [
    f"{a} {b} {c}"
    for a, b, c in zip(
        ["rain", "snow", "wind", "goal", "match", "team"] * 20,
        ["storm", "flood", "river", "cup", "league", "coach"] * 20,
        ["north", "south", "coast"] * 40,
        strict=True,
    )
]


def rows_of(table, texts):
    return table.transform(texts)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("12 1,200 3.5 %", []),
        ("\U0001f600 \U0001f680\U0001f1e6\U0001f1fa", []),
        ("\ud800 lone \udfff", ["lone"]),
        ("<script>alert('x')</script> <b>bold</b> &lt;i&gt;", ["alert", "bold"]),
        ("5 < 6 and 7 > 3 fine", ["and", "fine"]),
        (
            "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd",
            ["\u0645\u0631\u062d\u0628\u0627", "\u05e9\u05dc\u05d5\u05dd"],
        ),
        ("don't it's l'homme", ["don", "it", "homme"]),
        ("covid-19 e-mail #MeToo @bob a@b.com", ["covid", "mail", "metoo"]),
        ("x" * 100_000, []),
        ("\uff28\uff45\uff4c\uff4c\uff4f", ["hello"]),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", ["\u0939\u093f\u0928\u094d\u0926\u0940"]),
    ],
)
def test_words_of_hostile_texts(text, words):
    assert split_words(text) == words


def test_punctuation_and_unassigned_code_points_are_no_part_of_a_word():
    assert split_words("\u0928\u092e\u0938\u094d\u0924\u0947\u0964 \u0995\u0996\u09c9") == [
        "\u0928\u092e\u0938\u094d\u0924\u0947",
        "\u0995\u0996",
    ]


def test_a_text_of_a_hundred_thousand_characters_is_one_unit_row():
    rows = WordTable().transform([" ".join(f"word{i}" for i in range(12_000)), "<" * 100_000])
    assert np.linalg.norm(rows, axis=1).round(4).tolist() == [1.0, 0.0]


def test_stop_words_are_of_grammar_and_not_of_content():
    assert {"the", "of", "to", "for"} <= ENGLISH
    assert not {"fire", "bill", "mine", "mill", "system", "call", "found", "interest"} & ENGLISH


def test_other_languages_come_from_a_package_and_are_named_where_it_is_missing(monkeypatch):
    package = types.ModuleType("stopwordsiso")
    package.langs = lambda: {"de", "en"}
    package.stopwords = {"de": {"und", "der"}}.get
    monkeypatch.setitem(sys.modules, "stopwordsiso", package)
    assert {"und", "the", "foo"} <= stop_words("en, de", ["Foo"])
    with pytest.raises(InputError, match="language must be codes of languages"):
        stop_words("xx")
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    with pytest.raises(InputError, match="stopwordsiso, which is not installed"):
        stop_words("de")


def test_rows_have_length_one_and_a_text_without_a_word_is_zeros():
    rows = rows_of(WordTable(ENGLISH), [*TEXTS, "", None, "the of 12"])
    lengths = np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(lengths[: len(TEXTS)], 1.0, rtol=1e-6)
    assert not rows[len(TEXTS) :].any()


def test_words_that_keep_the_same_company_come_near_each_other():
    table = WordTable()
    others = [f"u{i} v{i} w{i}" for i in range(8)] * 30
    rows_of(table, [f"{a} storm flood" for a in ("rain", "snow")] * 30 + others)
    near, far = table.map(["snow", "u1"]) @ table.map(["rain"])[0]
    assert near > 0.3 > far


def test_vectors_of_a_window_do_not_depend_on_later_windows_nor_on_its_order():
    first = rows_of(WordTable(), TEXTS)
    table = WordTable()
    turned = rows_of(table, TEXTS[::-1])[::-1]
    np.testing.assert_array_equal(first, turned)
    later = rows_of(table, TEXTS)
    assert not np.array_equal(first, later)  # the company is known better


def test_rows_of_new_texts_add_no_word_to_what_is_remembered():
    table, other = WordTable(), WordTable()
    for one in (table, other):
        rows_of(one, TEXTS[:30])
    table.map([f"unseen{i} storm" for i in range(50)])
    np.testing.assert_array_equal(rows_of(table, TEXTS[30:]), rows_of(other, TEXTS[30:]))
    assert list(table.places) == list(other.places)


def test_rows_of_many_texts_are_those_of_fewer_at_a_time(monkeypatch):
    expected = rows_of(WordTable(), TEXTS)
    monkeypatch.setattr("dynmeans.words.word_table._BLOCK", 1_000_000)
    np.testing.assert_array_equal(rows_of(WordTable(), TEXTS), expected)


def test_company_is_the_sum_of_the_unit_rests():
    table = WordTable()
    rows_of(table, ["one two", "one two three"])
    k = table.places["one"]
    signs = {w: np.unpackbits(table._signs[table.places[w]]) * 2.0 - 1 for w in table.places}
    # ln((1 + 2) / (1 + seen)): two texts each with one and two, one with three.
    two, three = 0.0, np.log(3 / 2)
    rest = two * signs["two"] + three * signs["three"]
    expected = rest / np.linalg.norm(rest)
    np.testing.assert_allclose(table._company[k] * COMPANY_UNIT, expected, atol=COMPANY_UNIT)
    assert table._columns["n_texts"][k] == 1


def test_a_table_comes_back_from_its_rows_to_the_bit():
    table = WordTable(ENGLISH)
    rows_of(table, TEXTS[:60])
    kept = {row[0]: row for row in table.take_changes()[0]}
    rows_of(table, TEXTS[60:80])
    changed, forgotten = table.take_changes()
    kept |= {row[0]: row for row in changed}
    again = WordTable.from_rows([kept[w] for w in sorted(kept)], table.header(), ENGLISH)
    assert not forgotten
    np.testing.assert_array_equal(again.transform(TEXTS[80:]), table.transform(TEXTS[80:]))
    assert again.header() == table.header()


def test_rare_words_are_forgotten_where_there_are_too_many_and_memory_stays_bounded():
    table = WordTable(most_words=200)
    for window in range(12):
        texts = [f"storm flood w{window}x{i} v{window}y{i}" for i in range(60)]
        rows_of(table, texts)
        rows, forgotten = table.take_changes()
        assert len(table.places) <= 200
        assert not {row[0] for row in rows} & set(forgotten)
    assert "storm" in table.places
    total = sum(table._company.astype(np.int64))
    np.testing.assert_array_equal(table.total, total)
    assert table.totals.n_rests == table._columns["n_texts"].sum()


def test_company_of_a_very_frequent_word_is_halved_before_it_leaves_32_bits(monkeypatch):
    monkeypatch.setattr("dynmeans.words.word_table._MAX_TEXTS", 32)
    table = WordTable()
    for _ in range(10):
        rows_of(table, TEXTS)
    assert table._columns["n_texts"].max() < 32 + len(TEXTS)
    np.testing.assert_array_equal(table.total, sum(table._company.astype(np.int64)))
    assert table.totals.n_rests == table._columns["n_texts"].sum()


def topics_of(texts, labels):
    table, topics = WordTable(ENGLISH), Topics()
    table.transform(texts)
    topics.add(np.array(labels), table.last, np.zeros(len(texts)), table.seen_in)
    return topics.by_id, table, topics


def test_topics_are_named_by_words_that_most_texts_share():
    texts = [f"sars outbreak in city{n}" for n in range(20)]
    texts += [f"the world cup final{n}" for n in range(20)]
    texts += ["extraordinarily " * 3 + "incomprehensibilities characteristically"]
    names = {k: topic.name for k, topic in topics_of(texts, [3] * 20 + [4] * 20 + [5])[0].items()}
    assert set(names[3].split(", ")) == {"sars", "outbreak"}
    assert set(names[4].split(", ")) == {"world", "cup"}
    assert max(map(len, names.values())) <= 30


def test_a_word_that_is_as_frequent_elsewhere_is_not_in_a_name():
    assert topic_name({"police": 5, "siege": 4}, 5, {"police": 50, "siege": 4}, 60) == "siege"


def test_a_topic_keeps_its_name_until_it_has_grown_by_half():
    by_id, table, topics = topics_of(["sars virus"] * 10, [0] * 10)
    for n, expected in ((4, {"sars", "virus"}), (40, {"sars", "quarantine"})):
        texts = ["sars quarantine"] * n
        table.transform(texts)
        topics.add(np.zeros(n, int), table.last, np.zeros(n), table.seen_in)
        assert set(by_id[0].name.split(", ")) == expected


def test_words_of_a_window_are_those_that_the_topic_had_less_of():
    before = {"iraq": 90, "war": 70, "inspectors": 30}
    assert new_words({"iraq": 20, "war": 14, "looting": 8}, 20, before, 100) == "looting"
    assert new_words({"iraq": 2, "troops": 1}, 2, {}, 0) == "iraq"


def test_a_topic_keeps_its_nearest_and_its_latest_texts():
    texts = ["one storm", "two storm", "three storm", "four storm \ud800"]
    table, topics = WordTable(), Topics()
    table.transform(texts)
    away = np.array([0.5, 0.1, 0.3, 0.4])
    topics.add(np.zeros(4, int), table.last, away, table.seen_in)
    assert topics.by_id[0].typical == "two storm"
    assert topics.by_id[0].recent == ["four storm ?", "three storm", "two storm"]


def test_words_beside_any_other_are_common_and_those_of_a_topic_are_not():
    rng = np.random.default_rng(0)
    topics = [[f"t{k}w{j}" for j in range(12)] for k in range(20)]
    texts = []
    for _ in range(1500):
        words = rng.choice(topics[rng.integers(20)], 5, replace=False).tolist()
        texts.append(" ".join([*words, *rng.choice(["und", "der", "die"], 1)]))
    table = WordTable()
    table.transform(texts)
    assert set(table.are_common(["und", "der", "die", "t0w0", "t5w3"])) == {"und", "der", "die"}


@pytest.mark.parametrize("n_groups", [1, 3, 7])
def test_topics_are_grouped_to_the_number_asked_for(n_groups):
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(80, 16))
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    sizes = rng.integers(1, 100, 80).astype(float)
    groups = group_topics(centers, sizes, n_groups)
    assert sorted(set(groups.tolist())) == list(range(n_groups))
    assert groups[np.argmax(sizes)] == 0


def test_topics_of_one_direction_are_one_group():
    centers = np.repeat(np.eye(3, 8), 10, axis=0) + 0.01 * np.random.default_rng(0).normal(
        size=(30, 8)
    )
    groups = group_topics(centers, np.ones(30), 3)
    assert len({tuple(groups[i : i + 10]) for i in (0, 10, 20)}) == 3


def test_levels_are_nested_and_small_topics_join_the_nearest_large_one():
    rng = np.random.default_rng(1)
    topics = np.eye(60)
    centers = np.concatenate([topics, topics[:30] + 0.05 * rng.normal(size=(30, 60))])
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    n_texts = np.concatenate([rng.integers(10, 400, 60), np.full(30, 3)]).astype(float)
    levels = topic_levels(centers, n_texts)
    assert sorted(levels["fine"].tolist()) == list(range(90))
    np.testing.assert_array_equal(levels["default"][60:], levels["default"][:30])
    assert len(set(levels["default"].tolist())) == 60
    assert len(set(levels["coarse"].tolist())) == 20
    pairs = set(zip(levels["default"].tolist(), levels["coarse"].tolist(), strict=True))
    assert len(pairs) == 60


def test_the_english_list_is_that_of_snowball_and_of_scikit_learn_without_content_words():
    """Of scikit-learn's list only nouns, adjectives, full verbs and abbreviations are left out."""
    content = [
        "amount",
        "bill",
        "bottom",
        "call",
        "cry",
        "describe",
        "detail",
        "empty",
        "fill",
        "find",
        "fire",
        "found",
        "front",
        "full",
        "give",
        "interest",
        "keep",
        "mill",
        "mine",
        "move",
        "name",
        "part",
        "serious",
        "show",
        "side",
        "sincere",
        "system",
        "thick",
        "thin",
        "top",
        "co",
        "con",
        "de",
        "inc",
        "ltd",
        "un",
        "a",
        "i",
    ]
    assert set(content) == ENGLISH_STOP_WORDS - ENGLISH
    assert {"new", "says", "would", "isnt", "ll"} <= ENGLISH


def test_a_word_that_a_full_topic_may_have_had_as_often_is_not_new():
    topic = Topic(n_texts=400, words={f"w{i}": 40 for i in range(40)})
    texts = ["pay looting"] * 10
    told = topic.take_in({"pay": 1, "looting": 9}, texts, np.zeros(10))
    assert told == "looting"
    # With 40 of 400 texts, 2 of 10 are hardly more than usual, and 0 of 400 would be.
    assert new_words({"pay": 2, "looting": 9}, 10, topic.words, 400, 80) == "looting"


@pytest.mark.parametrize(("given", "code"), [("english", "en"), ("German", "de")])
def test_a_language_by_its_name_is_answered_with_its_code(given, code):
    with pytest.raises(InputError, match=f"such as en, de, fr.*Use language='{code}'"):
        stop_words(given)


def test_a_few_small_topics_stay_apart_where_none_is_large():
    levels = topic_levels(np.eye(3), np.array([4.0, 5.0, 3.0]))
    assert len(set(levels["default"].tolist())) == 3


def test_a_small_cluster_joins_a_large_one_only_within_the_cosine_of_new_clusters():
    centers = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.9, 0.436, 0.0], [0.05, 0.1, 0.99]])
    levels = topic_levels(centers, np.array([50.0, 40.0, 3.0, 2.0]), least_cosine=0.3)
    assert levels["default"].tolist() == [0, 1, 0, 2]
    assert topic_levels(centers, np.array([50.0, 40.0, 3.0, 2.0]))["default"].max() == 1


def test_a_run_without_a_topic_has_levels_without_one():
    levels = topic_levels(np.empty((0, 4)), np.empty(0))
    assert {name: len(groups) for name, groups in levels.items()} == dict.fromkeys(levels, 0)


def test_topics_that_fit_no_group_are_one_more_group():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.eye(3, 400), 10, axis=0) + 0.02 * rng.normal(size=(30, 400))
    strangers = rng.normal(size=(40, 400)) / 20
    centers = np.concatenate([groups, strangers])
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    n_texts = np.array([40.0] * 30 + [3.0] * 40)
    levels = topic_levels(centers, n_texts, n_groups=3)
    rest = set_far_apart(levels, centers, n_texts, 0.5)
    assert rest == 3
    assert (levels["default"][30:] == 3).mean() > 0.9
    assert (levels["default"][:30] < 3).all()
    assert set_far_apart(levels, centers, n_texts, 1.0) is None
