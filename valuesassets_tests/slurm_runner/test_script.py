import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurm_runner.errors import SlurmError
from slurm_runner.options import SlurmOptions
from slurm_runner.script import EXIT, NO_MODULE, UNWRITABLE, render_batch_script
from valuesassets_tests.slurm_runner.batch import prepared, run, start
from valuesassets_tests.waiting import wait_until

STARTS = 25
SPECIAL = " '\"$`\\%!*?~#;&|<>(){}[]=^-\t\r\n\x0b\x85\u2028é中😀"
text = st.text(st.sampled_from(SPECIAL + "aX0") | st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
words = text.filter(lambda word: "{task}" not in word)
folders = st.text(
    st.sampled_from(SPECIAL + "aX0").filter(lambda letter: letter not in '"\\\n'), min_size=1, max_size=12
)


def started(root, *command):
    """A submission and its process, once the command has made the file `up`."""
    submission = prepared(root, *command)
    process = start(submission)
    wait_until(lambda: list(submission.folder.rglob("up")), every=0.002)
    return submission, process


def told_to_stop(root, *command):
    """The exit status of a command that gets SIGTERM."""
    _, process = started(root, *command)
    time.sleep(0.01)
    os.kill(process.pid, signal.SIGTERM)
    return process.wait(300)


def exit_file(submission):
    return json.loads(next(submission.folder.rglob(EXIT)).read_text())


@settings(max_examples=60)
@given(folder=folders, arguments=st.lists(words, max_size=8), values=st.lists(text, min_size=3, max_size=3))
@pytest.mark.slow
def test_a_command_gets_what_it_was_to_get_and_nothing_else_is_run(tmp_path_factory, folder, arguments, values):
    names = ["STUDY", "_task", "X1"]
    shown = "sh", "-c", 'printf "%s\\0" "$@" "$STUDY" "$_task" "$X1" > got', "sh"
    root = tmp_path_factory.mktemp("root")
    options = SlurmOptions(environment=dict(zip(names, values, strict=True)))
    submission = prepared(root / folder, *shown, *arguments, options=options)
    assert run(submission) == 0, submission.log(0).read_text()
    got = next(submission.folder.rglob("got"))
    assert got.read_bytes() == "".join(f"{word}\0" for word in [*arguments, *values]).encode()
    assert [path.name for path in root.iterdir()] == [folder]
    shutil.rmtree(root)


def test_a_word_may_stand_for_the_tasks_folder_and_a_task_has_variables_and_files_of_its_own(tmp_path):
    submission = prepared(
        tmp_path,
        *("sh", "-c", 'cat "$1" > got; echo "$WHERE" >> got', "sh", "{task}/job.json"),
        environment=lambda place: {"WHERE": str(place)},
        files={"job.json": "{}\n"},
    )
    assert run(submission) == 0
    assert next(submission.folder.rglob("got")).read_text() == f"{{}}\n{submission.task_folder(0)}\n"


def test_a_command_told_to_stop_keeps_its_exit_status_however_quick_it_is(tmp_path):
    quick = "dash", "-c", 'trap "exit 75" TERM; touch up; sleep 5 & wait'
    assert {told_to_stop(tmp_path, *quick) for _ in range(STARTS)} == {75}


def test_a_command_told_to_stop_may_take_its_time_and_be_told_again(tmp_path):
    slow = 'trap "sleep 1; echo saved > saved; exit 75" TERM; touch up; while :; do sleep 0.1; done'
    submission, process = started(tmp_path, "dash", "-c", slow)
    for _ in range(3):
        os.kill(process.pid, signal.SIGTERM)
        time.sleep(0.1)
    assert process.wait(300) == 75
    assert list(submission.folder.rglob("saved"))
    assert exit_file(submission)["rc"] == 75


def test_a_command_that_does_not_listen_ends_with_143(tmp_path):
    assert told_to_stop(tmp_path, "sh", "-c", "touch up; exec sleep 60") == 143


@pytest.mark.parametrize("status", [0, 1, 75, 255])
def test_the_exit_file_says_who_ended_and_how_and_the_script_ends_so_too(tmp_path, status):
    submission = prepared(tmp_path, "sh", "-c", f"exit {status}")
    assert run(submission, {"SLURM_RESTART_COUNT": "2"}) == status
    left = exit_file(submission)
    assert left.pop("seconds") < 60
    assert left == {"uuid": submission.uuid, "job": "8", "restart": 2, "rc": status, "node": "n1"}
    assert next(submission.folder.rglob(EXIT)).parent.name == "attempt-7.2"


def test_every_attempt_works_in_a_folder_of_its_own_and_notes_itself_in_the_log(tmp_path):
    submission = prepared(tmp_path, "sh", "-c", "echo $$ > mine")
    for variables in ({}, {"SLURM_RESTART_COUNT": "1"}, {"SLURM_ARRAY_JOB_ID": "9"}):
        assert run(submission, variables) == 0
    assert {path.parent.name for path in submission.folder.rglob("mine")} == {
        "attempt-7.0",
        "attempt-7.1",
        "attempt-9.0",
    }
    assert [line.split(" restart ")[1] for line in submission.log(0).read_text().splitlines()] == [
        "0 on n1",
        "1 on n1",
        "0 on n1",
    ]


def test_a_node_that_cannot_write_the_tasks_folder_runs_nothing(tmp_path):
    submission = prepared(tmp_path, "touch", str(tmp_path / "ran"))
    (submission.task_folder(0) / "attempt-7.0").write_text("a file in the way")
    assert run(submission) == UNWRITABLE
    assert not (tmp_path / "ran").exists()


def test_an_exit_file_that_cannot_be_written_whole_is_not_there(tmp_path):
    submission = prepared(tmp_path, "sh", "-c", 'rm -r "$PWD"; exit 3')
    assert run(submission) == 3
    assert list(submission.folder.rglob(f"*{EXIT}*")) == []


def test_modules_are_loaded_and_a_container_is_entered_before_the_command(tmp_path):
    options = SlurmOptions(modules=("cuda/12", "a b"), container=("env", "WHERE=inside"))
    submission = prepared(tmp_path, "sh", "-c", 'echo "$WHERE" > got', options=options)
    loads = {"BASH_FUNC_module%%": f'() {{ printf "%s\\n" "$@" > {tmp_path}/loaded; }}'}
    assert run(submission, loads) == 0
    assert (tmp_path / "loaded").read_text().splitlines() == ["load", "cuda/12", "a b"]
    assert next(submission.folder.rglob("got")).read_text() == "inside\n"


def test_a_module_that_is_not_there_ends_the_task_before_the_command(tmp_path):
    submission = prepared(tmp_path, "touch", str(tmp_path / "ran"), options=SlurmOptions(modules=("nope",)))
    assert run(submission, {"BASH_FUNC_module%%": "() { return 1; }"}) == NO_MODULE
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["A B", "A;touch x", "1A", "", "A=B", "Ä", "A\n"])
def test_a_variable_whose_name_is_none_is_refused_and_nothing_is_left(tmp_path, name):
    with pytest.raises(SlurmError, match="no name of a variable"):
        prepared(tmp_path, "true", options=SlurmOptions(environment={name: "x"}))
    assert list(tmp_path.iterdir()) == []


def test_a_zero_byte_is_refused_rather_than_dropped(tmp_path):
    with pytest.raises(SlurmError, match="zero byte"):
        prepared(tmp_path, "echo", "a\0b")


@pytest.mark.parametrize("folder", ['/a"b', "/a\\b", "/a\nb", "relative"])
def test_a_folder_that_cannot_stand_in_a_script_is_refused(folder):
    with pytest.raises(SlurmError, match="absolute path"):
        render_batch_script("name", "uuid", Path(folder), 1, SlurmOptions())


@pytest.mark.parametrize("name", ["two words", "$(id)", "a,b", "a\n", ""])
def test_a_name_that_slurm_or_bash_would_take_for_something_else_is_refused(name):
    with pytest.raises(SlurmError, match="name of letters"):
        render_batch_script(name, "uuid", Path("/tmp"), 1, SlurmOptions())  # noqa: S108


def test_a_label_that_people_chose_becomes_such_a_name(tmp_path):
    assert prepared(tmp_path, "true", label="valeurs, été: $(id)").name.startswith("valeurs-t-id-")


def test_many_tasks_run_a_few_at_a_time():
    def array(n_tasks, throttle=None):
        script = render_batch_script("name", "uuid", Path("/srv"), n_tasks, SlurmOptions(throttle=throttle))
        return [line for line in script.splitlines() if "--array" in line]

    assert array(20, 8) == ["#SBATCH --array=0-19%8"]
    assert array(8, 8) == array(8) == ["#SBATCH --array=0-7"]
