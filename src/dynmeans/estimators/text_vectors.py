"""TextVectors: texts as vectors of their words, learned once and kept."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

from dynmeans.engine.blas import one_thread
from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray


class TextVectors(TransformerMixin, BaseEstimator):
    """TF-IDF on its leading directions (latent semantic analysis), and a place for new words.

    Words that stand in more than `max_share` of the texts are left out, in any language. Words
    that were not there at the time of learning are hashed to a few directions of their own, so
    that a topic that is born later lies apart. A text without a word is a row of NaN.

    Parameters
    ----------
    n_directions : int
        Leading directions that are kept.
    n_hashed : int
        Directions of words that are learned too late.
    max_share : float
        Share of the texts above which a word says nothing.

    Examples
    --------
    >>> texts = ["rain and snow", "snow and wind", "goal and match", "match and team"] * 5
    >>> vectors = TextVectors(n_directions=2).fit(texts)
    >>> rows = vectors.transform(["snow", "match", "", "vaccine"])
    >>> bool(abs(rows[0] @ rows[1]) < 1e-12), np.isnan(rows).any(axis=1).tolist()
    (True, [False, False, True, False])
    """

    def __init__(self, n_directions: int = 30, n_hashed: int = 32, max_share: float = 0.5) -> None:
        self.n_directions = n_directions
        self.n_hashed = n_hashed
        self.max_share = max_share

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self.n_directions + self.n_hashed

    @one_thread()
    def fit(self, texts: Sequence[str], y: Any = None) -> "TextVectors":
        """Learn words, their weights and the leading directions."""
        all_words = TfidfVectorizer(sublinear_tf=True, norm=None)
        try:
            shares = np.asarray((all_words.fit_transform(texts) > 0).mean(axis=0)).ravel()
        except ValueError as error:
            raise InputError("text", "must hold words of two letters and more") from error
        names = all_words.get_feature_names_out()
        is_common = shares > self.max_share
        kept = names[~is_common & (shares > 1 / len(texts))]
        if not len(kept):
            rule = "must hold words that stand in several texts, and in fewer than {:.0%}"
            raise InputError("text", rule, self.max_share)
        self.words_ = TfidfVectorizer(sublinear_tf=True, norm=None, vocabulary=kept).fit(texts)
        self._known = frozenset(kept) | frozenset(names[is_common])
        # As many components as words at most; the rest of the directions stays empty.
        n = min(self.n_directions, len(kept) - 1) or 1
        self.axes_ = TruncatedSVD(n, algorithm="arpack" if n < 3 else "randomized", random_state=0)
        self.axes_.fit(self._weighed(texts)[0])
        return self

    @one_thread()
    def transform(self, texts: Iterable[str]) -> FloatArray:
        """Return a unit vector for each text: directions of known words, then of new ones."""
        known, new = self._weighed(list(texts))
        rows = np.zeros((known.shape[0], self.width))
        axes = self.axes_.transform(known)
        rows[:, : axes.shape[1]] = axes
        rows[:, self.n_directions :] = new.toarray()
        lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
        return np.asarray(rows / np.where(lengths > 0, lengths, np.nan))

    def _weighed(self, texts: Sequence[str]) -> tuple[csr_matrix, csr_matrix]:
        """Weigh words by how rare they are, for a length of 1 in all; a new word is the rarest."""
        known = self.words_.transform(texts)
        words_of = self.words_.build_analyzer()
        new = HashingVectorizer(
            analyzer=lambda text: [word for word in words_of(text) if word not in self._known],
            n_features=self.n_hashed,
            norm=None,
        ).transform(texts) * float(self.words_.idf_.max())
        squares = sum(np.asarray(part.multiply(part).sum(axis=1)).ravel() for part in (known, new))
        scale = diags(1.0 / np.sqrt(np.where(squares > 0, squares, 1.0)))
        return scale @ known, scale @ new
