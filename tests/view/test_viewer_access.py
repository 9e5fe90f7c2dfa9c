"""The viewer answers those who were given its address, and nobody else."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from starlette.testclient import TestClient
from viewed import HOSTILE, explore

from screensearch.errors import SettingsError
from screensearch.view.access import Access, check_host
from screensearch.view.application import make_application
from screensearch.view.messages import Map, Observations, Problem, Runs, StatePage
from screensearch.view.openapi import ADDRESSES
from screensearch.view.shown import Shown

ORIGIN = "http://127.0.0.1:4321"
ACCESS = Access("127.0.0.1", 4321, "s3cret")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore(tmp_path_factory.mktemp("runs") / "desk", steps=60)


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page, as a build would leave it."""
    folder = tmp_path_factory.mktemp("static")
    (folder / "index.html").write_text("<!doctype html><title>the page</title>")
    (folder / "page.js").write_text("void 0;")
    return folder


@pytest.fixture(scope="module")
def shown(folder: Path) -> Iterator[Shown]:
    with contextlib.closing(Shown([folder])) as shown:
        yield shown


@pytest.fixture
def client(shown: Shown, static: Path) -> TestClient:
    """A browser that knows nothing yet."""
    application = make_application(shown, ACCESS, static=static)
    return TestClient(application, base_url=ORIGIN, follow_redirects=False)


@pytest.fixture
def known(client: TestClient) -> TestClient:
    """A browser that opened the printed address."""
    assert client.get("/?token=s3cret").status_code == 303
    return client


def refusal(client: TestClient, path: str, method: str = "GET", **headers: str) -> str:
    """Why a request is refused."""
    answer = client.request(method, path, headers={name.replace("_", "-"): headers[name] for name in headers})
    assert answer.status_code == 403
    return msgspec.json.decode(answer.content, type=Problem).problem


@pytest.mark.parametrize(
    "path", ["/", "/api/runs", "/api/runs/desk/map", "/page.js", "/api/openapi.json", "/nothing"]
)
def test_nothing_is_answered_without_the_token(client: TestClient, path: str) -> None:
    assert "address that `screensearch view` printed" in refusal(client, path)


def test_the_token_of_the_address_becomes_a_cookie_that_no_script_and_no_other_site_gets(
    client: TestClient,
) -> None:
    answer = client.get("/?token=s3cret")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "screensearch-4321=s3cret" in cookie
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/").text.endswith("<title>the page</title>")
    assert client.get("/api/runs").status_code == 200


def test_the_address_may_be_followed_from_another_site_and_then_asks_again_by_itself(
    client: TestClient,
) -> None:
    """Redirected, a browser would still think that the other site asks, and would keep the cookie back."""
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    answer = client.get("/?token=s3cret", headers=link)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert '<script src="/enter.js">' in answer.text
    assert "location.hash" in client.get("/enter.js").text
    assert refusal(client, "/?token=other", **link)
    assert refusal(client, "/api/runs", **link)
    assert "another site" in refusal(client, "/?token=s3cret", sec_fetch_site="cross-site")


def test_a_person_without_the_token_reads_plain_words(client: TestClient) -> None:
    answer = client.get("/", headers={"accept": "text/html,application/xhtml+xml"})
    assert (answer.status_code, answer.headers["content-type"]) == (403, "text/plain; charset=utf-8")
    assert answer.text.startswith("open the address")


def test_a_wrong_token_is_refused(client: TestClient) -> None:
    assert "not of this server" in refusal(client, "/?token=other")
    assert "printed" in refusal(client, "/api/runs?token=s3cret")  # only the page takes it from the address


def test_a_program_may_bring_the_token_in_a_header(client: TestClient) -> None:
    assert client.get("/api/runs", headers={"authorization": "Bearer s3cret"}).status_code == 200
    assert client.get("/api/runs", headers={"authorization": "Bearer other"}).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:4321", "127.0.0.1", "127.0.0.1:80", ""])
def test_a_name_that_was_made_to_lead_here_is_refused(known: TestClient, host: str) -> None:
    assert "by no other name" in refusal(known, "/api/runs", host=host)


def test_localhost_is_a_name_of_ours(client: TestClient) -> None:
    headers = {"host": "localhost:4321", "authorization": "Bearer s3cret"}
    assert client.get("/api/runs", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},  # another port of this machine
    ],
)
def test_another_site_is_refused_even_with_the_cookie(known: TestClient, headers: dict[str, str]) -> None:
    assert "another site" in refusal(known, "/api/runs", **headers)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_it_only_reads(known: TestClient, method: str) -> None:
    assert "only reads" in refusal(known, "/api/runs", method)


@pytest.mark.parametrize("path", ["/", "/page.js", "/api/runs", "/api/nothing", "/api/runs/desk/states/0"])
def test_every_answer_forbids_foreign_script_frames_and_guessing(known: TestClient, path: str) -> None:
    headers = known.get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


def test_a_refusal_has_these_headers_too(client: TestClient) -> None:
    assert "content-security-policy" in client.get("/").headers


def test_only_files_of_the_page_are_served(known: TestClient) -> None:
    for path in ("/../secret", "/..%2f..%2fetc/passwd", "/%2e%2e/index.html"):
        assert known.get(path).status_code == 404


def test_a_page_that_was_not_built_says_how_to_build_it(folder: Path, tmp_path: Path) -> None:
    with contextlib.closing(Shown([folder])) as shown:
        client = TestClient(make_application(shown, ACCESS, static=tmp_path), base_url=ORIGIN)
        answer = client.get("/", headers={"authorization": "Bearer s3cret"})
        assert answer.status_code == 503
        assert "scripts/setup" in answer.text


def test_port_80_may_be_left_out_and_no_other() -> None:
    at_80, elsewhere = Access("127.0.0.1", 80), Access("127.0.0.1", 4321)
    assert at_80.is_foreign({"host": "127.0.0.1"}) is None
    assert at_80.is_foreign({"host": "127.0.0.1:80"}) is None
    assert elsewhere.is_foreign({"host": "127.0.0.1"}) is not None


def test_bound_to_every_address_it_is_asked_for_by_number_and_by_no_name() -> None:
    everywhere = Access("0.0.0.0", 4321)
    assert everywhere.is_foreign({"host": "192.0.2.7:4321"}) is None
    assert everywhere.is_foreign({"host": "[2001:db8::7]:4321"}) is None
    assert everywhere.is_foreign({"host": "evil.example:4321"}) is not None
    assert everywhere.is_foreign({"host": "192.0.2.7:4321", "origin": "http://192.0.2.8"}) is not None


def test_an_address_that_other_machines_reach_must_be_wanted() -> None:
    assert check_host("127.0.0.1", elsewhere=False) == "127.0.0.1"
    assert check_host("::1", elsewhere=False) == "::1"
    assert check_host("0.0.0.0", elsewhere=True) == "0.0.0.0"
    with pytest.raises(SettingsError, match="--allow-remote"):
        check_host("192.168.1.5", elsewhere=False)
    with pytest.raises(SettingsError, match="no address"):
        check_host("example.org", elsewhere=False)


# -- answers ------------------------------------------------------------------------------------------


def test_answers_are_of_the_types_they_are_described_with(known: TestClient) -> None:
    parts = {
        "run": "desk",
        "state": 0,
        "source": 0,
        "target": 1,
        "first": "0",
        "second": "1",
        "first_run": "desk",
        "second_run": "desk",
    }
    described = known.get("/api/openapi.json").json()
    assert set(described["paths"]) == {each.path for each in ADDRESSES}
    for each in ADDRESSES:
        if each.path == "/api/live":
            continue
        answer = known.get(each.path.format_map(parts), params={"q": "open", "limit": 3})
        assert answer.status_code == 200, (each.path, answer.text)
        msgspec.json.decode(answer.content, type=each.answer)


def test_a_label_that_looks_like_markup_comes_as_text(known: TestClient) -> None:
    ids = msgspec.json.decode(known.get("/api/runs/desk/map").content, type=Map).states.id
    pages = [
        msgspec.json.decode(known.get(f"/api/runs/desk/states/{each}").content, type=StatePage)
        for each in ids
    ]
    assert HOSTILE in {element.text for page in pages for element in page.elements}
    assert known.get("/api/runs/desk/states/0").headers["content-type"] == "application/json"


def test_a_map_that_did_not_change_is_not_sent_again(known: TestClient) -> None:
    first = known.get("/api/runs/desk/map")
    again = known.get("/api/runs/desk/map", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_long_answer_is_compressed_for_who_takes_that(known: TestClient) -> None:
    zipped = known.get("/api/runs/desk/states/0", headers={"accept-encoding": "gzip"})
    plain = known.get("/api/runs/desk/states/0", headers={"accept-encoding": "identity"})
    assert zipped.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert plain.json() == zipped.json()


def test_pictures_and_thumbnails_of_the_run_are_served_and_no_others(known: TestClient) -> None:
    page = msgspec.json.decode(known.get("/api/runs/desk/states/0").content, type=StatePage).state
    assert page.picture is not None
    assert page.thumbnail is not None
    whole, small = known.get(f"/{page.picture}"), known.get(f"/{page.thumbnail}")
    assert whole.headers["content-type"] == "image/png"
    assert whole.content.startswith(b"\x89PNG")
    assert small.headers["content-type"] == "image/webp"
    assert small.content[8:12] == b"WEBP"
    again = known.get(f"/{page.thumbnail}", headers={"if-none-match": small.headers["etag"]})
    assert again.status_code == 304
    assert known.get(f"/runs/desk/pictures/{'0' * 64}.png").status_code == 404
    assert known.get("/runs/desk/pictures/..%2f..%2frun.json.png").status_code == 404
    assert known.get("/runs/desk/thumbnails/99").status_code == 404


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/api/runs/other/map", 404, "no run 'other' is shown here (there are: desk)"),
        ("/api/runs/desk/states/99", 404, "no state 99"),
        ("/api/runs/desk/states/99/similar", 404, "no state 99"),
        ("/api/runs/desk/states/99/path", 404, "no state 99"),
        ("/api/runs/desk/states/x", 404, "nothing at"),
        ("/api/runs/desk/edges/0/99", 404, "no state 99"),
        ("/api/runs/desk/explain/0/99", 404, "no state 99"),
        ("/api/runs/desk/explain/@99999", 404, "no entry 99999"),
        ("/api/runs/desk/explain/nonsense", 400, "neither a state"),
        ("/api/runs/desk/states/0/observations?limit=-1", 400, "must be a number"),
        ("/api/runs/desk/states/0/observations?offset=1e3", 400, "must be a number"),
        ("/api/search?q=x&run=other", 404, "no run 'other'"),
        ("/api/difference/desk/other", 404, "no run 'other'"),
    ],
)
def test_what_cannot_be_answered_is_a_problem_in_words(
    known: TestClient, path: str, status: int, words: str
) -> None:
    answer = known.get(path)
    assert answer.status_code == status
    assert words in msgspec.json.decode(answer.content, type=Problem).problem


def test_a_table_is_answered_in_parts(known: TestClient) -> None:
    def part(query: str) -> Observations:
        content = known.get(f"/api/runs/desk/states/0/observations?{query}").content
        return msgspec.json.decode(content, type=Observations)

    whole = part("limit=500")
    assert part("offset=2&limit=3").observations == whole.observations[2:5]
    assert part("offset=100000").observations == []
    assert len(part("limit=99999999").observations) == whole.total


def test_a_run_that_breaks_while_it_is_served_is_a_problem_and_the_others_go_on(
    tmp_path: Path, static: Path
) -> None:
    for name in ("one", "two"):
        explore(tmp_path / name, steps=10)
    with contextlib.closing(Shown([tmp_path / "one", tmp_path / "two"])) as shown:
        client = TestClient(make_application(shown, ACCESS, static=static), base_url=ORIGIN)
        client.headers["authorization"] = "Bearer s3cret"
        assert len(client.get("/api/runs").json()["runs"]) == 2
        manifest = json.loads((tmp_path / "one" / "run.json").read_text())
        (tmp_path / "one" / "run.json").write_text(json.dumps(manifest | {"format": 99}))
        answer = client.get("/api/runs/one/map")
        assert answer.status_code == 409
        assert "format 99" in msgspec.json.decode(answer.content, type=Problem).problem
        (tmp_path / "one" / "run.json").unlink()
        assert client.get("/api/runs/one/map").status_code == 404
        assert client.get("/api/runs/two/map").status_code == 200
        runs = msgspec.json.decode(client.get("/api/runs").content, type=Runs).runs
        assert [each.run for each in runs] == ["two"]
        assert client.get("/api/search?q=open").json()["hits"][0]["run"] == "two"


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    folders = [explore(tmp_path / parent / "a run, é", steps=2) for parent in ("x", "y")]
    with contextlib.closing(Shown(folders)) as shown:
        assert shown.names == ["a-run", "a-run-2"]
