# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a real yard of their own, on a socket in a folder of its own."""
import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from yards import BUILD, ROOT, Yard, until  # noqa: E402,F401

for name in [n for n in os.environ if n.startswith("YARD_") and n != "YARD_BUILD"]:
    del os.environ[name]

from trainyard import _http  # noqa: E402
from trainyard import session as session_module  # noqa: E402
from trainyard.session import Session  # noqa: E402


@pytest.fixture(scope="session")
def yard(tmp_path_factory):
    if not (BUILD / "yardd").exists():
        pytest.skip("no yardd in %s" % BUILD)
    y = Yard(tmp_path_factory.mktemp("yard")).start()
    yield y
    y.stop()


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path, request):
    """A world of its own: nothing of the caller's yard is seen or touched."""
    for name in [n for n in os.environ if n.startswith("YARD_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setattr(session_module, "_default", None)
    monkeypatch.setattr(_http, "PATIENCE_FIRST_S", 1.0)  # with who is not there
    if "yard" in request.fixturenames:
        y = request.getfixturevalue("yard")
        monkeypatch.setenv("YARD_SERVER", y.url)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)


@pytest.fixture
def session(yard):
    with Session(yard.url) as s:
        yield s


class Cutter:
    """Stands before a yard's socket and cuts connections: after so many bytes of answers, each
    time anew; or refuses them; or passes no more than stall_at bytes in all until that is None."""

    def __init__(self, path, behind, cut_after):
        self.path, self.behind, self.cut_after = path, behind, cut_after
        self.cuts = self.connections = 0
        self.refuse = False
        self.stall_at, self.passed = None, 0
        self.requests = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            if self.refuse:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.behind)
            except OSError:
                client.close()
                continue
            threading.Thread(target=self._up, args=(client, server), daemon=True).start()
            threading.Thread(target=self._down, args=(client, server), daemon=True).start()

    def _pass(self, to, data):
        while self.stall_at is not None and self.passed + len(data) > self.stall_at:
            time.sleep(0.01)
        self.passed += len(data)
        to.sendall(data)

    @property
    def stalled(self):
        return self.stall_at is not None and self.passed + 65536 > self.stall_at

    def _up(self, client, server):
        try:
            while True:
                data = client.recv(65536)
                if not data:
                    break
                first = data.split(b"\r\n", 1)[0]
                if first.endswith(b"HTTP/1.1"):
                    self.requests.append(first.decode())
                self._pass(server, data)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def _down(self, client, server):
        left = self.cut_after
        try:
            while True:
                data = server.recv(65536)
                if not data:
                    break
                if left is not None and len(data) >= left:
                    client.sendall(data[:left])
                    self.cuts += 1
                    break
                left = None if left is None else left - len(data)
                self._pass(client, data)
        except OSError:
            pass
        for s in (client, server):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()

    def close(self):
        self._listener.close()


@pytest.fixture
def cutter(yard, tmp_path):
    made = []

    def make(cut_after):
        c = Cutter(str(tmp_path / ("cut%d.sock" % len(made))), yard.socket, cut_after)
        made.append(c)
        return c

    yield make
    for c in made:
        c.close()


def write_files(top, files):
    for name, text in files.items():
        path = Path(top) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(top)


def job_json(lines):
    """What a job printed as one line of JSON."""
    return json.loads([line for line in lines if line.startswith("{")][-1])


def rand_bytes(rng, count):
    """Random.randbytes, which Python 3.8 has not."""
    return rng.getrandbits(8 * count).to_bytes(count, "little") if count else b""
