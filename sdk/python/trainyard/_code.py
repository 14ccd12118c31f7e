# SPDX-License-Identifier: Apache-2.0
"""A job's code: found, cloned, packed, and sent unless the server has it."""
from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING, Iterator, Mapping, Optional
from urllib.parse import quote, urlsplit, urlunsplit

from . import inputs as inputs_module
from ._logs import write_out
from ._pack import MANY_BYTES, MANY_FILES, READ_BYTES, Packed, pack_any, pack_file
from .errors import ApiError, YardError
from .session import Session

if TYPE_CHECKING:
    from .estimator import Estimator

_GIT_FIELDS = ("repo", "branch", "commit", "username", "password", "token")
_TRIES = 3  # for a folder that changes while it is read


def command_of(entry_point: str, in_source: bool) -> str:
    """How a script is begun, by its name."""
    name = entry_point if in_source else os.path.basename(entry_point)
    script = shlex.quote(name if not name.startswith("-") else "./" + name)
    if name.endswith(".py"):
        return "python " + script  # the contract sees to it that there is one
    if name.endswith((".sh", ".bash")):
        return "bash " + script
    return script if "/" in name else "./" + script


def _repo_url(config: Mapping[str, str]) -> str:
    repo = config["repo"]
    parts = urlsplit(repo)
    secret = config.get("token") or config.get("password")
    if parts.scheme not in ("http", "https") or not secret:
        return repo
    user = config.get("username") or ("x-access-token" if config.get("token") else "git")
    host = parts.netloc.rsplit("@", 1)[-1]
    return urlunsplit((parts.scheme, "%s:%s@%s" % (quote(user, safe=""), quote(secret, safe=""),
                                                   host), parts.path, parts.query, ""))


def _git(*args: str, hide: str = "") -> None:
    env = dict(os.environ, GIT_TERMINAL_PROMPT="0")
    try:
        r = subprocess.run(("git",) + args, env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    except FileNotFoundError as e:
        raise YardError("git_config: the program git is not on PATH") from e
    if r.returncode != 0:
        words = r.stdout.decode("utf-8", "replace").strip()
        if hide:
            words = words.replace(hide, "***")
        raise YardError("git_config: git failed: %s" % (words or "exit code %d" % r.returncode))


def clone(config: Mapping[str, str], folder: str) -> None:
    """Only what is asked for: one branch, or the one commit."""
    url = _repo_url(config)
    hide = url.split("@")[0] if url != config["repo"] else ""
    if config.get("commit"):
        _git("clone", "--quiet", "--no-checkout", "--", url, folder, hide=hide)
        _git("-C", folder, "checkout", "--quiet", config["commit"], "--", hide=hide)
        return
    branch = ["--branch", config["branch"]] if config.get("branch") else []
    _git("clone", "--quiet", "--depth", "1", *branch, "--", url, folder, hide=hide)


def _check_git(config: Mapping[str, str]) -> None:
    unknown = sorted(set(config) - set(_GIT_FIELDS))
    if unknown:
        raise ValueError("git_config: there is no '%s'; there are %s"
                         % (unknown[0], ", ".join(_GIT_FIELDS)))
    if not config.get("repo"):
        raise ValueError("git_config: 'repo' is missing")
    if re.match(r"-", config.get("branch", "")) or re.match(r"-", config.get("commit", "")):
        raise ValueError("git_config: a branch or commit does not begin with '-'")


class Code:
    """The code of one job.  What is wrong with it is told when it is made; cloned folders go
    with it."""

    def __init__(self, e: "Estimator") -> None:
        self._temp: Optional[str] = None
        self.uri: Optional[str] = None
        self.path: Optional[str] = None
        self.only_file = False
        source = os.fspath(e.source_dir) if e.source_dir else None
        if e.git_config:
            _check_git(e.git_config)
            self._temp = tempfile.mkdtemp(prefix="trainyard-git-")
            try:
                clone(e.git_config, os.path.join(self._temp, "repo"))
                self._find(os.path.join(self._temp, "repo", source or ""), e.entry_point)
            except BaseException:
                self.close()
                raise
        elif source and inputs_module.scheme_of(source) and not os.path.exists(source):
            inputs_module.check_uri("source_dir", source)
            self.uri = source
        elif source:
            self._find(os.path.expanduser(source), e.entry_point)
        elif e.entry_point:
            self._find_file(os.path.expanduser(e.entry_point))

    def _find(self, path: str, entry_point: Optional[str]) -> None:
        if not os.path.exists(path):
            raise ValueError("source_dir: there is no '%s'" % path)
        real = os.path.realpath(path)
        if real in ("/", os.path.realpath(os.path.expanduser("~"))):
            raise ValueError("source_dir: '%s' is %s: give the folder of a project" % (
                path, "the root folder" if real == "/" else "your home folder"))
        if entry_point and os.path.isdir(path) and \
                not os.path.isfile(os.path.join(path, entry_point)):
            raise ValueError("entry_point: there is no '%s' in source_dir '%s'"
                             % (entry_point, path))
        self.path = path

    def _find_file(self, path: str) -> None:
        if not os.path.isfile(path):
            raise ValueError("entry_point: there is no file '%s' here; give source_dir, the folder "
                             "it is in" % path)
        self.path, self.only_file = path, True

    def __enter__(self) -> "Code":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        temp, self._temp = self._temp, None
        if temp:
            shutil.rmtree(temp, ignore_errors=True)

    def send(self, session: Session) -> Optional[str]:
        """What the job file's ``code`` says: a URI, a snapshot's hash, or None."""
        if self.path is None:
            return self.uri
        for attempt in range(_TRIES):
            packed = pack_file(self.path) if self.only_file else \
                pack_any(self.path, _tell if attempt == 0 else _silent)
            with packed.file:
                if attempt == 0:
                    _tell_big(packed)
                if self._put(session, packed):
                    return packed.hash
        raise YardError("source_dir changes while it is read: try again when it is still")

    @staticmethod
    def _put(session: Session, packed: Packed) -> bool:
        """False: what was sent is not what was hashed."""
        target = "/code/" + packed.hash
        try:
            session._http.open("HEAD", target, whole=True)
            return True
        except ApiError as e:
            if e.status != 404:
                raise

        def body() -> Iterator[bytes]:
            packed.file.seek(0)
            return iter(lambda: packed.file.read(READ_BYTES), b"")

        try:
            session._http.open("PUT", target, body=body, whole=True, headers={
                "Content-Type": "application/x-tar", "Content-Length": str(packed.size)})
            return True
        except ApiError as e:
            if "another hash" in e.message:
                return False
            raise


def _tell(text: str) -> None:
    write_out("source_dir: %s\n" % text)


def _silent(_: str) -> None:
    pass


def _tell_big(p: Packed) -> None:
    if p.size >= MANY_BYTES or p.files >= MANY_FILES:
        _tell("is big: %d MiB in %d files (biggest: %s, %d MiB); name what the job does not need "
              "in .yardignore, and give data as inputs"
              % (p.size >> 20, p.files, p.largest, p.largest_bytes >> 20))
