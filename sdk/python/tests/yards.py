# SPDX-License-Identifier: Apache-2.0
"""Real yards for tests, each in a folder of its own; also used by test/guides."""
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "sdk" / "python"))
BUILD = Path(os.environ.get("YARD_BUILD") or ROOT / "build")

from trainyard.session import Session  # noqa: E402


def until(condition, seconds=60, pause=0.02):
    """What condition() gives once it is true."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, "still not so after %d s" % seconds
        time.sleep(pause)


def system_pip():
    """Whether the Python that jobs find can install packages."""
    return subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


class Yard:
    """A daemon and its folders."""

    def __init__(self, top, *args):
        self.top = Path(top)
        self.state = self.top / "state"
        self.socket = str(self.top / "yard.sock")
        self.args = args
        self.process = None
        self.log = self.top / "yardd.log"

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(BUILD / "yardd"), "--state", str(self.state), "--socket", self.socket,
                 *self.args], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(self.answers)
        return self

    def answers(self):
        assert self.process.poll() is None, self.log.read_text()
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(self.socket) == 0

    def said(self, pattern):
        """In its log, which it writes when it is all set."""
        return until(lambda: re.findall(pattern, self.log.read_text()))[-1]

    @property
    def url(self):
        return "unix://" + self.socket

    @property
    def https(self):
        return self.said(r"https?://[^ ,]*:\d+")

    @property
    def fingerprint(self):
        return self.said(r"certificate (SHA256:[0-9A-F:]+)\n")

    def token(self, name, role="member"):
        """A user with an account, and a token of theirs."""
        with Session(self.url) as s:
            s._http.json("POST", "/users", value={"name": name, "password": "a long password",
                                                  "role": role})
            return s._http.json("POST", "/login", value={
                "user": name, "password": "a long password", "label": "test"})["token"]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            with Session(self.url) as s:
                live = s._http.json("GET", "/jobs", query={"state": "live", "limit": 900})["jobs"]
                for job in live:
                    s._http.json("POST", "/jobs/%d/stop" % job["id"], value={}, again=True)
                for job in live:
                    s._http.json("GET", "/jobs/%d/wait" % job["id"], query={"timeout_ms": 8000})
            self.process.terminate()
            self.process.wait(30)

    def yard(self, *args, **more):
        env = dict(os.environ, YARD_SERVER=self.url, **more.pop("env", {}))
        return subprocess.run([str(BUILD / "yard"), *args], env=env, check=True,
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, **more
                              ).stdout.decode()
