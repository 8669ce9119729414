"""WordVectors: texts as vectors of their words, learned batch by batch."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_count
from dynmeans.spaces.sparse_rows import refuse_sparse_texts
from dynmeans.words.stop_words import stop_words
from dynmeans.words.word_table import MAX_WORDS, WIDTH, WordTable


class WordVectors(TransformerMixin, BaseEstimator):
    """Texts as unit rows of 1,024 numbers, for `DynamicMeans(space="words")`.

    The vector of a word is a row of signs from a hash, plus the mean direction of the words it
    occurred with, so words of the same context are close to each other. No model is needed:
    `partial_fit` learns from one batch after the other. A text without words is a row of zeros.

    Parameters
    ----------
    language : str
        Languages whose stop words are removed: "en", or several such as "en,de" (those other than
        English need the package stopwordsiso), or "none".
    stop_words : sequence of str
        Further words to remove.
    max_words : int
        Maximum number of words in the table; beyond it, the rarest are dropped. A larger value
        keeps rarer words, at 4 KB of RAM each.

    See Also
    --------
    dynmeans.cluster : With `text`, vectors, clusters and their names in one call.
    DynamicMeans : Clusters the vectors, with `space="words"`.
    sklearn.feature_extraction.text.TfidfVectorizer : Sparse vectors with a fixed vocabulary.

    References
    ----------
    .. [1] P. Kanerva, J. Kristoferson and A. Holst, "Random Indexing of Text Samples for Latent
       Semantic Analysis", Annual Conference of the Cognitive Science Society, 2000.

    Examples
    --------
    >>> vectors = WordVectors()
    >>> rows = vectors.partial_fit(["Rain and snow", "Snow, wind"]).transform(["snow", "goal", ""])
    >>> rows.shape, rows.any(axis=1).tolist()
    ((3, 1024), [True, True, False])
    """

    def __init__(
        self, language: str = "en", stop_words: Sequence[str] = (), max_words: int = MAX_WORDS
    ) -> None:
        self.language = language
        self.stop_words = stop_words
        self.max_words = max_words

    def fit(self, X: Iterable[str], y: Any = None) -> "WordVectors":
        """Reset the table and learn from the texts."""
        self.__dict__.pop("table_", None)
        return self.partial_fit(X)

    def partial_fit(self, X: Iterable[str], y: Any = None) -> "WordVectors":
        """Learn from one more batch of texts."""
        self.fit_transform_batch(X)
        return self

    def fit_transform(
        self, X: Iterable[str], y: Any = None, **parameters: Any
    ) -> npt.NDArray[np.float32]:
        """Reset the table, learn from the texts and return their vectors."""
        self.__dict__.pop("table_", None)
        return self.fit_transform_batch(X)

    def fit_transform_batch(self, X: Iterable[str]) -> npt.NDArray[np.float32]:
        """Learn from one more batch of texts, and return its rows."""
        texts = _check_arguments(X)
        if "table_" not in self.__dict__:
            left_out = stop_words(self.language, self.stop_words)
            self.table_ = WordTable(left_out, check_count("max_words", self.max_words))
        return self.table_.transform(texts)

    def transform(self, X: Iterable[str]) -> npt.NDArray[np.float32]:
        """Return a row for each text, and learn nothing."""
        check_is_fitted(self, "table_")
        return self.table_.map(_check_arguments(X))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return a name for each number of a row."""
        return np.array([f"words{j}" for j in range(WIDTH)], dtype=object)


def _check_arguments(texts: Iterable[Any]) -> list[str | None]:
    if isinstance(texts, str):
        raise InputError("X", "must be a list of texts, got one text", hint="Use [text].")
    refuse_sparse_texts("X", "must be a list of texts", texts)
    listed = list(texts)
    for number, text in enumerate(listed):
        if not (isinstance(text, str) or text is None or text != text):  # NaN of a data frame
            raise InputError("X", "must hold texts; row {} is {!r}", number, text)
    return [text if isinstance(text, str) else None for text in listed]
