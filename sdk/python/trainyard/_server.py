# SPDX-License-Identifier: Apache-2.0
"""Which server is meant: the rules of the command ``yard``, so that both always agree.

The first of these that says something:

1. what the caller names: a URL, or a context
2. ``YARD_SERVER``, with ``YARD_TOKEN`` and ``YARD_FINGERPRINT``; of a server that ``yard login``
   knows, token and fingerprint are taken from there
3. ``YARD_STATE`` or ``YARD_SOCKET``: a private yard there
4. the current context of ``yard login``; ``YARD_TOKEN`` stands above its token
5. the machine's own yard, ``/run/yard/yard.sock``, if it answers
6. the caller's private yard, started when it is needed
"""
from __future__ import annotations

import json
import os
import re
import socket
import stat
import subprocess
from typing import Dict, List, NamedTuple, Optional, Tuple
from urllib.parse import unquote, urlsplit

from .errors import ConnectionFailed, YardError, YardMissing

SYSTEM_SOCKET = "/run/yard/yard.sock"
SYSTEM_STATE = "/var/lib/yard"
PORT = 8470
LOCAL = "local"


class Server(NamedTuple):
    """Where it is, and how one is known there."""

    scheme: str  # unix, http or https
    host: str = ""
    port: int = 0
    socket: str = ""
    token: Optional[str] = None
    fingerprint: Optional[str] = None  # 64 lower-case hex digits
    named: str = ""  # who named it, for messages
    private: bool = False  # may be started by `yard up`

    @property
    def url(self) -> str:
        if self.scheme == "unix":
            return "unix://" + self.socket
        host = "[%s]" % self.host if ":" in self.host else self.host
        return "%s://%s:%d" % (self.scheme, host, self.port)

    @property
    def here(self) -> bool:
        """On this machine for sure; a TCP port, even of loopback, may be a tunnel."""
        return self.scheme == "unix"

    @property
    def stays_here(self) -> bool:
        """Nothing of what is sent leaves this machine in the clear."""
        return self.here or self.host in ("localhost", "::1") or \
            re.match(r"127(\.\d{1,3}){3}$", self.host) is not None


class Context(NamedTuple):
    name: str
    server: str
    token: Optional[str]
    fingerprint: Optional[str]


def parse_url(url: str) -> Server:
    """``unix:///path``, ``http://host:port``, ``https://host:port`` or ``host:port``."""
    if url.startswith("unix://"):
        path = url[len("unix://"):]
        if not path.startswith("/"):
            raise ValueError("'%s' is not unix:///path" % url)
        return Server("unix", socket=path)
    text = url if "://" in url else "//" + url
    parts = urlsplit(text)
    scheme = parts.scheme or "https"
    try:
        port = parts.port
    except ValueError:
        port = -1
    if scheme not in ("http", "https") or not parts.hostname or port == -1 or \
            parts.username is not None or parts.path not in ("", "/") or parts.query:
        raise ValueError("'%s' is neither unix:///path nor http://host:port nor "
                         "https://host:port" % url)
    usual = {"http": 80, "https": 443}[scheme] if parts.scheme else PORT
    return Server(scheme, host=unquote(parts.hostname), port=port or usual)


def parse_fingerprint(text: str) -> str:
    """``SHA256:AA:BB:…`` as lower-case hex."""
    hexa = re.sub(r"^SHA256:", "", text.strip(), flags=re.I).replace(":", "").lower()
    if not re.match(r"[0-9a-f]{64}$", hexa):
        raise ValueError("'%s' is not a fingerprint: SHA256: and 32 bytes in hex" % text)
    return hexa


def _scalar(text: str) -> Optional[str]:
    """A value as ``yard login`` writes it (a JSON string), or plain, as a person might."""
    text = text.strip()
    if text.startswith('"'):
        value = json.loads(text)
        return value if isinstance(value, str) else None
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    text = re.sub(r"\s+#.*$", "", text)
    return None if text in ("", "~", "null") else text


def _parse_contexts(text: str) -> Tuple[Optional[str], List[Context]]:
    current: Optional[str] = None
    found: List[Dict[str, Optional[str]]] = []
    for line in text.splitlines():
        m = re.match(r"(\s*)(-\s+)?([A-Za-z_]+):(?:\s+(.*))?$", line)
        if not m or line.lstrip().startswith("#"):
            continue
        value = _scalar(m.group(4) or "")
        if m.group(2):
            found.append({})
        if not m.group(1) and not m.group(2):
            current = value if m.group(3) == "current" else current
        elif found:
            found[-1][m.group(3)] = value
    contexts = [Context(x["name"] or "", x["server"] or "", x.get("token"), x.get("fingerprint"))
                for x in found if x.get("name") and x.get("server")]
    return current, contexts


def contexts_path() -> str:
    config = os.environ.get("XDG_CONFIG_HOME", "")
    if not config.startswith("/"):
        config = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(config, "yard", "contexts.yaml")


def load_contexts() -> Tuple[Optional[str], List[Context]]:
    """The current one's name (None: local) and all; none when there is no file."""
    path = contexts_path()
    try:
        with open(path, encoding="utf-8") as f:
            st = os.fstat(f.fileno())
            if st.st_uid not in (os.geteuid(), 0):
                raise YardError("%s belongs to somebody else" % path)
            if stat.S_IMODE(st.st_mode) & 0o077:
                raise YardError("%s holds tokens and is open to others (mode %04o): chmod 600 it"
                                % (path, stat.S_IMODE(st.st_mode)))
            return _parse_contexts(f.read())
    except FileNotFoundError:
        return None, []
    except ValueError as e:
        raise YardError("%s: %s" % (path, e)) from e


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.settimeout(5)
        try:
            s.connect(path)
        except OSError:
            return False
    return True


def _state_folder() -> str:
    if os.geteuid() == 0:
        return SYSTEM_STATE
    state = os.environ.get("XDG_STATE_HOME", "")
    if state.startswith("/"):
        return state + "/yard"
    return os.path.join(os.path.expanduser("~"), ".local", "state", "yard")


def _socket_of(state: str) -> str:
    if os.geteuid() == 0 and state == SYSTEM_STATE:
        return SYSTEM_SOCKET
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.geteuid() != 0 and state == _state_folder() and runtime.startswith("/"):
        return runtime + "/yard/yard.sock"
    return state + "/yard.sock"


def find_local() -> Server:
    """The yard of this machine, or the caller's private one."""
    state, path = os.environ.get("YARD_STATE"), os.environ.get("YARD_SOCKET")
    if not state and not path and os.geteuid() != 0 and _answers(SYSTEM_SOCKET):
        return Server("unix", socket=SYSTEM_SOCKET, named="this machine")
    folder = state or _state_folder()
    if path:
        return Server("unix", socket=path, named="YARD_SOCKET", private=True)
    usual = _socket_of(folder)
    # A daemon started with another XDG_RUNTIME_DIR listens elsewhere: its state tells where.
    try:
        told = os.readlink(folder + "/socket")
    except OSError:
        told = usual
    if told != usual and not _answers(usual) and _answers(told):
        usual = told
    return Server("unix", socket=usual, named="this machine", private=True)


def _pin(text: Optional[str]) -> Optional[str]:
    return parse_fingerprint(text) if text else None


def _of_context(x: Context) -> Server:
    try:
        s = parse_url(x.server)
        return s._replace(token=x.token, fingerprint=_pin(x.fingerprint),
                          named="context " + x.name)
    except ValueError as e:
        raise YardError("context %s: %s" % (x.name, e)) from e


def _named(contexts: List[Context], name: str) -> Context:
    for x in contexts:
        if x.name == name:
            return x
    known = ", ".join(sorted(x.name for x in contexts)) or "none"
    raise YardError("there is no context '%s' (there are: %s); `yard login` makes one"
                    % (name, known))


def _of_url(url: str, contexts: List[Context], named: str) -> Server:
    s = parse_url(url)._replace(named=named)
    for x in contexts:
        try:
            if s.scheme != "unix" and parse_url(x.server).url == s.url:
                return s._replace(token=x.token, fingerprint=_pin(x.fingerprint))
        except ValueError:
            continue
    return s


def find(server: Optional[str] = None, token: Optional[str] = None, context: Optional[str] = None,
         fingerprint: Optional[str] = None) -> Server:
    """The server that is meant; nothing is asked of it yet."""
    if server and context:
        raise ValueError("give either server or context, not both")
    env = os.environ.get
    if context == LOCAL:
        found = find_local()
    elif context:
        found = _of_context(_named(load_contexts()[1], context))
    elif server or env("YARD_SERVER"):
        url = server or env("YARD_SERVER") or ""
        known = [] if url.startswith("unix://") else load_contexts()[1]
        found = _of_url(url, known, "the caller" if server else "YARD_SERVER")
        if not server and env("YARD_FINGERPRINT"):
            found = found._replace(fingerprint=_pin(env("YARD_FINGERPRINT")))
    elif env("YARD_STATE") or env("YARD_SOCKET"):
        found = find_local()
    else:
        current, contexts = load_contexts()
        found = _of_context(_named(contexts, current)) if current and current != LOCAL \
            else find_local()
    if token is None and not context and not server:
        token = env("YARD_TOKEN") or None
    if token is not None:
        found = found._replace(token=token)
    if fingerprint is not None:
        found = found._replace(fingerprint=_pin(fingerprint))
    _check_token(found)
    return found


def _check_token(s: Server) -> None:
    """Who has logged in there in the clear has said that they want it."""
    if not s.token or s.scheme != "http" or s.stays_here:
        return
    if any(x.server.rstrip("/") == s.url for x in load_contexts()[1]):
        return
    raise YardError("%s is not encrypted: anybody between could read the token; use https:// "
                    "(or `yard login --insecure-http` once if you know better)" % s.url)


def yard_program() -> str:
    """The command ``yard``: ``$YARD_BIN`` (the program, or the folder it is in), or PATH."""
    given = os.environ.get("YARD_BIN")
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    if given:
        places = [given] if os.path.isdir(given) else []
        if not places and os.access(given, os.X_OK):
            return given
    for folder in places:
        path = os.path.join(folder, "yard")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise YardMissing("no yard answers, and the program `yard`, which starts one of your own, is "
                      "not %s; install Trainyard, name the program in YARD_BIN, or name a server: "
                      "Session(server=…), YARD_SERVER or `yard login`"
                      % ("at %s (YARD_BIN)" % given if given else "on PATH"))


def start_private(s: Server) -> None:
    """Starts the caller's own yard; that one answers already is fine."""
    program = yard_program()
    env = {k: v for k, v in os.environ.items() if k not in ("YARD_SERVER", "YARD_TOKEN")}
    try:
        r = subprocess.run([program, "-C", LOCAL, "up"], env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                           check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise ConnectionFailed("%s -C local up: %s" % (program, e)) from e
    if r.returncode != 0 and not _answers(s.socket):
        raise ConnectionFailed("your yard could not be started: %s"
                               % r.stdout.decode("utf-8", "replace").strip())
