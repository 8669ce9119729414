"""Stop words: words of grammar, which occur in any context."""

from collections.abc import Iterable

from dynmeans.inputs.input_error import InputError

# The English list of Snowball (BSD 3-Clause), with the modal verbs and the commonest words that it
# names in its comments, and that of scikit-learn (BSD 3-Clause; from the Glasgow Information
# Retrieval Group) without its nouns, adjectives, full verbs and abbreviations (fire, bill, mine,
# system, call, found, un and the like). Also what is left of contractions: don't is read as "don".
_ENGLISH = """
about above across after afterwards again against all almost alone along already also although
always am among amongst amoungst an and another any anyhow anyone anything anyway anywhere are
aren arent around as at back be became because become becomes becoming been before beforehand
behind being below beside besides between beyond both but by can cannot cant could couldn couldnt
daren darent did didn didnt do does doesn doesnt doing don done dont down due during each eg eight
either eleven else elsewhere enough etc even ever every everyone everything everywhere except few
fifteen fifty first five for former formerly forty four from further get go goes had hadn hadnt
has hasn hasnt have haven havent having he hence her here hereafter hereby herein hereupon hers
herself high him himself his how however hundred ie if in indeed into is isn isnt it its itself
just last latter latterly least less let like ll long made make many may me meanwhile might mightn
mightnt more moreover most mostly much must mustn mustnt my myself namely needn neednt neither
never nevertheless new next nine no nobody none noone nor not nothing now nowhere of off often old
on once one only onto or other others otherwise ought oughtn oughtnt our ours ourselves out over
own per perhaps please put rather re said same say says second see seem seemed seeming seems seen
several shall shan shant she should shouldn shouldnt since six sixty so some somehow someone
something sometime sometimes somewhere still such take ten than that the their theirs them
themselves then thence there thereafter thereby therefore therein thereupon these they third this
those though three through throughout thru thus to together too toward towards twelve twenty two
under until up upon us ve very via was wasn wasnt way we well were weren werent what whatever when
whence whenever where whereafter whereas whereby wherein whereupon wherever whether which while
whither who whoever whole whom whose why will with within without won wont would wouldn wouldnt
yet you your yours yourself yourselves
"""
ENGLISH = frozenset(_ENGLISH.split())
_CODES = {
    "arabic": "ar", "chinese": "zh", "dutch": "nl", "english": "en", "french": "fr",
    "german": "de", "hindi": "hi", "italian": "it", "japanese": "ja", "portuguese": "pt",
    "russian": "ru", "spanish": "es", "swedish": "sv", "turkish": "tr",
}  # fmt: skip


def stop_words(language: str, more: Iterable[str] = ()) -> frozenset[str]:
    """Return the stop words of languages by their codes, as in "en,de", and `more` of your own.

    English is here; other languages come from the package stopwordsiso. "none" is no list.

    >>> "the" in stop_words("en"), "fire" in stop_words("en"), stop_words("none")
    (True, False, frozenset())
    """
    found = frozenset(word.lower() for word in more)
    for code in [part.strip().lower() for part in language.split(",") if part.strip()]:
        if code == "en":
            found |= ENGLISH
        elif code != "none":
            found |= _of_package(code)
    return found


def _of_package(code: str) -> frozenset[str]:
    known = "must be codes of languages with a list of stop words, such as en, de, fr or 'none'"
    if not 2 <= len(code) <= 3:
        right = _CODES.get(code)
        hint = "" if right is None else f"Use {{language={right!r}}}."
        raise InputError("language", known, got=code, hint=hint)
    try:
        import stopwordsiso  # noqa: PLC0415
    except ImportError as error:
        rule = "{!r} needs the package stopwordsiso, which is not installed"
        hint = "pip install 'dynmeans[languages]', or give {stop_words=...} and {language='none'}."
        raise InputError("language", rule, code, hint=hint) from error
    if code not in stopwordsiso.langs():
        raise InputError("language", known, got=code)
    return frozenset(stopwordsiso.stopwords(code))
