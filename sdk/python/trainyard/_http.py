# SPDX-License-Identifier: Apache-2.0
"""Requests to a server: by unix socket, HTTP or HTTPS with a pinned certificate.

Connections are kept and reused, by any thread.  A request that may be sent twice (one that only
reads, puts or deletes, or that has an idempotency key) is tried again while the server is being
restarted or says that it is busy; any other is sent at most once.
"""
from __future__ import annotations

import hashlib
import http.client
import json
import os
import random
import socket
import ssl
import threading
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Union
from urllib.parse import quote, urlencode

from ._server import Server, start_private
from .errors import ApiError, ConnectionFailed, NotFound, TensorboardLimitExceeded, UntrustedServer

PREFIX = "/yard/v1"
CONNECT_S = 8.0
PATIENCE_S = 60.0  # with a server that was there before: it is being restarted
PATIENCE_FIRST_S = 4.0  # with one that never was
PAUSE_S, PAUSE_MAX_S = 0.05, 1.0
POOL_MAX = 32
START_AGAIN_S = 10.0  # a yard that does not stay up is not started again and again

Body = Union[None, bytes, Callable[[], Iterable[bytes]]]
Query = Mapping[str, Union[None, str, int, bool]]


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("yard", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            s.settimeout(CONNECT_S)
            s.connect(self._path)
            s.settimeout(self.timeout)
        except BaseException:
            s.close()
            raise
        self.sock = s


class _TcpConnection(http.client.HTTPConnection):
    def connect(self) -> None:
        self.sock = _dial(self.host, self.port, self.timeout)


class _TlsConnection(http.client.HTTPConnection):
    """HTTPS; the certificate is checked before a byte of ours is sent."""

    def __init__(self, server: Server, context: ssl.SSLContext, timeout: float) -> None:
        super().__init__(server.host, server.port, timeout=timeout)
        self._server = server
        self._context = context

    def connect(self) -> None:
        plain = _dial(self.host, self.port, CONNECT_S * 2)
        pin = self._server.fingerprint
        try:
            self.sock = self._context.wrap_socket(
                plain, server_hostname=self.host)
        except ssl.SSLCertVerificationError as e:
            plain.close()
            raise UntrustedServer(
                "the certificate of %s is not trusted (%s): `yard login %s` shows and keeps its "
                "fingerprint; or give it: Session(fingerprint=…), YARD_FINGERPRINT"
                % (self.host, e.verify_message, self._server.url)) from e
        except BaseException:
            plain.close()
            raise
        if pin:
            shown = hashlib.sha256(self.sock.getpeercert(binary_form=True) or b"").hexdigest()
            if shown != pin:
                self.close()
                raise UntrustedServer("the certificate of %s changed: was %s, is %s"
                                      % (self.host, _colons(pin), _colons(shown)))
        self.sock.settimeout(self.timeout)


def _colons(hexa: str) -> str:
    pairs = [hexa[i:i + 2].upper() for i in range(0, len(hexa), 2)]
    return "SHA256:" + ":".join(pairs)


def _dial(host: str, port: int, timeout: Optional[float]) -> socket.socket:
    s = socket.create_connection((host, port), CONNECT_S)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    s.settimeout(timeout)
    return s


class Answer:
    """The head of an answer, and its body: whole by read(), or piece by piece."""

    def __init__(self, transport: "Transport", conn: http.client.HTTPConnection,
                 raw: http.client.HTTPResponse) -> None:
        self._transport: Optional[Transport] = transport
        self._conn = conn
        self._raw = raw
        self._body: Optional[bytes] = None
        self.status = raw.status
        # A head that was cut off looks like one without a length: the server always gives one.
        if raw.length is None and not raw.chunked:
            conn.close()
            raise http.client.IncompleteRead(b"")

    def header(self, name: str) -> Optional[str]:
        return self._raw.getheader(name)

    def read(self) -> bytes:
        """All of it; again, when it was read already."""
        if self._body is None:
            try:
                self._body = self._raw.read()
            except BaseException:
                self.close()
                raise
            self._release()
        return self._body

    def piece(self, most: int = 1 << 16) -> bytes:
        """What is there, at least a byte; empty at the end."""
        try:
            # read1() of a body with a length does not count it down before Python 3.12.
            data = self._raw.read1(most) if self._raw.chunked else self._raw.read(most)
            if not data and (self._raw.length or 0) > 0:
                raise http.client.IncompleteRead(b"", self._raw.length)
        except BaseException:
            self.close()
            raise
        if not data:
            self._release()
        return data

    def close(self) -> None:
        """Gives up the rest of the body, and with it the connection."""
        self._transport = None
        self._conn.close()

    def _release(self) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            if self._raw.will_close:
                self._conn.close()
            else:
                transport._keep(self._conn)

    def __enter__(self) -> "Answer":
        return self

    def __exit__(self, *_: object) -> None:
        if self._transport is not None:
            self.close()


class Transport:
    """Requests to one server; any number of threads may use it."""

    def __init__(self, server: Server, timeout: float = 60.0) -> None:
        self.server = server
        self.timeout = timeout
        self._lock = threading.Lock()
        self._idle: List[http.client.HTTPConnection] = []
        self._pid = os.getpid()
        self._started: Optional[float] = None  # when a private yard was last started
        self._met = False
        self._tls: Optional[ssl.SSLContext] = None

    def _context(self) -> ssl.SSLContext:
        with self._lock:
            if self._tls is None:
                self._tls = ssl.create_default_context()
                if self.server.fingerprint:
                    self._tls.check_hostname = False
                    self._tls.verify_mode = ssl.CERT_NONE  # exactly that one is trusted instead
            return self._tls

    def _connection(self) -> http.client.HTTPConnection:
        s = self.server
        if s.scheme == "unix":
            return _UnixConnection(s.socket, self.timeout)
        if s.scheme == "https":
            return _TlsConnection(s, self._context(), self.timeout)
        return _TcpConnection(s.host, s.port, timeout=self.timeout)

    def _take(self, fresh: bool) -> http.client.HTTPConnection:
        with self._lock:
            if self._pid != os.getpid():  # a forked child shares no connection with its parent
                self._idle, self._pid = [], os.getpid()
            if self._idle and not fresh:
                return self._idle.pop()
        return self._connection()

    def _keep(self, conn: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < POOL_MAX and self._pid == os.getpid():
                self._idle.append(conn)
                return
        conn.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for conn in idle:
            conn.close()

    def _send(self, method: str, target: str, body: Body, headers: Dict[str, str],
              fresh: bool) -> Answer:
        conn = self._take(fresh)
        data: Any = body() if callable(body) else body
        try:
            conn.request(method, target, body=data, headers=headers)
        except (BrokenPipeError, ConnectionResetError):
            # It may have answered before it had read all, for example that it is too large.
            try:
                return Answer(self, conn, conn.getresponse())
            except BaseException:
                conn.close()
                raise
        except BaseException:
            conn.close()
            raise
        try:
            return Answer(self, conn, conn.getresponse())
        except BaseException:
            conn.close()
            raise

    def _headers(self, extra: Optional[Mapping[str, str]]) -> Dict[str, str]:
        headers = {"Accept": "*/*", "User-Agent": "trainyard-python"}
        if self.server.token:
            headers["Authorization"] = "Bearer " + self.server.token
        headers.update(extra or {})
        return headers

    def open(self, method: str, path: str, *, query: Optional[Query] = None, body: Body = None,
             headers: Optional[Mapping[str, str]] = None, again: Optional[bool] = None,
             whole: bool = False, patience: float = PATIENCE_S) -> Answer:
        """Sends it and gives the answer's head.  An answer of 400 or more raises.

        again: whether it may be sent twice; by the method and its headers when not given.
        whole: the body is read too, so that one that breaks off is asked for again."""
        target = PREFIX + path + _query(query)
        head = self._headers(headers)
        if again is None:
            again = method in ("GET", "HEAD", "PUT", "DELETE") or "Idempotency-Key" in head
        if not self._met:
            patience = min(patience, PATIENCE_FIRST_S)
        until, pause, fresh = time.monotonic() + patience, PAUSE_S, not again
        while True:
            try:
                answer = self._send(method, target, body, head, fresh)
                self._met = True
                if answer.status < 400:
                    if whole:
                        answer.read()
                    return answer
                failed: BaseException = self._error(answer)
                if answer.status != 503 or not again or time.monotonic() > until:
                    raise failed
                wait = answer.header("Retry-After") or ""
                pause = max(pause, float(wait) if wait.isdigit() else 0)
            except UntrustedServer:
                raise
            except (OSError, http.client.HTTPException) as e:
                failed = e
            if not isinstance(failed, ApiError):
                # What could not be reached was sent nothing.
                unsent = isinstance(failed, (ConnectionRefusedError, FileNotFoundError,
                                             socket.gaierror))
                if unsent and self._start():
                    continue
                if again and not fresh and not unsent:
                    fresh = True  # of a kept connection: the server may have closed it
                    continue
                if not (again or unsent) or time.monotonic() > until:
                    raise self._unreachable(failed) from failed
            time.sleep(pause * random.uniform(0.75, 1.0))
            pause = min(pause * 2, PAUSE_MAX_S)

    def _start(self) -> bool:
        """Starts a private yard, which nobody else would; whether it did."""
        now = time.monotonic()
        with self._lock:
            may = self.server.private and (self._started is None or
                                           now - self._started > START_AGAIN_S)
            if may:
                self._started = now
        if may:
            start_private(self.server)
        return may

    def _unreachable(self, e: BaseException) -> ConnectionFailed:
        return ConnectionFailed("%s%s does not answer: %s"
                                % (self.server.url, " (named by %s)" % self.server.named
                                   if self.server.named else "", e or type(e).__name__))

    def _error(self, answer: Answer) -> ApiError:
        body = answer.read()
        try:
            e = json.loads(body.decode("utf-8"))["error"]
            code, message = str(e["code"]), str(e["message"])
        except (ValueError, KeyError, TypeError):
            code, e = "http-%d" % answer.status, {}
            message = "%s answered %d %s" % (self.server.url, answer.status,
                                             body[:200].decode("utf-8", "replace"))
        if answer.status == 401:
            message += "; `yard login %s`, Session(token=…) or YARD_TOKEN" % self.server.url
        kind = NotFound if answer.status == 404 else ApiError
        if e.get("reason") == "TensorboardLimitExceeded" or "TensorboardLimitExceeded" in message:
            kind = TensorboardLimitExceeded
        return kind(answer.status, code, message, e.get("field"), e.get("problems") or (),
                    e.get("reason"))

    def json(self, method: str, path: str, *, query: Optional[Query] = None,
             value: Any = None, headers: Optional[Mapping[str, str]] = None,
             again: Optional[bool] = None, patience: float = PATIENCE_S) -> Any:
        """The answer's JSON; None when it has no body."""
        head = dict(headers or {})
        body: Body = None
        if value is not None:
            head["Content-Type"] = "application/json"
            body = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
        data = self.open(method, path, query=query, body=body, headers=head, again=again,
                         whole=True, patience=patience).read()
        return json.loads(data.decode("utf-8")) if data else None


def _query(query: Optional[Query]) -> str:
    if not query:
        return ""
    pairs = [(k, str(v).lower() if isinstance(v, bool) else str(v))
             for k, v in query.items() if v is not None]
    return "?" + urlencode(pairs, quote_via=quote, errors="surrogateescape") if pairs else ""


def segment(text: str) -> str:
    """Text as one part of a path."""
    return quote(text, safe="")


def pages(transport: Transport, path: str, key: str, query: Query, cursor: str) -> Iterator[Any]:
    """All items of a list, page by page."""
    at: Dict[str, Union[None, str, int, bool]] = dict(query)
    while True:
        page = transport.json("GET", path, query=at)
        yield from page[key]
        if page.get("next") is None:
            return
        at[cursor] = page["next"]
