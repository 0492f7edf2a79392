"""Source revisions, independence and authority."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densemem.core.limits import ECHO_WORDS
from evidence.policy import (
    AuthorityRefused,
    RevisionConflict,
    RevisionStep,
    SourceNotOwned,
    check_authority,
    check_revision,
    count_voices,
    heard_runs,
    long_enough,
    name_run,
    near_copy,
    normal_text,
    text_runs,
    word_runs,
)
from evidence.vocabulary import Authority, SourceType

A, B, C, D = (UUID(int=number) for number in range(1, 5))
GROUPS = st.integers(1, 8).map(lambda number: UUID(int=number))
FRAGMENTS = st.integers(11, 18).map(lambda number: UUID(int=number))
TEXTS = st.lists(st.tuples(FRAGMENTS, GROUPS), max_size=6)
JOINED = st.lists(st.tuples(FRAGMENTS, GROUPS) | st.tuples(GROUPS, GROUPS), max_size=6)
STORY = "the quick brown fox jumps over the lazy dog near the old mill by the river today"


class TestCheckRevision:
    @pytest.mark.parametrize(
        ("current", "token", "previous", "same", "step"),
        [
            (None, "r1", None, False, RevisionStep.FIRST),
            ("r2", "r3", "r2", False, RevisionStep.ADVANCE),
            ("r2", "r2", "r1", True, RevisionStep.REPLAY),
            ("r1", "r1", None, True, RevisionStep.REPLAY),
        ],
    )
    def test_follows_the_table(self, current, token, previous, same, step):
        decided = check_revision(
            current_token=current,
            owner_is_caller=True,
            token=token,
            previous=previous,
            same_content=same,
            former_tokens=["r1"] if current == "r2" else [],
        )

        assert decided is step

    @pytest.mark.parametrize(
        ("current", "token", "previous", "same", "code"),
        [
            (None, "r1", "r0", False, "first_revision_has_previous"),
            ("r2", "r3", None, False, "previous_revision_missing"),
            ("r2", "r3", "r1", False, "previous_revision_stale"),
            ("r2", "r3", "R2", False, "previous_revision_stale"),
            ("r2", "r3", "r3", False, "previous_revision_stale"),
            ("r2", "r2", "r1", False, "revision_token_reused"),
            ("r2", "r1", "r2", False, "revision_token_is_former"),
            ("r2", "r1", None, True, "revision_token_is_former"),
        ],
    )
    def test_refuses_what_does_not_continue_the_current_one(self, current, token, previous, same, code):
        with pytest.raises(RevisionConflict) as refused:
            check_revision(
                current_token=current,
                owner_is_caller=True,
                token=token,
                previous=previous,
                same_content=same,
                former_tokens=["r1"],
            )

        assert refused.value.code == code
        assert str(refused.value.detail).endswith(".")

    @pytest.mark.parametrize(("token", "same"), [("r3", False), ("r2", True)])
    def test_refuses_everybody_but_the_owner_first(self, token, same):
        with pytest.raises(SourceNotOwned, match="a source key of your own"):
            check_revision(current_token="r2", owner_is_caller=False, token=token, previous="r2", same_content=same)


class TestCheckAuthority:
    @pytest.mark.parametrize("source_type", list(SourceType))
    def test_refuses_authority_without_a_grant_for_the_type(self, source_type):
        others = [other for other in SourceType if other is not source_type]

        with pytest.raises(AuthorityRefused, match=source_type):
            check_authority(authority=Authority.AUTHORITATIVE, source_type=source_type, granted=others)

    def test_allows_it_with_the_grant(self):
        check_authority(authority=Authority.AUTHORITATIVE, source_type=SourceType.MANUAL, granted=[SourceType.MANUAL])

    @pytest.mark.parametrize("authority", [word for word in Authority if word is not Authority.AUTHORITATIVE])
    def test_asks_no_grant_for_less(self, authority):
        check_authority(authority=authority, source_type=SourceType.MANUAL, granted=[])


def joined(*pairs):
    """Return joins as the rule takes them: what each fragment or group is joined to."""
    found = {}
    for one, other in pairs:
        found.setdefault(one, set()).add(other)
    return found


def texts(*groups):
    """Return a text of each group, numbered from 11 on."""
    return [(UUID(int=number), group) for number, group in enumerate(groups, 11)]


F, G, H = (UUID(int=number) for number in (11, 12, 13))  # the first texts


class TestCountVoices:
    @pytest.mark.parametrize(
        ("said", "joins", "expected"),
        [
            ([], [], 0),
            ([], [(A, B)], 0),
            (texts(A), [], 1),
            (texts(A, A), [], 1),
            (texts(A, B), [], 2),
            (texts(A, B), [(A, B)], 1),  # a copy and what it copies
            (texts(A, B), [(B, A)], 1),
            (texts(A, B), [(A, B), (B, A)], 1),  # each copied a text of the other
            (texts(A, B), [(A, C), (B, C)], 1),  # two copies of what supports nothing here
            (texts(A, B), [(C, A), (C, B)], 2),  # somebody copied both: they stay two
            (texts(A, B, C), [(C, A), (C, B)], 2),
            (texts(A, B, C), [(A, B)], 2),
            (texts(A, B), [(C, D)], 2),
            (texts(A, B, C, D), [(A, B), (C, D)], 2),
            (texts(A, B), [(G, A)], 1),  # an echo beside its origin
            (texts(A, B), [(F, B), (G, A)], 1),
            (texts(A, B, C), [(H, A), (H, B)], 2),  # an echo of two beside both
            (texts(A, C), [(G, A), (G, B)], 1),  # beside one of them
            (texts(C), [(F, A), (F, B)], 1),  # beside none
            (texts(A, B), [(F, C), (G, C)], 1),  # two echoes of one
            (texts(A, B), [(F, C), (G, D)], 2),  # of two
            (texts(A, B), [(F, C), (G, C), (G, D)], 1),
            (texts(A, A), [(G, B)], 1),  # a voice that also repeats another
            (texts(A, B), [(UUID(int=19), A), (UUID(int=19), B)], 2),  # an echo that supports something else
        ],
    )
    def test_counts_the_fewest_voices_that_may_be_behind_the_texts(self, said, joins, expected):
        assert count_voices(said, joined(*joins)) == expected

    def test_tells_no_more_than_two_apart_of_those_that_may_all_be_repeated(self):
        said = texts(A, B, C)

        assert count_voices(said, joined((F, D), (G, UUID(int=5)), (H, UUID(int=6)))) == 2

    @given(TEXTS, JOINED)
    def test_does_not_depend_on_the_order(self, said, joins):
        assert count_voices(said[::-1], joined(*joins[::-1])) == count_voices(sorted(said), joined(*sorted(joins)))

    @given(TEXTS, JOINED, TEXTS)
    def test_more_support_is_never_fewer_voices(self, said, joins, more):
        assert count_voices([*said, *more], joined(*joins)) >= count_voices(said, joined(*joins))

    @given(TEXTS, JOINED, JOINED)
    def test_what_others_repeat_takes_no_voice_from_a_record(self, said, joins, more):
        mine = {number for text in said for number in text}
        others = [(one, other) for one, other in more if one not in mine]

        assert count_voices(said, joined(*joins, *others)) == count_voices(said, joined(*joins))

    @given(TEXTS, JOINED, JOINED)
    def test_never_rises_by_a_join(self, said, joins, more):
        assert count_voices(said, joined(*joins, *more)) <= count_voices(said, joined(*joins))

    @given(TEXTS, JOINED)
    def test_is_never_more_than_the_groups_nor_none_for_a_text(self, said, joins):
        assert bool(said) <= count_voices(said, joined(*joins)) <= len({group for _, group in said})


class TestNormalText:
    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            ("Mara works on Quill.", "mara  works on\nQuill.", True),
            ("Zoë works.", "Zoe\N{COMBINING DIAERESIS} works.", True),
            ("Mara works on Quill.", "Mara worked on Quill.", False),
            ("Mara works.", "Mara works not.", False),
        ],
    )
    def test_looks_through_case_and_spacing_only(self, one, other, expected):
        assert (normal_text(one) == normal_text(other)) is expected


WORDS = [f"w{number}" for number in range(104)]  # a hundred runs
LONG = " ".join(WORDS)


def kept(first: int) -> str:
    """Return the long text with only its first words left, and as many others in place of the rest."""
    return " ".join([*WORDS[:first], *(f"other{number}" for number in range(104 - first))])


class TestNearCopy:
    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            (STORY, STORY, True),
            (STORY.upper().replace(" ", ", "), STORY.replace(" ", "\n\n"), True),
            (STORY, f"As they say: {STORY}! And so on, and on, for many more words than the story itself has.", True),
            (STORY, STORY.replace("lazy", "tired"), False),  # 8 of 13 runs
            (STORY, STORY.replace("today", "now"), True),  # 12 of 13 runs
            (LONG, kept(84), True),  # 80 of 100 runs
            (LONG, kept(83), False),  # 79 of 100 runs
            (LONG, " ".join([*WORDS[:84], *WORDS[90:100]]), True),  # shorter: 86 of its 90 runs
            (STORY, "the quick brown fox jumps", True),
            (STORY, "the quick brown fox", False),
            ("the quick brown fox", "the quick brown fox", True),
            ("Mara leads Harbor.", "mara leads, HARBOR!", True),
            ("Mara leads Harbor.", "Mara leads Quill.", False),
            ("Mara leads Harbor.", "Mara leads Harbor now.", False),
            ("Mara leads Harbor.", "As we know, Mara leads Harbor.", False),
            ("...", "...", False),
            (STORY, "a wholly other text about five things", False),
            (STORY, "", False),
            ("王質は製品を担当しています", "報告:王質は製品を担当しています。", True),
        ],
    )
    def test_needs_four_of_five_runs_of_the_shorter_text(self, one, other, expected):
        assert near_copy(word_runs(one), word_runs(other)) is expected
        assert near_copy(word_runs(other), word_runs(one)) is expected

    @pytest.mark.parametrize(("shared", "expected"), [(80, True), (79, False)])
    def test_counts_runs_exactly(self, shared, expected):
        one, other = set(range(100)), {*range(shared), *range(100, 150)}

        assert near_copy(one, {*other, *range(150, 250)}) is expected

    def test_rounds_nothing_up(self):
        assert not near_copy(set(range(99)), {*range(79), *range(100, 130)})

    @given(st.text(max_size=80))
    def test_finds_every_text_in_itself(self, text):
        assert near_copy(word_runs(text), word_runs(text)) is bool(word_runs(text))

    @given(st.text(alphabet="ab .,\n", max_size=60), st.text(alphabet="ab .,\n", max_size=60))
    def test_asks_nobody_who_was_first(self, one, other):
        assert near_copy(word_runs(one), word_runs(other)) is near_copy(word_runs(other), word_runs(one))

    @given(st.lists(st.sampled_from(WORDS), min_size=5, max_size=20), st.text(max_size=40), st.text(max_size=40))
    def test_finds_a_text_that_is_quoted_whole(self, words, before, after):
        text = " ".join(words)

        assert near_copy(word_runs(text), word_runs(f"{before} {text.upper()}, {after}"))

    @given(st.text(max_size=60))
    def test_looks_through_case_and_spacing(self, text):
        assert word_runs(normal_text(text)) == word_runs(text) == word_runs(f"  {text}\n")


class TestTextRuns:
    SEVEN = ["one", "two", "three", "four", "five", "six", "seven"]

    @pytest.mark.parametrize(("most", "begins"), [(9, [0, 1, 2]), (3, [0, 1, 2]), (2, [0, 2]), (1, [0])])
    def test_are_spread_evenly_over_the_text(self, most, begins):
        runs = text_runs("One, two: three four five six SEVEN!", most=most)

        assert runs == [tuple(self.SEVEN[begin : begin + 5]) for begin in begins]

    def test_has_a_short_text_as_one_run_and_one_without_words_as_none(self):
        assert text_runs("Mara sails.", most=9) == [("mara", "sails")]
        assert text_runs("!?", most=9) == []

    def test_names_a_run_that_stands_twice_once(self):
        assert text_runs("a a a a a a a", most=9) == [("a",) * 5]


class TestNameRun:
    @pytest.mark.parametrize(
        ("name", "run"),
        [
            ("Mara  Lind", ("mara", "lind")),
            ("Anna", ("anna",)),
            ("Bob", None),
            ("2026 - 11", None),
            ("Q4 2026 abc", ("q4", "2026", "abc")),
            ("ab cd e f g h i j k", ("ab", "cd", "e", "f", "g", "h", "i", "j", "k")),
            ("ab cd e f g h i j k l", None),
        ],
    )
    def test_is_what_tells_a_name_from_any_text(self, name, run):
        assert name_run(name) == run


class TestEchoes:
    @pytest.mark.parametrize(
        ("passage", "runs"),
        [
            ("Mara sails.", {"mara sails"}),
            ("one two three four five six", {"one two three four five", "two three four five six"}),
            ("?!", set()),
        ],
    )
    def test_are_known_by_runs_of_five_or_by_all_their_words(self, passage, runs):
        assert word_runs(passage) == runs

    def test_hears_runs_of_every_length_up_to_five(self):
        heard = heard_runs("a b c d e f")

        assert {"a", "f", "a b", "c d e", "a b c d", "a b c d e", "b c d e f"} <= heard
        assert len(heard) == 6 + 5 + 4 + 3 + 2

    @given(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), st.text("xy ", max_size=9))
    def test_hears_every_passage_that_a_text_repeats(self, words, around):
        passage = " ".join(words)

        assert word_runs(passage) <= heard_runs(f"{around} {passage} {around}")

    def test_takes_no_shorter_passage_for_one_that_nobody_says_by_chance(self):
        assert [long_enough("word " * count) for count in (ECHO_WORDS - 1, ECHO_WORDS, ECHO_WORDS + 1)] == [
            False,
            True,
            True,
        ]
