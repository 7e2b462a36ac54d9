"""What a browser gets from the pages beside the UI, asked of a real server without any browser's tidying of paths."""

import http.client
import os
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from valuesassets.records.files import write_json, write_text
from valuesassets_tests.desk.web_ui import free_ports
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.waiting import wait_until

REPORT = "/storage/demo/survey/report/report.html"
SECRET = "what somebody answered"


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    """A storage folder of two studies, with files that are shown and files that are not."""
    folder = tmp_path_factory.mktemp("pages")
    root = folder / "storage"
    survey = root / "demo" / "survey"
    write_text(survey / "report" / "report.html", "<title>Values &amp; a demo</title><h1>the report</h1>")
    write_text(survey / "cultural_map" / "cultural_map.svg", "<svg/>")
    (survey / "cultural_map" / "cultural_map.png").write_bytes(b"\x89PNG")
    for language, faults in {"eng": [], "fra": [{}], "deu": [{}, {}]}.items():
        write_text(survey / "extracted_questions" / f"{language}.review.html", "<h1>a form</h1>")
        write_json(survey / "extracted_questions" / f"{language}.faults.json", faults)
    write_text(survey / "extracted_questions" / "pol.review.html", "<h1>nobody has counted</h1>")
    write_text(survey / "extracted_questions" / "spa.review.html", "<h1>half a count</h1>")
    write_text(survey / "extracted_questions" / "spa.faults.json", "[{")
    write_text(root / "demo" / "summaries" / "one_page.html", "<title>readings: 4 done</title><h1>in short</h1>")
    write_text(root / "demo" / "summaries" / "untitled_page.html", "<h1>in short</h1>")
    write_text(root / "demo" / "jobs" / "a" / "job.log", "line\n")
    for hidden in ("demo/survey/respondents/respondents.parquet", "demo/survey/.report.html", "dagster/ui.json"):
        write_text(root / hidden, SECRET)
    write_text(root / "demo" / "survey" / "respondents" / "respondents.csv.gz", SECRET)
    write_text(folder / "outside.html", SECRET)
    (survey / "outside.html").symlink_to(folder / "outside.html")
    (survey / "data.csv").symlink_to(survey / "respondents" / "respondents.parquet")
    (survey / "linked").symlink_to(folder)
    (survey / "again.html").symlink_to(survey / "report" / "report.html")
    (survey / "endless.html").symlink_to(survey / "endless.html")
    (survey / "folder.html").mkdir()
    os.mkfifo(survey / "pipe.html")
    write_text(root / "empty" / "survey" / "note.txt", "")
    return root


@pytest.fixture(scope="module")
def port(storage):
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "valuesassets.desk.pages", str(port), "3000", "127.0.0.1"]
    environment = os.environ | {"VALUESASSETS_STORAGE": str(storage)}
    with subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdin=subprocess.PIPE) as server:
        wait_until(lambda: answers(port))
        wait_until(lambda: ask(port, "/docs/index.html")[0] == 200)
        yield port
        server.kill()


def answers(port):
    try:
        return ask(port, "/")
    except OSError:
        return False


def ask(port, path, method="GET", host="127.0.0.1:3001"):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (REPORT, "text/html; charset=utf-8"),
        ("/storage/demo/survey/cultural_map/cultural_map.svg", "image/svg+xml"),
        ("/storage/demo/survey/cultural_map/cultural_map.png", "image/png"),
        ("/storage/demo/jobs/a/job.log", "text/plain; charset=utf-8"),
        ("/storage/demo/survey/again.html", "text/html; charset=utf-8"),
    ],
)
def test_pages_pictures_and_logs_are_shown_as_what_they_are(port, path, kind):
    status, headers, _ = ask(port, path)
    assert status == 200
    assert headers["Content-Type"] == kind
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize(
    "path",
    [
        "demo/survey/respondents/respondents.parquet",
        "demo/survey/respondents/respondents.csv.gz",
        "demo/survey/.report.html",
        "dagster/ui.json",
        "demo/survey/outside.html",
        "demo/survey/linked/outside.html",
        "demo/survey/data.csv",
        "demo/survey/endless.html",
        "demo/survey/folder.html",
        "demo/survey/pipe.html",
        "../outside.html",
        "demo/survey/../../../outside.html",
        "demo/survey/report/../../../../outside.html",
        "%2e%2e/outside.html",
        "demo/survey/%2e%2e/%2e%2e/%2e%2e/outside.html",
        "demo/survey/..%2f..%2f..%2foutside.html",
        "demo/survey/%252e%252e/outside.html",
        "demo\\survey\\report\\report.html",
        "demo/survey/..%5c..%5coutside.html",
        "/demo/survey/report/report.html",
        "demo//survey/report/report.html",
        "./demo/survey/report/report.html",
        "demo/survey/report/report.html/",
        "demo/survey/report/report.html%00.html",
        "demo/survey/respondents/respondents.parquet%00.html",
        "demo/survey/%ff.html",
        "demo/survey/" + "a" * 5000 + ".html",
        "demo/survey/" + "a/" * 3000 + "b.html",
        "",
    ],
)
def test_nothing_else_of_the_storage_folder_can_be_had(port, path):
    status, _, text = ask(port, f"/storage/{path}")
    assert status == 404
    assert SECRET not in text
    assert "the report" not in text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/", REPORT, "/docs/review"])
def test_nothing_can_be_changed(port, method, path):
    status, headers, _ = ask(port, path, method)
    assert status == 405
    assert headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/", REPORT, "/docs/review", "/docs/images/asset_graph.png"])
def test_head_says_the_same_without_the_page(port, path):
    status, headers, text = ask(port, path, "HEAD")
    assert (status, text) == (200, "")
    assert headers["Content-Length"] == ask(port, path)[1]["Content-Length"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:3001", 200),
        ("localhost:3001", 200),
        ("localhost", 200),
        ("example.org", 400),
        ("localhost.example.org", 400),
        ("127.0.0.1.example.org", 400),
        ("10.0.0.1", 400),
        ("", 400),
    ],
)
def test_a_page_of_somebody_else_cannot_lead_the_browser_here_by_another_name(port, host, status):
    assert ask(port, REPORT, host=host)[0] == status


@pytest.mark.skipif(sys.platform != "linux", reason="sockets are looked at in Linux's /proc")
def test_no_other_machine_reaches_the_pages(port):
    listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    assert next(place for place in listening if place.endswith(f":{port:04X}")) == f"0100007F:{port:04X}"
    assert not [
        line for line in Path("/proc/net/tcp6").read_text().splitlines()[1:] if f":{port:04X}" in line.split()[1]
    ]


def test_a_file_that_is_replaced_meanwhile_is_read_whole(port, storage):
    """Two contents, one a megabyte longer; whoever reads gets one of them from beginning to end."""
    path, contents = storage / "demo" / "survey" / "replaced.html", {"a" * 1_000_000, "b" * 2_000_000}
    write_text(path, "a" * 1_000_000)
    is_over = threading.Event()

    def replace():
        while not is_over.is_set():
            for content in contents:
                write_text(path, content)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        read = [ask(port, "/storage/demo/survey/replaced.html")[2] for _ in range(60)]
    finally:
        is_over.set()
        writer.join()
    assert set(read) <= contents


def test_what_is_not_made_yet_says_what_to_do(port):
    status, _, text = ask(port, "/storage/empty/survey/report/report.html")
    assert status == 404
    assert "does not exist yet: materialise survey/report in the UI" in text


@pytest.mark.parametrize(
    "path", ["/docs/none", "/docs/../README.md", "/docs/%2e%2e/pyproject.toml", "/docs/images", "/none", "//"]
)
def test_what_is_no_page_leads_back_to_all_pages(port, path):
    status, _, text = ask(port, path)
    assert status == 404
    assert '<a href="/">All pages</a>' in text


def test_the_front_page_lists_what_each_study_has_made(port):
    _, headers, text = ask(port, "/")
    for path in (
        REPORT,
        "/storage/demo/survey/cultural_map/cultural_map.png",
        "/storage/demo/survey/extracted_questions/fra.review.html",
        "/storage/demo/summaries/one_page.html",
        "/docs/first_run.html",
        "/docs/index.html",
    ):
        assert f'"{path}"' in text
        assert ask(port, path)[0] == 200
    assert ">Values &amp; a demo (demo)</h2>" in text
    assert ">readings: 4 done</a>" in text
    assert ">untitled page</a>" in text
    assert "Study empty" in text
    assert "No report yet" in text
    assert "Study dagster" not in text
    assert "default-src 'none'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("language", "said"), [("eng", "no fault"), ("fra", "1 fault<"), ("deu", "2 faults"), ("pol", ""), ("spa", "")]
)
def test_a_review_page_is_listed_with_its_faults_where_they_were_counted(port, language, said):
    line = next(line for line in ask(port, "/")[2].splitlines() if f">{language}<" in line)
    assert said in line
    assert ("fault" in line) == bool(said)


@pytest.mark.parametrize("path", ["/docs/review", "/docs/review.md", "/docs/review.html"])
def test_a_page_of_the_documentation_is_found_by_every_name_that_links_have_had(port, path):
    status, headers, text = ask(port, path)
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert 'id="the-review-page"' in text


@pytest.mark.parametrize("path", ["/docs/", "/docs/README"])
def test_the_documentation_begins_with_the_readme(port, path):
    assert 'src="images/cultural_map.png"' in ask(port, path)[2]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.slow
def test_the_front_page_leads_to_the_ui_by_the_name_it_was_asked_by(port, host):
    """So that it does through a tunnel as well."""
    assert f'"http://{host}:3000/"' in ask(port, "/", host=f"{host}:3001")[2]
