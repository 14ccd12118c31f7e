# SPDX-License-Identifier: Apache-2.0
"""Which server is meant: as the command yard says it."""
import os
import subprocess
from pathlib import Path

import pytest

from trainyard import _http, _server
from trainyard.errors import ConnectionFailed, YardError, YardMissing
from trainyard.session import Session, get_default_session, setup_default_session

PIN = "SHA256:" + ":".join(["AB"] * 32)


def write_contexts(text, mode=0o600):
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "yard" / "contexts.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


CONTEXTS = """# Written by `yard login`
current: "team"
contexts:
  - name: "team"
    server: "https://yard.example.org:8470"
    user: "ada"
    token: "yard_\\u0061bc"
    fingerprint: "%s"
  - name: "other"
    server: "http://127.0.0.1:9"
""" % PIN


@pytest.mark.parametrize("url,want", [
    ("unix:///run/x.sock", "unix:///run/x.sock"),
    ("https://a.example", "https://a.example:443"),
    ("http://a.example:81/", "http://a.example:81"),
    ("a.example", "https://a.example:8470"),
    ("a.example:1", "https://a.example:1"),
    ("https://[::1]:7", "https://[::1]:7"),
])
def test_urls_are_read_as_yard_reads_them(url, want):
    assert _server.parse_url(url).url == want


@pytest.mark.parametrize("url", ["", "ftp://a", "https://", "https://a:99999", "https://u@a/",
                                 "unix://rel", "https://a/path", "https://a:b"])
def test_what_is_no_url_is_refused(url):
    with pytest.raises(ValueError):
        _server.parse_url(url)


def test_the_current_context_is_used():
    write_contexts(CONTEXTS)
    s = _server.find()
    assert (s.url, s.token) == ("https://yard.example.org:8470", "yard_abc")
    assert s.fingerprint == "ab" * 32


def test_a_context_is_used_by_name_and_a_wrong_name_is_told():
    write_contexts(CONTEXTS)
    assert _server.find(context="other").url == "http://127.0.0.1:9"
    with pytest.raises(YardError, match="no context 'tem'.*other, team"):
        _server.find(context="tem")


def test_variables_stand_above_the_current_context(monkeypatch):
    write_contexts(CONTEXTS)
    monkeypatch.setenv("YARD_SERVER", "https://x.example:1")
    monkeypatch.setenv("YARD_TOKEN", "t")
    monkeypatch.setenv("YARD_FINGERPRINT", PIN)
    s = _server.find()
    assert (s.url, s.token, s.fingerprint) == ("https://x.example:1", "t", "ab" * 32)


def test_a_known_server_needs_no_token(monkeypatch):
    write_contexts(CONTEXTS)
    monkeypatch.setenv("YARD_SERVER", "yard.example.org:8470")
    assert _server.find().token == "yard_abc"
    assert _server.find(server="https://yard.example.org:8470").token == "yard_abc"


def test_what_the_caller_says_stands_above_all(monkeypatch):
    write_contexts(CONTEXTS)
    monkeypatch.setenv("YARD_SERVER", "https://x.example:1")
    monkeypatch.setenv("YARD_TOKEN", "t")
    s = _server.find(server="https://y.example:2", token="mine", fingerprint=PIN)
    assert (s.url, s.token) == ("https://y.example:2", "mine")
    assert _server.find(server="https://y.example:2").token is None


def test_a_private_yard_is_named_by_its_place(monkeypatch):
    write_contexts(CONTEXTS)
    monkeypatch.setenv("YARD_STATE", "/nowhere/state")
    s = _server.find()
    assert (s.url, s.private) == ("unix:///nowhere/state/yard.sock", True)


def test_a_file_of_tokens_that_others_can_read_is_refused():
    write_contexts(CONTEXTS, 0o644)
    with pytest.raises(YardError, match="chmod 600"):
        _server.find()


def test_a_token_is_not_sent_in_the_clear():
    with pytest.raises(YardError, match="not encrypted"):
        _server.find(server="http://far.example:80", token="t")
    assert _server.find(server="http://127.0.0.1:80", token="t").token == "t"


def test_without_yard_the_error_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("YARD_STATE", str(tmp_path / "s"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(YardMissing, match="YARD_BIN"):
        Session().nodes()


def test_a_server_that_is_not_there_is_told():
    with pytest.raises(ConnectionFailed, match="127.0.0.1:9 .*does not answer"):
        Session("http://127.0.0.1:9").nodes()


def test_what_means_nothing_here_is_told_once():
    with pytest.warns(UserWarning, match="oss_bucket_name, region_id"):
        setup_default_session("http://127.0.0.1:9", region_id="cn", oss_bucket_name="b")
    assert get_default_session().url == "http://127.0.0.1:9"
    with pytest.raises(TypeError, match="regoin"):
        Session("http://127.0.0.1:9", regoin="x")


def test_a_private_yard_is_started_by_need(monkeypatch, tmp_path):
    from conftest import BUILD
    if not (BUILD / "yard").exists():
        pytest.skip("no yard in %s" % BUILD)
    monkeypatch.setenv("YARD_STATE", str(tmp_path / "s"))
    monkeypatch.setenv("YARD_BIN", str(BUILD))
    monkeypatch.delenv("YARD_SERVER", raising=False)
    down = [str(BUILD / "yard"), "-C", "local", "down"]
    with Session() as s:
        try:
            assert s.nodes()
            subprocess.run(down, check=True)
            monkeypatch.setattr(_http, "START_AGAIN_S", 0.0)
            assert s.nodes(), "it is started again by one who needs it"
        finally:
            subprocess.run(down, check=True)
        monkeypatch.setattr(_http, "START_AGAIN_S", 1e9)
        s._http._met = False
        with pytest.raises(ConnectionFailed):
            s.nodes()
