"""What chat models are shown, to the byte, in the styles that templates come in; and what is refused."""

import datetime
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from valuesassets.models.asking import Asking
from valuesassets.models.loading import load_weights, open_model
from valuesassets.models.prompting import show_trial
from valuesassets.models.spelled_trials import spell_trials
from valuesassets.records.errors import InputError, ScoringError, TokenizerError
from valuesassets.records.readouts import Generate, ScoreSpans, Span
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Reading, Status, Trial, Turn
from valuesassets_tests.models.brute_force import BruteForce
from valuesassets_tests.scored import score_trials
from valuesassets_tests.tiny_chats import ALWAYS_THINKING, STYLES, chat_tokenizer, write_chat_model, write_parrot
from valuesassets_tests.tiny_models import PROMPTS, trial, write_model

QUESTION = "How?\n1. Yes\n2. No\nAnswer:"
DAY = datetime.date(2026, 1, 5)
SYSTEM = "Be brief."
OFF = {"answer_prefix": "none"}
ON = OFF | {"thinking": "on", "max_reasoning_tokens": 40}
CHAT = (Turn("user", "Pick one."), Turn("assistant", "A"), Turn("user", "Again."), Turn("assistant", "B"))
STYLES_WITH_DATE = {"dated": {"template_date": DAY}}

CUE = {
    "chatml": "<|im_start|>user\nHow?\n1. Yes\n2. No<|im_end|>\n<|im_start|>assistant\nAnswer:",
    "llama3": "<bos><|start_header_id|>user<|end_header_id|>\n\nHow?\n1. Yes\n2. No<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nAnswer:",
    "gemma": "<bos><start_of_turn>user\nHow?\n1. Yes\n2. No<end_of_turn>\n<start_of_turn>model\nAnswer:",
    "mistral": "<bos>[INST] How?\n1. Yes\n2. No [/INST] Answer:",
    "no system": "Q: How?\n1. Yes\n2. No<eos>\nA: Answer:",
    "dated": "<bos><|header|>Today: 5 Jan 2026\nhigh<|end|><|header|>user\nHow?\n1. Yes\n2. No<|end|>"
    "<|header|>assistant\nAnswer:",
}
NO_CUE = {
    "chatml": "<|im_start|>user\nHow?\n1. Yes\n2. No\nAnswer:<|im_end|>\n<|im_start|>assistant\n",
    "llama3": "<bos><|start_header_id|>user<|end_header_id|>\n\nHow?\n1. Yes\n2. No\nAnswer:<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "gemma": "<bos><start_of_turn>user\nHow?\n1. Yes\n2. No\nAnswer:<end_of_turn>\n<start_of_turn>model\n",
    "mistral": "<bos>[INST] How?\n1. Yes\n2. No\nAnswer: [/INST]",
    "no system": "Q: How?\n1. Yes\n2. No\nAnswer:<eos>\nA: ",
    "dated": "<bos><|header|>Today: 5 Jan 2026\nhigh<|end|><|header|>user\nHow?\n1. Yes\n2. No\nAnswer:<|end|>"
    "<|header|>assistant\n",
    "thinking": "<|im_start|>user\nHow?\n1. Yes\n2. No\nAnswer:<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n",
}
WITH_SYSTEM = {
    "chatml": "<|im_start|>system\nBe brief.<|im_end|>\n" + CUE["chatml"],
    "llama3": "<bos><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
    + CUE["llama3"].removeprefix("<bos>"),
    "mistral": "<bos>[INST] Be brief.\n\nHow?\n1. Yes\n2. No [/INST] Answer:",
    "dated": CUE["dated"].replace("<|header|>user", "<|header|>system\nBe brief.<|end|><|header|>user"),
}
SPANS = {
    "chatml": "<|im_start|>user\nPick one.<|im_end|>\n<|im_start|>assistant\nA<|im_end|>\n"
    "<|im_start|>user\nAgain.<|im_end|>\n<|im_start|>assistant\nB<|im_end|>\n",
    "mistral": "<bos>[INST] Pick one. [/INST] A<eos>[INST] Again. [/INST] B<eos>",
    "gemma": "<bos><start_of_turn>user\nPick one.<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n"
    "<start_of_turn>user\nAgain.<end_of_turn>\n<start_of_turn>model\nB<end_of_turn>\n",
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A tiny random model of each style."""
    root = tmp_path_factory.mktemp("chats")
    return {style: str(write_chat_model(root / style.replace(" ", "_"), style)) for style in STYLES}


def opened(folder, **prompting):
    return open_model(folder, dtype="float32", device="cpu", prompting=Prompting(style="chat", **prompting))


def asked(readout, chat=None, prompt="text"):
    return Trial("t/0", "t", "eng", prompt, "forward", 0, None, readout, chat=chat)


@pytest.mark.parametrize(("style", "text"), CUE.items(), ids=list(CUE))
def test_the_cue_opens_the_models_turn_and_the_template_says_the_rest(folders, style, text):
    model = opened(folders[style], **STYLES_WITH_DATE.get(style, {}))
    assert show_trial(model, trial(QUESTION, 2)).text == text
    assert model.tokenizer.encode([text])[0].count(model.tokenizer.hf.bos_token_id) == text.count("<bos>")


@pytest.mark.parametrize(("style", "text"), NO_CUE.items(), ids=list(NO_CUE))
def test_without_an_answer_prefix_the_cue_stays_the_users(folders, style, text):
    model = opened(folders[style], answer_prefix="none", **STYLES_WITH_DATE.get(style, {}))
    assert show_trial(model, trial(QUESTION, 2)).text == text


@pytest.mark.parametrize(("style", "text"), WITH_SYSTEM.items(), ids=list(WITH_SYSTEM))
def test_the_system_text_comes_where_the_template_puts_it(folders, style, text):
    model = opened(folders[style], system=SYSTEM, **STYLES_WITH_DATE.get(style, {}))
    assert show_trial(model, trial(QUESTION, 2)).text == text


def test_a_trials_own_turns_are_shown_in_place_of_its_prompt_and_its_own_system_turn_goes_before_the_familys(folders):
    model = opened(folders["chatml"], system=SYSTEM)
    turns = (Turn("system", "Be long."), *CHAT[:3])
    shown = show_trial(model, asked(Generate(5), turns, "never shown"))
    assert shown.text == (
        "<|im_start|>system\nBe long.<|im_end|>\n<|im_start|>user\nPick one.<|im_end|>\n"
        "<|im_start|>assistant\nA<|im_end|>\n<|im_start|>user\nAgain.<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize(("style", "text"), SPANS.items(), ids=list(SPANS))
def test_spans_stand_in_the_whole_chat_at_the_beginnings_of_the_models_turns(folders, style, text):
    spans = ScoreSpans((Span(0, 1, 0), Span(1, 2, 0)), (("A", "B"),))
    shown = show_trial(opened(folders[style]), asked(spans, CHAT))
    assert shown.text == text
    assert [shown.text[start] for start in shown.starts] == ["A", "B"]


PERSONA = {"eng": "You live in Viet Nam.", "deu": "Sie leben in Vietnam."}


def shown_in(model, language, **changes):
    """How a question in a language is shown, as the model is asked it."""
    (each,) = Asking(model, [replace(trial(QUESTION, 2), language=language, **changes)]).trials
    return show_trial(model, each).text


def test_the_system_text_and_the_preamble_are_those_of_the_prompts_language(folders):
    model = opened(folders["chatml"], system={"eng": SYSTEM, "deu": "Kurz."}, preamble=PERSONA)
    for language, words in (("eng", "You live in Viet Nam.\nBe brief."), ("deu", "Sie leben in Vietnam.\nKurz.")):
        assert shown_in(model, language) == WITH_SYSTEM["chatml"].replace(SYSTEM, words)
        own = shown_in(model, language, chat=(Turn("system", "Be long."), *CHAT[:1]), readout=Generate(5))
        assert own.startswith(f"<|im_start|>system\n{PERSONA[language]}\nBe long.<|im_end|>")
    alone = opened(folders["chatml"], preamble=PERSONA["eng"])
    assert shown_in(alone, "fra") == WITH_SYSTEM["chatml"].replace(SYSTEM, PERSONA["eng"])
    with pytest.raises(InputError, match=r'chatml: prompting.preamble: no text in fra; add fra = "..."$'):
        shown_in(model, "fra")
    with pytest.raises(TokenizerError, match="has no place for what the system says"):
        opened(folders["no system"], preamble="You live in Viet Nam.")


def test_a_preamble_stands_on_a_line_before_a_bare_prompt_and_gives_other_keys(folders):
    plain = open_model(folders["chatml"], device="cpu")
    persona = open_model(folders["chatml"], device="cpu", prompting=Prompting(preamble=PERSONA))
    assert shown_in(persona, "deu") == f"Sie leben in Vietnam.\n{QUESTION}"
    question = [trial(QUESTION, 2)]
    keys = {Asking(model, question).entries[0].key for model in (plain, persona)}
    assert len(keys) == 2
    assert Asking(persona, question).trials[0].trial_id == question[0].trial_id
    (by_hand,) = spell_trials(plain, [trial(f"You live in Viet Nam.\n{QUESTION}", 2)])
    assert by_hand.key in keys
    described = Asking(persona, question)._describe()
    assert described["prompting"]["preamble"] == PERSONA
    assert described["first_prompt"] == f"You live in Viet Nam.\n{QUESTION}"


def test_spans_move_with_their_text_behind_a_preamble(folders):
    spans = ScoreSpans((Span(5, 6, 0), Span(8, 9, 0)), (("A", "B"),))
    for prompting in (Prompting(preamble=PERSONA), Prompting(style="chat", preamble=PERSONA)):
        model = open_model(folders["chatml"], device="cpu", prompting=prompting)
        (each,) = Asking(model, [asked(spans, prompt="One: A, B")]).trials
        assert each.prompt == "You live in Viet Nam.\nOne: A, B"
        assert [each.prompt[span.start : span.end] for span in each.readout.spans] == ["A", "B"]


def test_text_style_shows_the_prompt_as_it_stands_and_its_metadata_have_no_word_of_chats(folders):
    model = open_model(folders["chatml"], device="cpu")
    assert show_trial(model, trial(QUESTION, 2)).text == QUESTION
    assert list(model.describe()) == ["model", "revision", "weights_id", "tokenizer_sha256", "bos", "dtype"]


@pytest.mark.parametrize("style", CUE)
@pytest.mark.parametrize("labels", [2, 10])
def test_a_label_read_through_the_template_is_the_one_read_by_hand(folders, style, labels):
    class ByHand(BruteForce):
        """What is rendered is all there is, and the token that ends a turn ends an answer."""

        def ids(self, text):
            return self.tokenizer(text, add_special_tokens=False)["input_ids"]

        def _stops(self, *asked):
            ends = {"chatml": "<|im_end|>", "llama3": "<|eot_id|>", "gemma": "<end_of_turn>", "dated": "<|end|>"}
            end = self.tokenizer.convert_tokens_to_ids(ends.get(style, "<eos>"))
            return super()._stops(*asked) | {end}

    model = opened(folders[style], **STYLES_WITH_DATE.get(style, {}))
    (reading,) = score_trials(load_weights(model), [trial(QUESTION, labels)]).readings
    by_hand = ByHand(folders[style]).label_probs(CUE[style], trial(QUESTION, labels).labels)
    assert reading.status is Status.OK
    assert reading.label_probs == pytest.approx(by_hand, abs=1e-6, rel=1e-4)


def test_the_same_question_in_another_prompting_is_another_reading_and_in_text_the_one_it_was(folders):
    questions = [trial(QUESTION, 2)]
    ways = [{}, {"system": SYSTEM}, {"answer_prefix": "none"}]
    keys = [spell_trials(opened(folders["chatml"], **way), questions)[0].key for way in ways]
    assert len(set(keys)) == 3
    plain = open_model(folders["chatml"], dtype="float32", device="cpu")
    said = open_model(folders["chatml"], dtype="float32", device="cpu", prompting=Prompting(style="text"))
    assert spell_trials(plain, questions)[0].key == spell_trials(said, questions)[0].key not in keys


OWN = ScoreSpans((Span(0, 1, 0), Span(1, 2, 0)), (("A", "B"),), (), "own", 3)


@pytest.mark.parametrize(
    "questions",
    [[trial(QUESTION, 10)], [asked(Generate(5), CHAT[:1])], [asked(OWN, CHAT)]],
    ids=["labels", "text", "own"],
)
def test_the_same_prompt_to_a_model_whose_turns_end_otherwise_is_another_question_and_in_text_the_same(
    questions, folders, tmp_path
):
    """The end of the assistant's turn ends an answer, and is not in the prompt; the weights are the same."""
    other = "{% set ends = {'user': '<|im_end|>', 'assistant': '<|im_start|>'} %}" + STYLES["chatml"][0].replace(
        "'<|im_end|>'", "ends[message['role']]"
    )
    folder = Path(shutil.copytree(folders["chatml"], tmp_path / "m"))
    (folder / "chat_template.jinja").write_text(other, encoding="utf-8")
    one, two = (opened(str(each)) for each in (folders["chatml"], folder))
    first = questions[0].chat[:1] if questions[0].chat else [Turn("user", "How?")]
    assert one.template.opened(first) == two.template.opened(first)
    assert one.template.turn_ends != two.template.turn_ends
    keys = [[entry.key for entry in Asking(each, questions).entries] for each in (one, two)]
    assert not set(keys[0]) & set(keys[1])
    bare = [open_model(str(each), dtype="float32", device="cpu") for each in (folders["chatml"], folder)]
    as_text = [replace(each, chat=None) for each in questions]
    keys = [[entry.key for entry in Asking(each, as_text).entries] for each in bare]
    assert keys[0] == keys[1]


def test_a_file_says_how_its_model_was_shown_the_trials_known_or_not(folders, tmp_path):
    model = opened(folders["dated"], template_date=DAY, template_arguments={"level": "low"}, system=SYSTEM)
    asking = Asking(model, [trial(QUESTION, 2)])
    known = asking.open_known(tmp_path)
    asked, described = asking.ask(load_weights(model), store=known)
    recalled = asking.recall(asking.open_known(tmp_path))
    assert recalled == (list(asked.records), described)
    told = described["prompting"]
    assert (told["style"], told["system"], told["template_date"]) == ("chat", SYSTEM, "2026-01-05")
    assert told["template_arguments"] == {"level": "low"}
    assert len(told["template_sha256"]) == 64
    assert described["first_prompt"] == WITH_SYSTEM["dated"].replace("high", "low")


OWN = "<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n"
HELPFUL = "{% if messages[0]['role'] != 'system' %}{{ '" + OWN + "' }}{% endif %}" + STYLES["chatml"][0]
"""Says so where nobody says anything."""
DEAF = "{{ '" + OWN + "' }}" + STYLES["chatml"][0]
"""Says so whatever others say."""
SAYS = "the chat template says by itself, before the question: 'You are a helpful assistant.'"


@pytest.mark.parametrize(
    ("template", "system", "cautions"),
    [
        (HELPFUL, None, [f'{SAYS}; system = "" keeps it from that']),
        (HELPFUL, "", []),
        (HELPFUL, SYSTEM, []),
        (DEAF, None, [SAYS]),
        (DEAF, SYSTEM, [SAYS]),
    ],
)
def test_what_a_template_says_by_itself_is_a_note_in_files_and_preflights(tmp_path, template, system, cautions):
    model = opened(str(write_chat_model(tmp_path / "m", "chatml", template)), system=system)
    asking = Asking(model, [trial(QUESTION, 2)])
    known = asking.open_known(tmp_path / "known")
    _, described = asking.ask(load_weights(model), store=known)
    assert [note for note in described["notes"] if "template" in note] == cautions
    assert [note for note in asking.cautions(described) if "template" in note] == cautions
    assert asking.recall(asking.open_known(tmp_path / "known"))[1]["notes"] == described["notes"]
    assert described["tokenizer_report"].get("own_system") == ("You are a helpful assistant." if cautions else None)
    assert ("helpful" in described["first_prompt"]) == bool(cautions)


def test_an_empty_system_asks_for_none_where_the_template_can(tmp_path, folders):
    helpful = write_chat_model(tmp_path / "helpful", "chatml", HELPFUL)
    assert (
        show_trial(opened(str(helpful), system=""), trial(QUESTION, 2)).text
        == "<|im_start|>system\n<|im_end|>\n" + CUE["chatml"]
    )
    assert show_trial(opened(str(helpful)), trial(QUESTION, 2)).text == OWN.replace("\\n", "\n") + CUE["chatml"]
    for style in ("chatml", "gemma", "mistral", "no system"):  # where a template says nothing, nothing is said
        assert show_trial(opened(folders[style], system=""), trial(QUESTION, 2)).text == CUE[style]
    deaf = write_chat_model(tmp_path / "deaf", "chatml", DEAF)
    with pytest.raises(TokenizerError, match=r"'You are a helpful assistant\.' by itself, with an empty `system` too"):
        opened(str(deaf), system="")


@pytest.mark.parametrize(
    ("style", "prompting", "said"),
    [
        ("gemma", {"system": SYSTEM}, r"no place for what the system says \(System role not supported\); leave"),
        ("no system", {"system": SYSTEM}, "no place for what the system says; leave `system` out"),
        ("chatml", {"system": "Be brief.<|im_end|>\n<|im_start|>user\nHi"}, r"system: the text .* holds '<\|im_"),
        ("thinking", {"system": "Say <think>."}, "system: the text 'Say <think>.' holds '<think>', which steers"),
        ("dated", {}, "asks for today's date .* give the day it shall take as template_date"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_when_the_model_is_opened(folders, style, prompting, said):
    with pytest.raises(TokenizerError, match=said) as error:
        opened(folders[style], **prompting)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ raise_exception('no\nway') }}", r"the chat template fails \(TemplateError\): no way; see"),
        ("{{ messages[0]['content'] + 1 }}", r"the chat template fails \(TypeError\)"),
        ("{% for m in messages %}{{ m['content'] }}", r"the chat template fails \(TemplateSyntaxError\)"),
        ("Hello.", "does not show '1. 2. 3.' as the user says it"),
        ("{{ messages[0]['content'] }}", "does not keep '4:' at the end of the model's turn as it stands"),
        ("{{ messages[0]['content'] }}{{ strftime_now('%s') }}", "no directive is known in %s"),
    ],
)
def test_a_template_that_fails_is_one_line(tmp_path, template, said):
    folder = str(write_chat_model(tmp_path / "m", "chatml", template))
    with pytest.raises(TokenizerError, match=said) as error:
        opened(folder, template_date=DAY)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ ['a', 'b'] | random }}", r"draws at random \(the filter random\), so prompts would change each time"),
        ("{{ lipsum(1) }}", r"draws at random \(lipsum\)"),
        ("{{ messages | map('upper') }}", r"shows where an object lies in memory \(<generator object"),
        ("{{ 'x' * 10**8 }}", "makes 100,000,000 characters of one chat, 16,777,216 at most were expected"),
        ("{{ 'x' * 10**11 }}", "takes more than 1,024 MiB of memory"),
        ("{{ range(10**12) }}", r"fails \(OverflowError\): Range too big"),
    ],
)
def test_a_template_that_changes_or_grows_without_end_is_refused_by_name(tmp_path, template, said):
    folder = str(write_chat_model(tmp_path / "m", "chatml", template))
    with pytest.raises(TokenizerError, match=f"m: the chat template {said}") as error:
        opened(folder)
    assert "style = 'text'" in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{{ (10 ** 10 ** 9) ** (10 ** 9) }}",  # one operation, which Python cannot break off
    ],
)
def test_a_template_without_an_end_is_stopped_and_the_next_one_is_rendered(tmp_path, folders, template):
    folder = str(write_chat_model(tmp_path / "m", "chatml", template))
    with pytest.raises(TokenizerError, match="m: the chat template takes more than 3 s of processor time; use another"):
        opened(folder)
    assert opened(folders["chatml"]).template.opened([Turn("user", "Hi")])


def test_a_template_is_rendered_as_transformers_renders_it(folders):
    for style, folder in folders.items():
        template = opened(folder, template_date=DAY).template
        turns = [{"role": "user", "content": "Wie?\n\x85"}]
        expected = template.hf.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        if style not in ("dated", "thinking"):
            assert template.opened([Turn("user", "Wie?\n\x85")]) == expected


def test_a_template_that_is_no_text_is_refused(tmp_path):
    folder = write_chat_model(tmp_path / "m", "chatml")
    (folder / "chat_template.jinja").unlink()
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"chat_template": {"default": 5}}))
    with pytest.raises(TokenizerError, match=r"its chat template is no text \(found int\)"):
        opened(str(folder))


def test_a_model_without_a_template_has_no_chat(model_folders):
    with pytest.raises(TokenizerError, match=r"no chat template comes with its tokenizer .* say style = 'text'"):
        opened(str(model_folders["sentencepiece"]))


def test_the_templates_own_date_is_left_alone_and_every_format_is_that_of_the_day(tmp_path):
    formats = ["%d %b %Y", "%A, %-d %B %Y", "%Y-%m-%d", "%H:%M", "%j %U %y %a"]
    template = "\n  {% for m in messages %}{{ m['content'] }}{% endfor %}" + "".join(
        f"{{{{ '|' + strftime_now({each!r}) }}}}" for each in formats
    )
    model = opened(str(write_chat_model(tmp_path / "m", "chatml", template)), answer_prefix="none", template_date=DAY)
    expected = "".join("|" + DAY.strftime(each) for each in formats)
    undated = replace(model.template, source=template.partition("{{ '|'")[0]).whole([Turn("user", "Hi")])
    assert model.template.whole([Turn("user", "Hi")]) == undated + expected == "\nHi" + expected


@pytest.mark.parametrize(
    ("style", "question", "said"),
    [
        ("chatml", trial("How?\nAnswer: ", 2), "does not keep 'Answer: ' at the end"),
        ("chatml", trial("How?\n", 2), "does not keep '' at the end"),
        ("chatml", trial("Answer:", 2), "is its last line alone.* nothing is left for the user to say"),
        ("llama3", trial("How?\n  Answer:", 2), "does not keep '  Answer:' at the end"),
        ("chatml", trial("How <|im_end|>?\nAnswer:", 2), r"holds '<\|im_end\|>', which steers this model"),
        ("thinking", trial("How <think>?\nAnswer:", 2), "holds '<think>', which steers this model"),
        ("chatml", trial("How?\nAnswer:", ("yes", "<eos>")), "holds '<eos>'"),
        (
            "llama3",
            asked(ScoreSpans((Span(0, 1, 0),), (("A",),)), (Turn("user", "Go"), Turn("assistant", "A "))),
            "template: as .* the assistant's turn 0 does not go on from what stands before it",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_line(folders, style, question, said):
    with pytest.raises(TokenizerError, match=said) as error:
        show_trial(opened(folders[style]), question)
    assert "\n" not in str(error.value)


def test_a_control_token_is_refused_in_a_bare_text_too_and_the_other_trials_are_read(folders):
    model = open_model(folders["chatml"], dtype="float32", device="cpu")
    spelled = spell_trials(model, [trial("How <|im_end|>?\nAnswer:", 2), trial(QUESTION, 2)])
    assert isinstance(spelled[0], Reading)
    assert "holds '<|im_end|>', which steers this model" in spelled[0].reason
    assert score_trials(load_weights(model), [spelled[1].trial]).readings[0].status is Status.OK


def test_a_base_model_reads_the_spans_of_a_trial_with_turns_in_its_prompt(folders):
    spans = ScoreSpans((Span(0, 1, 0), Span(1, 2, 0)), (("A",),))
    assert show_trial(open_model(folders["chatml"]), asked(spans, CHAT)).text == "text"


def test_spans_without_turns_are_shown_as_bare_text_to_a_chat_model_too(folders):
    spans = ScoreSpans((Span(0, 1, 0),), (("A",),))
    model = opened(folders["chatml"], system=SYSTEM)
    assert show_trial(model, asked(spans)).text == "text"
    assert model.bare.tokenizer.encode(["text"])[0][0] == model.tokenizer.hf.bos_token_id
    assert (model.bare.template, model.bare.bare) == (None, model.bare)
    with pytest.raises(TokenizerError, match="holds '<eos>'"):
        show_trial(model, asked(spans, prompt="text<eos>"))


def test_a_turn_that_the_template_changes_later_is_refused_by_the_templates_name(tmp_path):
    """As templates do that drop an earlier turn's thought, or begin a new turn otherwise than they show it later."""
    changing = "{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\n' }}{% endfor %}"
    changing += "{{ 'assistant: #' if add_generation_prompt and messages | length > 1 else '' }}"
    model = opened(str(write_chat_model(tmp_path / "m", "chatml", changing)), answer_prefix="none")
    spans = ScoreSpans((Span(0, 1, 0), Span(1, 2, 0)), (("A", "B"),))
    with pytest.raises(TokenizerError, match=r"template: as .* renders the chat, the assistant's turn \d"):
        show_trial(model, asked(spans, CHAT))


def test_a_model_that_thinks_is_not_scored(folders):
    thinking = opened(folders["thinking"], **ON)
    with pytest.raises(TokenizerError, match="ScoreLabels reads what a model says at once, and thinking = 'on'"):
        Asking(thinking, [trial(QUESTION, 2)])
    assert show_trial(thinking, asked(Generate(5), prompt=QUESTION)).text.endswith("assistant\n")


def test_thinking_is_switched_off_in_the_template_where_it_has_a_switch(folders):
    off, on = (show_trial(opened(folders["thinking"], **how), asked(Generate(5))).text for how in (OFF, ON))
    assert off.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert on.endswith("<|im_start|>assistant\n")


def test_a_template_that_begins_a_thought_itself_is_refused_where_none_is_wanted(tmp_path):
    folder = str(write_chat_model(tmp_path / "m", "thinking", ALWAYS_THINKING))
    with pytest.raises(TokenizerError, match="the chat template begins a thought though thinking = 'off'"):
        show_trial(opened(folder, **OFF), trial(QUESTION, 2))
    assert show_trial(opened(folder, **ON), asked(Generate(5))).text.endswith("<think>\n")


def test_a_model_that_thinks_though_it_was_told_not_to_is_refused_before_anything_is_read(tmp_path):
    parrot = opened(str(write_parrot(tmp_path / "m", "thinking", "<think>")))
    with pytest.raises(TokenizerError, match=r"begins to think \(<think>\) within 32 tokens though thinking = 'off'"):
        Asking(parrot, [trial(PROMPTS[0], 4)]).ask(load_weights(parrot))


def with_room(folder, room=128):
    """A chat model of that many positions, which fails beyond them."""
    return opened(str(write_model(folder, chat_tokenizer("chatml"), spread=0.1, architecture="gpt2", n_positions=room)))


@pytest.mark.parametrize("cue", ["Answer:", "word " * 35 + "Answer:"], ids=["room for all", "room for a token"])
def test_a_model_is_tried_whether_it_thinks_on_what_it_can_be_asked(cue, tmp_path):
    model = with_room(tmp_path / "m")
    long, short = trial("word " * 400 + "\nAnswer:", 2, "v1/0/x"), trial(f"How?\n{cue}", 2, "v2/0/x")
    asked, _ = Asking(model, [long, short]).ask(load_weights(model))
    assert [record.status for record in asked.records] == [Status.FAILED, Status.OK]


def test_a_trial_whose_tokens_the_model_lacks_is_not_what_it_is_tried_on(tmp_path):
    folder = write_chat_model(tmp_path / "m", "chatml")
    tokenizer = chat_tokenizer("chatml")
    tokenizer.add_tokens(["zzz"])
    tokenizer.save_pretrained(folder)
    model = opened(str(folder))
    asked, _ = Asking(model, [trial(f"zzz {QUESTION}", 2), trial(QUESTION, 2)]).ask(load_weights(model))
    assert [record.status for record in asked.records] == [Status.FAILED, Status.OK]


def test_a_thought_is_found_behind_trials_that_cannot_be_asked(tmp_path):
    parrot = opened(str(write_parrot(tmp_path / "m", "thinking", "<think>")))
    trials = [trial("word " * 2000 + "\nAnswer:", 2, "v1/0/x"), trial(PROMPTS[0], 4, "v2/0/x")]
    with pytest.raises(TokenizerError, match="begins to think"):
        Asking(parrot, trials).ask(load_weights(parrot))
    spans = ScoreSpans((Span(0, 1, 0), Span(1, 2, 0)), (("A", "B"),))
    (tmp_path / "m" / "chat_template.jinja").write_text(STYLES["chatml"][0], encoding="utf-8")
    parrot = opened(parrot.model_id)
    with pytest.raises(TokenizerError, match="begins to think"):
        Asking(parrot, [asked(spans, CHAT)]).ask(load_weights(parrot))


def test_where_memory_is_short_of_a_trial_a_model_is_tried_on_the_shortest(tmp_path, monkeypatch):
    parrot = opened(str(write_parrot(tmp_path / "m", "thinking", "<think>")))
    loaded, trials = load_weights(parrot), [trial(PROMPTS[0], 4, "v1/0/x"), trial(QUESTION, 2, "v2/0/x")]
    write, shortest = type(loaded.model).generate, len(spell_trials(parrot, trials)[1].spelled.prompt_ids)

    def generate(model, ids, **how):
        if ids.shape[1] > shortest:
            raise torch.OutOfMemoryError
        return write(model, ids, **how)

    monkeypatch.setattr(type(loaded.model), "generate", generate)
    with pytest.raises(TokenizerError, match="begins to think"):
        Asking(parrot, trials).ask(loaded)
    shortest = 0
    with pytest.raises(ScoringError, match="out of memory while it was tried whether it thinks"):
        Asking(parrot, trials).ask(loaded)
