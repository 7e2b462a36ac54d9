"""Where models behind an API are asked, as a study, a file or a job says it."""

import json
from pathlib import Path

import pytest

from valuesassets.records.errors import InputError, JobError
from valuesassets.records.jobs import GenerateCell, GenerateJob, ScoreCell, ScoreJob, needs_network, read_job, write_job
from valuesassets.records.settings.cells import Family
from valuesassets.records.settings.endpoints import Endpoint, load_endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.settings.questionnaires import GeminiSettings
from valuesassets.records.study import load_study

GEMINI = Endpoint(provider="gemini")
CHAT = Prompting(style="chat")
FAMILY = {"kind": "gemini", "model_type": "multi", "model_id": "gemini-3.8-flash", "prompting": {"style": "chat"}}
FAMILY |= {"endpoint": {"provider": "gemini"}}
SAMPLED = {"endpoint": {"provider": "gemini", "route": "sampled"}}
CELL = {"name": "g/eng", "model": "gemini-3.8-flash", "trials": Path("/t.parquet"), "prompting": CHAT}


@pytest.mark.parametrize("settings", [GeminiSettings, lambda **said: Endpoint(provider="gemini", **said)])
@pytest.mark.parametrize(
    "address", ["http://gemini.example", "ftp://127.0.0.1", "https://", "nonsense", "http://10.0.0.1"]
)
def test_an_address_that_would_show_the_key_is_refused(address, settings):
    with pytest.raises(ValueError, match="an https address was expected"):
        settings(base_url=address)


def test_the_host_is_the_machine_with_its_port_and_nobodys_name():
    assert GEMINI.host == "generativelanguage.googleapis.com"
    assert Endpoint(provider="gemini", base_url="https://me:word@Example.org:8443/v2").host == "example.org:8443"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("attempts = 3", "key 'provider' is missing; add it"),
        ('provider = "gemini"\nroute = "echo"', "route = 'echo' reads behind bare text; it needs provider = 'openai'"),
        ('provider = "gemini"\nattemps = 3', r"unknown key 'attemps' \(did you mean 'attempts'\?\)"),
        ('provider = "other"', "key 'provider': 'gemini' or 'openai' was expected"),
        ('provider = "gemini"\nconcurrency = 0', "key 'concurrency': more than 0 was expected"),
        ('provider = "gemini"\nbase_url = "http://example.org"', "key 'base_url': an https address was expected"),
    ],
)
def test_a_fault_of_a_file_is_one_line_with_file_and_key(tmp_path, text, said):
    (tmp_path / "endpoint.toml").write_text(text)
    with pytest.raises(InputError, match=rf"endpoint\.toml: {said}") as error:
        load_endpoint(tmp_path / "endpoint.toml")
    assert "\n" not in str(error.value)


def test_a_key_in_place_of_a_variables_name_is_refused_and_not_shown(tmp_path):
    (tmp_path / "endpoint.toml").write_text('provider = "gemini"\nkey_env = "AIza-secret"')
    with pytest.raises(InputError, match="the name of a variable was expected, such as GEMINI_API_KEY") as error:
        load_endpoint(tmp_path / "endpoint.toml")
    assert "AIza" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"endpoint": None}, "kinds 'gemini' and 'openai' need an endpoint, the other kinds take none"),
        ({"kind": "huggingface"}, "kinds 'gemini' and 'openai' need an endpoint, the other kinds take none"),
        ({"model_id": None}, "kind = 'reference' takes no model_id, the other kinds need one"),
        ({"prompting": {}}, "gemini shows every prompt as a chat; say style = 'chat' in prompting"),
        ({"prompting": {"style": "chat", "template_arguments": {"a": 1}}}, "template_arguments and template_date are"),
        ({"revision": "main"}, "offline, revision and dtype are for kind = 'huggingface'"),
        ({"plants": "no-signal"}, "nothing is planted in a real model"),
        ({"endpoint": {"provider": "gemini", "budget_usd": 3}}, "budget_usd"),
    ],
)
def test_a_family_behind_an_api_says_what_it_needs_and_nothing_that_others_decide(change, said):
    assert Family.model_validate(FAMILY).endpoint == GEMINI
    with pytest.raises(ValueError, match=said):
        Family.model_validate(FAMILY | change)


def test_the_survey_refuses_a_model_whose_probabilities_it_cannot_read():
    told = load_study("demo_survey").model_dump(mode="json", exclude_none=True)
    told["families"]["gemini"] = FAMILY
    type(load_study("demo_survey")).model_validate(told)
    told["families"]["gemini"] = FAMILY | SAMPLED
    with pytest.raises(ValueError, match=r"families\.gemini: the survey reads probabilities, and route = 'sampled'"):
        type(load_study("demo_survey")).model_validate(told)


def test_a_job_behind_an_api_comes_back_as_it_went_and_needs_the_network(tmp_path):
    job = GenerateJob(cells=(GenerateCell(**CELL, answers=Path("/a.parquet"), endpoint=GEMINI),))
    write_job(tmp_path / "job.json", job)
    assert read_job(tmp_path / "job.json") == job
    assert needs_network(job)
    assert not needs_network(ScoreJob(cells=(ScoreCell(**CELL, readings=Path("/r.parquet")),)))


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("score", SAMPLED, "route = 'sampled' asks for no probabilities; ask by Generate, in a job of kind generate"),
        ("generate", {"prompting": {}}, "gemini shows every prompt as a chat"),
        ("generate", {"bos": "never"}, "revision and bos are for models that are loaded"),
        ("generate", {"endpoint": {"provider": "gemini", "topp": 20}}, "unknown key"),
    ],
)
def test_a_job_that_no_endpoint_can_do_is_refused_in_one_line(tmp_path, kind, change, said):
    cell = {**CELL, "trials": "/t.parquet", "prompting": {"style": "chat"}, "endpoint": {"provider": "gemini"}} | change
    cell["readings" if kind == "score" else "answers"] = "/a.parquet"
    (tmp_path / "job.json").write_text(json.dumps({"kind": kind, "cells": [cell]}))
    with pytest.raises(JobError, match=said) as error:
        read_job(tmp_path / "job.json")
    assert "\n" not in str(error.value)


def test_a_tokenizer_of_an_endpoint_file_counts_from_the_file(tmp_path, monkeypatch):
    (tmp_path / "files/tokenizer").mkdir(parents=True)
    file = tmp_path / "files/endpoint.toml"
    for name in ("tokenizer", "./tokenizer"):
        file.write_text(f'provider = "openai"\nbase_url = "http://127.0.0.1:8000/v1"\ntokenizer = "{name}"\n')
        assert load_endpoint(file).tokenizer == str(tmp_path / "files/tokenizer")
        monkeypatch.chdir(file.parent)
        assert load_endpoint(Path("endpoint.toml")).tokenizer == str(tmp_path / "files/tokenizer")


def test_a_tokenizer_beside_the_working_folder_alone_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "tokenizer").mkdir()
    (tmp_path / "files").mkdir()
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "files/endpoint.toml"
    file.write_text('provider = "openai"\nbase_url = "http://127.0.0.1:8000/v1"\ntokenizer = "tokenizer"\n')
    with pytest.raises(
        InputError, match=r"paths count from the folder of the file .*, where it is not; write \.\./tok"
    ):
        load_endpoint(Path("files/endpoint.toml"))
