"""
Drifting embeddings with unknown topics
=======================================

**Question**: messages arrive day by day. What is being talked about, since when, and has this topic been
there before, though its words have changed?

The messages are made up from word lists; what matters is the pipeline: text to TF-IDF, TF-IDF to a few
dimensions learned on the first days, and there Dynamic Means.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from dynmeans import DynamicMeans
from dynmeans.metrics import tracking_report
from dynmeans.plots import plot_timeline

rng = np.random.default_rng(11)

WORDS = {
    "weather": "rain wind storm sun cloud frost heat flood sky cold snow hail".split(),
    "trains": "train delay platform ticket track signal station rail seat coach fare line".split(),
    "football": "goal match team coach player league cup referee stadium ball win fans".split(),
    "elections": "vote poll party seat debate ballot minister win campaign mayor law tax".split(),
}
# Days on which a topic is talked about: football rests for a week, elections come late.
DAYS = {
    "weather": range(0, 40),
    "trains": range(0, 40),
    "football": [*range(0, 14), *range(21, 40)],
    "elections": range(12, 30),
}


def message(topic, day):
    """Ten words; on each day the talk is about another part of the topic's words."""
    words = WORDS[topic]
    rank = (np.arange(len(words)) - day / 10) % len(words)
    return " ".join(rng.choice(words, size=10, p=np.exp(-rank / 6) / np.exp(-rank / 6).sum()))


texts, truth = [], []
for day in range(40):
    names = [name for name in WORDS if day in DAYS[name] for _ in range(30)]
    texts.append([message(name, day) for name in names])
    truth.append(np.array(names))

# %%
# Learn the embedding once, here on the first twenty days; then it stays as it is, so that distances
# keep their meaning.
embed = make_pipeline(TfidfVectorizer(), TruncatedSVD(6, random_state=0), Normalizer())
embed.fit([text for day in texts[:20] for text in day])
batches = [embed.transform(day) for day in texts]

# %%
# On the unit sphere squared distances lie between 0 and 4; two messages on one topic are about .5 apart.
model = DynamicMeans(new_penalty=1.0, max_gap=10, reach=1.2, random_state=0)
labels, history = model.fit_sequence(batches)
scores = tracking_report(truth, labels)
print(
    f"per day {scores['accuracy_per_step']:.2f}, identities over all days {scores['accuracy_global']:.2f}"
)

# %%
# Name each cluster by the words that mark it on its last day.
vocabulary = embed[0].get_feature_names_out()
for cluster_id in history.cluster_ids:
    record = [r for r in history if cluster_id in r.ids][-1]
    center = record.centers[record.ids == cluster_id]
    weights = embed[1].inverse_transform(center)[0]
    days = [r.step for r in history if cluster_id in r.ids]
    words = ", ".join(vocabulary[np.argsort(-weights)[:4]])
    print(f"topic {cluster_id}: days {days[0]}-{days[-1]}, seen on {len(days)}: {words}")

# %%
figure, ax = plt.subplots(figsize=(9, 3.6), layout="constrained")
plot_timeline(history, ax=ax)
ax.set(xlabel="day", title="Topics: football rests and comes back under its own number")
plt.show()
