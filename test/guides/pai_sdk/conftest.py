# SPDX-License-Identifier: Apache-2.0
"""The two worlds that the guide is followed in: a yard of one's own on this machine, and a server
that another user talks to by TLS with a token."""
import json
import os
import socket
import subprocess
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

    def __init__(self, name, env, admin, local, oss):
        self.name, self.env, self.admin, self.local, self.oss = name, env, admin, local, oss

    @property
    def bucket(self):
        """A real object store where there is one, else a folder of the yard's storage."""
        return ("oss://" if self.oss else "pfs:") + BUCKET

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
        with self.session() as mine, Session(self.local) as local:
            for s in (mine, local):
                if self.oss:
                    s._http.json("PUT", "/secrets/user/%s/oss" % s.me["name"],
                                 value={"value": self.oss.account()})
                    continue
                for path, text in DATA.items():
                    storage.write("pfs:%s/%s" % (BUCKET, path), text, s)


BUCKET = "guide-bucket"
DATA = {"train/data/train.csv": b"1,2\n", "test/data/a.csv": b"3\n",
        "path/to/train/data/x.csv": b"4\n", "path-to-data/d.csv": b"5\n"}


class ObjectStore:
    """S3Proxy, which checks signatures, over a folder."""

    def __init__(self, top, jars):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.folder = top / "s3" / BUCKET
        for path, text in DATA.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_bytes(text)
        (top / "conf").write_text("\n".join([
            "s3proxy.endpoint=http://127.0.0.1:%d" % self.port, "s3proxy.authorization=aws-v4",
            "s3proxy.identity=ann", "s3proxy.credential=secret", "jclouds.provider=filesystem",
            "jclouds.identity=x", "jclouds.credential=x",
            "jclouds.filesystem.basedir=%s" % (top / "s3"), ""]))
        self.process = subprocess.Popen(
            ["java", "-XX:TieredStopAtLevel=1", "-cp", jars + "/*", "org.gaul.s3proxy.Main",
             "--properties", str(top / "conf")], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def listens(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def account(self):
        return json.dumps({"endpoint": "http://127.0.0.1:%d" % self.port, "region": "eu-test-1",
                           "access_key": "ann", "secret_key": "secret"})


@pytest.fixture(scope="session")
def oss(tmp_path_factory):
    """None where no object store can be had: the bucket is then a folder in storage."""
    try:
        jars = subprocess.run([str(ROOT / "tools" / "java-env"), "s3proxy"], check=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except (OSError, subprocess.SubprocessError):
        yield None
        return
    store = ObjectStore(tmp_path_factory.mktemp("oss"), jars.decode().strip())
    try:
        yards.until(lambda: store.listens() or store.process.poll() is not None)
        yield store if store.listens() else None
    finally:
        store.process.kill()
        store.process.wait()


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
def made(request, here, oss):
    if request.param == "local":
        w = World("local", {"YARD_SERVER": here.url}, here.url, here.url, oss)
    else:
        far = request.getfixturevalue("far")
        env = {"YARD_SERVER": far.https, "YARD_TOKEN": far.token("ada"),
               "YARD_FINGERPRINT": far.fingerprint, "YARD_SOCKET": here.socket,
               "YARD_STATE": str(here.state)}
        w = World("remote", env, far.url, here.url, oss)
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
