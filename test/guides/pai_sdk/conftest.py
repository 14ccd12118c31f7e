# SPDX-License-Identifier: Apache-2.0
"""The two worlds that the guide is followed in: a yard of one's own on this machine, and a server
that another user talks to by TLS with a token."""
import os
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "sdk" / "python" / "tests"))

import yards  # noqa: E402

sys.path.insert(0, str(ROOT / "sdk" / "python"))

import blocks  # noqa: E402
import trainyard.compat  # noqa: E402,F401
from trainyard import session as session_module  # noqa: E402
from trainyard import storage  # noqa: E402
from trainyard.session import Session  # noqa: E402


def pytest_collection_modifyitems(items):
    if not blocks.GUIDE.exists():
        for item in items:
            item.add_marker(pytest.mark.skip(reason="the guide is not here: %s" % blocks.GUIDE))


class World:
    """A yard, how one comes to it, and what the guide's placeholders are there."""

    def __init__(self, name, yard, env, admin, local):
        self.name, self.yard, self.env, self.admin, self.local = name, yard, env, admin, local

    def session(self):
        return Session(self.env["YARD_SERVER"], self.env.get("YARD_TOKEN"),
                       fingerprint=self.env.get("YARD_FINGERPRINT"))

    def fill(self):
        """The catalogue, and data in a bucket."""
        with Session(self.admin) as s:
            for name, framework, version, chip in (
                    ("pytorch-cpu", "PyTorch", "2.0.1", "CPU"),
                    ("pytorch-gpu", "PyTorch", "1.12", "GPU"),
                    ("pytorch-old", "PyTorch", "1.8.2", "GPU"),
                    ("tf-cpu", "TensorFlow", "2.3", "CPU"),
                    ("tf-new", "TensorFlow", "2.12.0", "GPU"),
                    ("tf-gpu", "TensorFlow", "2.9.1", "GPU")):
                s._http.json("PUT", "/images/" + name, value={
                    "framework": framework, "version": version, "accelerator": chip,
                    "python": "3.11", "runs": "host"})
            s._http.json("PUT", "/instance-types/ecs.c6.xlarge", value={
                "cpu_milli": 400, "memory_bytes": 512 << 20})
        with self.session() as s:
            for path, text in (("train/data/train.csv", "1,2\n"), ("test/data/a.csv", "3\n"),
                               ("path/to/train/data/x.csv", "4\n"), ("path-to-data/d.csv", "5\n")):
                storage.write("pfs:guide-bucket/" + path, text.encode(), s)
        with Session(self.local) as s:
            storage.write("pfs:guide-bucket/path-to-data/d.csv", b"5\n", s)


# The packages of the tests' own Python, as a site would have them on a file server.
NAS = ("--nas", "packages=" + sysconfig.get_paths()["purelib"])


@pytest.fixture(scope="session")
def here(tmp_path_factory):
    if not (yards.BUILD / "yardd").exists():
        pytest.skip("no yardd in %s" % yards.BUILD)
    y = yards.Yard(tmp_path_factory.mktemp("here"), *NAS).start()
    yield y
    y.stop()


@pytest.fixture(scope="session")
def far(tmp_path_factory, here):
    y = yards.Yard(tmp_path_factory.mktemp("far"), "--listen", "127.0.0.1:0", "--tls", "on",
                   *NAS).start()
    yield y
    y.stop()


@pytest.fixture(scope="session", params=["local", "remote"])
def made(request, here):
    if request.param == "local":
        w = World("local", here, {"YARD_SERVER": here.url}, here.url, here.url)
    else:
        far = request.getfixturevalue("far")
        env = {"YARD_SERVER": far.https, "YARD_TOKEN": far.token("ada"),
               "YARD_FINGERPRINT": far.fingerprint, "YARD_SOCKET": here.socket,
               "YARD_STATE": str(here.state)}
        w = World("remote", far, env, far.url, here.url)
    w.fill()
    return w


@pytest.fixture
def world(made, monkeypatch, tmp_path):
    for name in [n for n in os.environ if n.startswith("YARD_")]:
        monkeypatch.delenv(name)
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        (tmp_path / name.lower()).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setattr(session_module, "_default", None)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return made
