"""Bad study files."""

from pathlib import Path

from valuesassets.records.lexicon import lexicon_template
from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import QUESTIONS, Make, all_of, files, folders, form

STUDY = """\
name = "mine"
title = "My study"
seed = 1

[questionnaires]
source = "bundled"
master = "eng"

[languages.eng]
name = "English"
country = "GB"
zone = "English-Speaking"

[languages.deu]
name = "German"
country = "DE"
zone = "Protestant Europe"

[families.reference-mono]
kind = "reference"
model_type = "mono"
"""
FAMILY = 'kind = "reference"\nmodel_type = "mono"\n'
MULTI = 'kind = "huggingface"\nmodel_type = "multi"\n'
CHAT_FAMILY = """\
kind = "huggingface"
model_type = "mono"
model_id = "owner/model_{lang}"
prompting = { style = "chat" }
"""


def study(old: str = "", new: str = "", more: str = "") -> Make:
    """A study file with one part replaced and something added."""
    assert old in STUDY
    return files({"study.toml": STUDY.replace(old, new, 1) + more})


def raw(content: bytes) -> Make:
    return files({"study.toml": content})


def _from_folder(folder: Path) -> None:
    file = folder / "study.toml"
    file.write_text(file.read_text().replace('"bundled"', '"folder"\npdf_dir = "pdfs"'))


def bad(name: str, make: Make, message: str, command: str = "study study.toml", **more: object) -> Case:
    return Case(name, command, message, make, **more)


CASES = [
    bad(
        "an unknown key",
        study('title = "', 'titel = "'),
        "study.toml: unknown key 'titel' (did you mean 'title'?); key 'title' is missing; add it",
        in_own_process=True,
    ),
    bad(
        "an unknown key in a part",
        study(more="\n[thresholds]\np_valid = 0.1\n"),
        "study.toml: unknown key 'thresholds.p_valid' (did you mean 'p_valid_cell'?)",
    ),
    bad(
        "an unknown part",
        study(more="\n[treshholds]\np_valid_cell = 0.1\n"),
        "study.toml: unknown key 'treshholds' (did you mean 'thresholds'?)",
    ),
    bad("a missing key", study("seed = 1\n"), "study.toml: key 'seed' is missing; add it"),
    bad(
        "no instrument's table",
        study('[questionnaires]\nsource = "bundled"\nmaster = "eng"\n'),
        "study.toml: no instrument's table, so there is nothing to measure; add [questionnaires] or "
        "[worldvaluesbench] or [psych_tasks] or [cultural_robustness] or [worldwise]",
    ),
    bad(
        "a threshold of 1.5",
        study(more="\n[thresholds]\np_valid_cell = 1.5\n"),
        "study.toml: key 'thresholds.p_valid_cell': at most 1.0 was expected (found 1.5)",
    ),
    bad(
        "a share in percent",
        study(more='\n[thresholds]\np_valid_cell = "20%"\n'),
        "study.toml: key 'thresholds.p_valid_cell': a number was expected (found \"20%\")",
    ),
    bad(
        "a wrong type",
        study("seed = 1", 'seed = "one"'),
        "study.toml: key 'seed': a whole number was expected (found \"one\")",
    ),
    bad(
        "no steps of training",
        study(more="\n[phantom]\nsteps = 0\n"),
        "study.toml: key 'phantom.steps': more than 0 was expected (found 0)",
    ),
    bad(
        "unknown orders",
        study(more='\n[elicitation]\norders = "random"\n'),
        "study.toml: key 'elicitation.orders': 'both', 'all' or 'cyclic', or a whole number was expected "
        '(found "random")',
    ),
    bad(
        "an unknown estimator",
        study(more='\n[elicitation]\nestimators = ["content_free", "vibes"]\n'),
        "study.toml: entry 2 of 'elicitation.estimators': 'label_likelihood', 'content_free' or 'pride' was expected "
        '(found "vibes")',
    ),
    bad(
        "an estimator twice",
        study(more='\n[elicitation]\nestimators = ["content_free", "content_free"]\n'),
        "study.toml: key 'elicitation': estimators names content_free twice; name it once",
    ),
    bad(
        "PriDe without cyclic orders",
        study(more='\n[elicitation]\norders = 4\nestimators = ["pride"]\n'),
        "study.toml: key 'elicitation': pride needs every option at every position (orders = 4); say "
        "orders = 'cyclic' or 'all', or leave pride out of estimators",
    ),
    bad(
        "a name with blanks and capitals",
        study('"mine"', '"My Study"'),
        "study.toml: key 'name': a name of up to 100 small letters, digits, _ and - was expected (found \"My Study\")",
    ),
    bad(
        "a name of 300 letters",
        study('"mine"', f'"{"a" * 300}"'),
        "study.toml: key 'name': a name of up to 100 small letters, digits, _ and - was expected (found [...])",
    ),
    bad(
        "the name of a folder of ours",
        study('"mine"', '"known_readings"'),
        "study.toml: key 'name': known_readings is a reserved folder of the storage; choose another name",
    ),
    bad(
        "an option of ssh in place of a host",
        study(more='\n[slurm]\nhost = "-oProxyCommand=touch_it"\n'),
        "study.toml: key 'slurm.host': a host, or user@host was expected (found \"-oProxyCommand=touch_it\")",
    ),
    bad(
        "no languages",
        study(STUDY[STUDY.index("[languages.eng]") : STUDY.index("[families")], ""),
        "study.toml: key 'languages' is missing; add it",
    ),
    bad(
        "a language by its name",
        study("[languages.deu]", "[languages.German]"),
        "study.toml: key 'languages.German': an ISO 639-3 code such as deu was expected (found \"German\")",
    ),
    bad(
        "a two-letter language",
        study("[languages.deu]", "[languages.de]"),
        "study.toml: key 'languages.de': an ISO 639-3 code such as deu was expected (found \"de\")",
    ),
    bad(
        "a language that nothing is bundled for",
        study("[languages.deu]", "[languages.jpn]"),
        "study.toml: key 'languages.jpn': no lexicon in this language (there are [...]); leave the "
        'language out, or write one (valuesassets template lexicon jpn.toml) and name it: lexicon = "jpn.toml"',
    ),
    bad(
        "a language without a lexicon, the PDFs in a folder",
        all_of(
            study("[languages.deu]", "[languages.jpn]"),
            _from_folder,
            folders("pdfs"),
        ),
        "study.toml: key 'languages.jpn': no lexicon in this language (there are [...]); leave the "
        'language out, or write one (valuesassets template lexicon jpn.toml) and name it: lexicon = "jpn.toml"',
    ),
    bad(
        "an own lexicon that is not there",
        study('country = "DE"', 'country = "DE"\nlexicon = "words/deu.toml"'),
        "[...]/words/deu.toml: no such file[...]",
    ),
    bad(
        "an own lexicon that lacks words",
        all_of(
            study('country = "DE"', 'country = "DE"\nlexicon = "deu.toml"'),
            files({"deu.toml": 'answer_cues = ["Antwort"]\nyes = "ja"\n'}),
        ),
        "[...]/deu.toml: key 'answer_cues': at least 2 entries was expected (found [...]",
    ),
    bad(
        "an own lexicon whose statement has no place for the item",
        all_of(
            study('country = "DE"', 'country = "DE"\nlexicon = "deu.toml"'),
            files({"deu.toml": lexicon_template().replace("home: {item}", "home")}),
        ),
        "[...]/deu.toml: key 'statements.child_qualities': {item} is expected once and no other braces: [...]",
    ),
    bad(
        "an own lexicon that is no TOML, on the command line",
        files({"q.json": QUESTIONS, "nor.toml": "yes: ja"}),
        "nor.toml: not TOML: [...]; mend the file there",
        "trials --questions q.json --language nor --lexicon nor.toml --output trials.parquet",
    ),
    bad(
        "questions in Cyrillic, the bundled lexicon in Latin letters",
        files({"q.json": [row | {"text": f"Колико је важно {row['id']}?"} for row in QUESTIONS]}),
        "srp: the questions are in Cyrillic letters, [...]/srp.toml in Latin ones ('Odgovor'); name a lexicon in their "
        "letters: lexicon under [languages.srp], or --lexicon",
        "trials --questions q.json --language srp --output trials.parquet",
    ),
    bad(
        "a country by its name",
        study('"DE"', '"Germany"'),
        "study.toml: key 'languages.deu.country': an ISO 3166 code such as DE was expected (found \"Germany\")",
    ),
    bad(
        "a country by a code that is none",
        study('"GB"', '"UK"'),
        "study.toml: key 'languages.eng.country': UK is the code of no country; write GB",
    ),
    bad(
        "a resource level in another case",
        study('country = "DE"', 'country = "DE"\nresource = "Low"'),
        "study.toml: key 'languages.deu.resource': 'high' or 'low' was expected (found \"Low\")",
    ),
    bad(
        "a language without a country",
        study('country = "DE"\n'),
        "study.toml: languages.deu: the survey compares with a country; add country",
    ),
    bad(
        "a language without a culture zone",
        study('zone = "Protestant Europe"\n'),
        "study.toml: languages.deu: the survey's map has culture zones; add zone",
    ),
    bad(
        "a master that is no language of the study",
        study('master = "eng"', 'master = "fra"'),
        "study.toml: questionnaires.master = 'fra' is not one of the languages eng, deu; name one of these",
    ),
    bad(
        "a family for a language that the study lacks",
        study(more='languages = ["eng", "fra"]\n'),
        "study.toml: families.reference-mono.languages: fra not among the study's languages; add them or "
        "leave them out",
    ),
    bad(
        "a family for no language",
        study(more="languages = []\n"),
        "study.toml: key 'families.reference-mono.languages': at least one entry, or 'card' was expected (found [])",
    ),
    bad(
        "a family of an unknown kind",
        study('"reference"', '"anthropic"'),
        "study.toml: key 'families.reference-mono.kind': 'huggingface', 'reference', 'gemini' or 'openai' was expected "
        '(found "anthropic")',
    ),
    bad(
        "an unknown beginning of prompts",
        study(more='bos = "twice"\n'),
        "study.toml: key 'families.reference-mono.bos': 'template', 'always' or 'never' was expected (found \"twice\")",
    ),
    bad(
        "a reference family asked otherwise than it was trained",
        study(more='bos = "never"\n'),
        "study.toml: key 'families.reference-mono': offline and bos are for kind = 'huggingface'; a reference model is "
        "trained here and asked as trained: leave them out",
    ),
    bad(
        "a reference family in a chat",
        study(more='prompting = { style = "chat" }\n'),
        "study.toml: key 'families.reference-mono': prompting is for kind = 'huggingface'; a reference model is asked "
        "as it was trained: leave it out",
    ),
    bad(
        "a beginning of prompts in a chat, where the template says it",
        study('kind = "reference"\nmodel_type = "mono"\n', f'{CHAT_FAMILY}bos = "never"\n'),
        "study.toml: key 'families.reference-mono': bos is for prompting.style = 'text'; in a chat the template says "
        "what begins a prompt: leave it out",
    ),
    bad(
        "what is for chats, in bare text",
        study(more='prompting = { system = "Be brief.", thinking = "on" }\n'),
        "study.toml: key 'families.reference-mono.prompting': system, thinking: for style = 'chat', and the style is "
        "'text'; say style = 'chat' or leave them out",
    ),
    bad(
        "a preamble that lacks a language of the study",
        study(
            'kind = "reference"\nmodel_type = "mono"\n',
            CHAT_FAMILY.replace('style = "chat"', 'style = "chat", preamble = { eng = "You live here." }'),
        ),
        'study.toml: families.reference-mono.prompting.preamble: no text in deu; add deu = "..."',
    ),
    bad(
        "thoughts without a limit",
        study(more='prompting = { style = "chat", answer_prefix = "none", thinking = "on" }\n'),
        "study.toml: key 'families.reference-mono.prompting': thinking = 'on' needs a limit of its own for thoughts; "
        "say how many tokens they may take, such as max_reasoning_tokens = 4096",
    ),
    bad(
        "a limit of thoughts where there are none",
        study(more='prompting = { style = "chat", max_reasoning_tokens = 4096 }\n'),
        "study.toml: key 'families.reference-mono.prompting': max_reasoning_tokens limits thoughts, and thinking = "
        "'off'; say thinking = 'on' or leave it out",
    ),
    bad(
        "an argument of a template that has a key of its own",
        study(more='prompting = { style = "chat", template_arguments = { enable_thinking = true } }\n'),
        "study.toml: key 'families.reference-mono.prompting': template_arguments names enable_thinking: say thinking = "
        "'on' or 'off' in its place; leave it out",
    ),
    bad(
        "a day that is none",
        study(more='prompting = { style = "chat", template_date = "yesterday" }\n'),
        "study.toml: key 'families.reference-mono.prompting.template_date': a day such as 2026-01-31 was "
        'expected (found "yesterday")',
    ),
    bad(
        "a family without a model",
        study('"reference"', '"huggingface"'),
        "study.toml: key 'families.reference-mono': kind = 'reference' takes no model_id, the other kinds need one; "
        "mend one of the two",
    ),
    bad(
        "one model per language, but none named after it",
        study('kind = "reference"', 'kind = "huggingface"\nmodel_id = "owner/model"'),
        "study.toml: key 'families.reference-mono': a mono family needs {lang} in model_id (found "
        "owner/model); add it, or say model_type = 'multi'",
    ),
    bad(
        "an unknown place in a model's name",
        study('kind = "reference"', 'kind = "huggingface"\nmodel_id = "owner/{language}-{lang}"'),
        "study.toml: key 'families.reference-mono': no braces but those of {lang} may stand in model_id "
        "(found owner/{language}-{lang})",
    ),
    bad(
        "an adapter of a reference family",
        study(more='adapter = "owner/run7"\n'),
        "study.toml: key 'families.reference-mono': adapter is for kind = 'huggingface', whose weights are loaded "
        "here, not for kind = 'reference'; leave it out",
    ),
    bad(
        "an adapter of a GGUF file",
        study(FAMILY, f'{MULTI}model_id = "models/gpt.Q4_K_M.gguf"\nadapter = "owner/run7"\n'),
        "study.toml: key 'families.reference-mono': adapter is for models in safetensors; [...]/gpt.Q4_K_M.gguf is a "
        "GGUF file, on whose rounded weights no adapter was trained: name the model that it was trained on",
    ),
    bad(
        "an adapter of a model of the package index",
        study(FAMILY, f'{MULTI}model_id = "index:smollm2-135m-instruct"\nadapter = "owner/run7"\n'),
        "study.toml: key 'families.reference-mono': adapter is for models in safetensors; index:smollm2-135m-instruct "
        "is a GGUF file, on whose rounded weights no adapter was trained: name the model that it was trained on",
    ),
    bad(
        "a revision of no adapter",
        study(FAMILY, f'{MULTI}model_id = "owner/model"\nadapter_revision = "main"\n'),
        "study.toml: key 'families.reference-mono': adapter_revision is a commit, tag or branch of adapter; add "
        "adapter or leave it out",
    ),
    bad(
        "an unknown place in an adapter's name",
        study(FAMILY, f'{MULTI}model_id = "owner/model"\nadapter = "owner/{{language}}"\n'),
        "study.toml: key 'families.reference-mono': no braces but those of {lang} may stand in adapter (found "
        "owner/{language})",
    ),
    bad(
        "a folder of PDFs without its path",
        study('"bundled"', '"folder"'),
        "study.toml: key 'questionnaires': source = 'folder' needs pdf_dir; add it",
    ),
    bad(
        "a folder of PDFs that is not there",
        study('source = "bundled"', 'source = "folder"\npdf_dir = "pdfs"'),
        "study.toml: key 'questionnaires.pdf_dir': [...]/pdfs: no such folder; put the PDFs there",
    ),
    bad(
        "downloads without document numbers",
        study('"bundled"', '"gesis"'),
        "study.toml: languages.eng: gesis_document is needed with source = 'gesis'; add it",
    ),
    bad(
        "four faults at once",
        study('"DE"', '"Germany"', "x = 1\n[y]\na = 1\n[z]\nb = 1\n"),
        "study.toml: unknown key 'families.reference-mono.x'; remove it or check its spelling; unknown "
        "key 'y'; remove it or check its spelling; unknown key 'z'; remove it or check its spelling (and "
        "1 more)",
    ),
    bad(
        "not TOML",
        raw(b"name: mine\nlanguages: [eng, deu]\n"),
        "study.toml: not TOML: [...] (at line 1, column 5); mend the file there",
    ),
    bad(
        "a string that does not end",
        study('"My study"', '"My study'),
        "study.toml: not TOML: [...] (at line 2, column 18); mend the file there",
    ),
    bad(
        "JSON",
        raw(b'{"name": "mine"}'),
        "study.toml: not TOML: [...] (at line 1, column 1); mend the file there",
    ),
    bad(
        "a key twice",
        study("seed = 1", "seed = 1\nseed = 2"),
        "study.toml: not TOML: a key stands twice (at line 4, column 9); mend the file there",
    ),
    bad(
        "a language twice",
        study(more='\n[languages.eng]\nname = "English"\n'),
        "study.toml: not TOML: [...] (at line 23, column 15); mend the file there",
    ),
    bad("an empty file", raw(b""), "study.toml: is an empty file, a study file (TOML) was expected; name another file"),
    bad(
        "a byte-order mark, and a fault",
        raw(b"\xef\xbb\xbf" + STUDY.replace("seed = 1\n", "").encode()),
        "study.toml: key 'seed' is missing; add it",
    ),
    bad(
        "UTF-16",
        raw(STUDY.encode("utf-16")),
        "study.toml: is text in UTF-16, a study file (TOML) was expected; save the file as UTF-8",
    ),
    bad(
        "Latin-1",
        raw('title = "Werte für alle"'.encode("latin-1")),
        "study.toml: byte 16 is not UTF-8; save the file as UTF-8",
    ),
    bad(
        "a NUL character",
        raw(b"name = \x00"),
        "study.toml: not TOML: [...] (at line 1, column 8); mend the file there",
    ),
    bad("a folder", folders("study.toml"), "study.toml: is a folder, a study file (TOML) was expected; name the file"),
    bad("no such file", study(), "stduy.toml: no such study file; did you mean study.toml?", "study stduy.toml"),
    bad("no such bundled study", files({}), "evs2018: no such study file; did you mean evs2017?", "study evs2018"),
    bad(
        "a blank behind the name",
        study(),
        "'study.toml ': no such study file; there is study.toml: leave out the blanks or quotes",
        "study 'study.toml '",
    ),
    bad(
        "quotes in the name",
        study(),
        '"study.toml": no such study file; there is study.toml: leave out the blanks or quotes',
        """study '"study.toml"'""",
    ),
    bad(
        "~ that the shell did not expand",
        study(),
        "~/study.toml: no such study file; ~ stands for the home folder only where the shell expands it: "
        "leave out the quotes or write it in full",
        "study '~/study.toml'",
    ),
    bad(
        "a Windows path",
        study(),
        "C:\\Users\\me\\study.toml: no such study file; it looks like a Windows path: write the path as it "
        "is on this machine, with / between folders",
        r"study 'C:\Users\me\study.toml'",
    ),
    bad(
        "a questionnaire in place of the study",
        form("eng"),
        "eng.pdf: is a PDF, a study file (TOML) was expected; name another file",
        "study eng.pdf",
    ),
    bad(
        "run: a faulty study",
        study('title = "', 'titel = "'),
        "study.toml: unknown key 'titel' (did you mean 'title'?); key 'title' is missing; add it",
        "run study.toml",
    ),
    bad(
        "run: a file where the storage shall be",
        all_of(study(), files({"storage": ""})),
        "storage: cannot be written: storage is a file, not a folder; set VALUESASSETS_STORAGE to another folder",
        "run study.toml",
        environment={"VALUESASSETS_STORAGE": "storage", "VALUESASSETS_DAGSTER": ""},
    ),
    bad(
        "run: a storage that cannot be written",
        study(),
        "/proc/storage/mine/dagster: cannot be written: No such file or directory; set VALUESASSETS_STORAGE "
        "to another folder",
        "run study.toml",
        environment={"VALUESASSETS_STORAGE": "/proc/storage", "VALUESASSETS_DAGSTER": ""},
    ),
    bad(
        "run: a relative DAGSTER_HOME",
        study(),
        "DAGSTER_HOME=home: no such folder; an absolute path was expected, or leave it unset",
        "run study.toml",
        environment={"VALUESASSETS_STORAGE": "storage", "DAGSTER_HOME": "home"},
    ),
]
