# SPDX-License-Identifier: Apache-2.0
"""A session: which yard is meant, and as whom.

    >>> from trainyard.session import Session, setup_default_session
    >>> Session(server="https://yard.example.org:8470", token="yard_…")
    >>> setup_default_session(context="team")     # of `yard login --name team`

Without arguments it is the yard that the command ``yard`` would talk to; when there is none, a
private one is started on this machine.
"""
from __future__ import annotations

import threading
import warnings
from typing import Any, Dict, List, Optional

from ._http import Transport, segment
from ._server import Server, find, find_local
from .errors import NotFound, YardError

__all__ = ["Session", "get_default_session", "setup_default_session"]

# Of other services' sessions; here a yard has one storage, one tenant tree and its own login.
_WITHOUT_MEANING = frozenset([
    "access_key_id", "access_key_secret", "security_token", "credential_config", "region_id",
    "workspace_id", "oss_bucket_name", "oss_endpoint", "runtime", "provider_alibaba_uid",
])


class Session:
    """Requests to one yard as one user.  Any number of threads may use it."""

    def __init__(self, server: Optional[str] = None, token: Optional[str] = None, *,
                 context: Optional[str] = None, fingerprint: Optional[str] = None,
                 timeout: float = 60.0, **others: Any) -> None:
        """server: ``https://host:port``, ``http://…`` or ``unix:///path``.
        context: the name of one of ``yard login``; ``local`` is the yard of this machine.
        fingerprint: of the server's certificate, ``SHA256:…``, when no authority vouches for it.
        timeout: of one answer, in seconds.
        """
        given = sorted(k for k, v in others.items() if v is not None)
        unknown = [k for k in given if k not in _WITHOUT_MEANING]
        if unknown:
            raise TypeError("Session() has no parameter %s" % ", ".join(unknown))
        if given:
            warnings.warn("Session: %s have no meaning for a Trainyard and are not used; a server "
                          "is named by server= and token=, YARD_SERVER and YARD_TOKEN, or "
                          "`yard login`" % ", ".join(given), stacklevel=2)
        self._open(find(server, token, context, fingerprint), timeout)

    def _open(self, server: Server, timeout: float) -> None:
        self._http = Transport(server, timeout)
        self._lock = threading.Lock()
        self._me: Optional[Dict[str, Any]] = None

    @classmethod
    def local(cls, timeout: float = 60.0) -> "Session":
        """The yard of this machine: what ``instance_type="local"`` runs on."""
        session = cls.__new__(cls)
        here = find()
        session._open(here if here.here else find_local(), timeout)
        return session

    @property
    def url(self) -> str:
        return self._http.server.url

    @property
    def here(self) -> bool:
        """The yard is on this machine: what lies here can be given to jobs as it is."""
        return self._http.server.here

    @property
    def me(self) -> Dict[str, Any]:
        """Who one is there: name, role, group, groups."""
        with self._lock:
            if self._me is None:
                self._me = dict(self._http.json("GET", "/me"))
            return self._me

    @property
    def version(self) -> str:
        return str(self._http.json("GET", "/version")["version"])

    def nodes(self) -> List[Dict[str, Any]]:
        """The machines, what they have and what is taken."""
        return list(self._http.json("GET", "/nodes")["nodes"])

    def instance_types(self) -> List[Dict[str, Any]]:
        """The kinds of machine of this yard: name, cpu_milli, memory_bytes, devices, fits."""
        return list(self._http.json("GET", "/instance-types")["types"])

    def instance_type(self, name: str) -> Dict[str, Any]:
        """One of them; also one that no list has and whose name tells what it is.  An error names
        those that there are, or the largest that fits."""
        try:
            found = dict(self._http.json("GET", "/instance-types/" + segment(name)))
        except NotFound:
            names = ", ".join(str(t["name"]) for t in self.instance_types() if t["fits"])
            raise ValueError("instance_type: this yard has no '%s'; it has: %s (or local, or give "
                             "instance_spec)" % (name, names or "none")) from None
        if not found["fits"]:
            raise ValueError("instance_type: no machine of this yard is as large as '%s'%s; see "
                             "`yard instance-type ls`" % (name, self._nearest(found)))
        return found

    def _nearest(self, wanted: Dict[str, Any]) -> str:
        """The largest of those that fit and have the same devices, in words."""
        kinds = set(wanted["devices"])
        fit = [t for t in self.instance_types() if t["fits"] and set(t["devices"]) == kinds]
        if not fit:
            return ""
        most = max(fit, key=lambda t: (t["cpu_milli"], t["memory_bytes"]))
        return ", the largest that fits is %s" % most["name"]

    def job_page(self, job_id: str) -> Optional[str]:
        """An address that opens the job's page in a browser, once and within a minute, and for
        twelve hours in that browser; None: it could not be asked for."""
        try:
            return str(self._http.json("GET", "/jobs/%s/page" % segment(job_id))["url"])
        except YardError:
            return None

    def close(self) -> None:
        """Closes connections that are kept; the session stays usable."""
        self._http.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "Session(%s)" % self.url


_default: Optional[Session] = None
_default_lock = threading.Lock()


def setup_default_session(server: Optional[str] = None, token: Optional[str] = None, *,
                          context: Optional[str] = None, fingerprint: Optional[str] = None,
                          **others: Any) -> Session:
    """The session that is used where none is given; see :class:`Session`."""
    global _default
    session = Session(server, token, context=context, fingerprint=fingerprint, **others)
    with _default_lock:
        _default = session
    return session


def get_default_session() -> Session:
    """The one that was set up, or that of the environment, made at the first call."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Session()
        return _default


def session_or_default(session: Optional[Session]) -> Session:
    if session is None:
        return get_default_session()
    if not isinstance(session, Session):
        raise YardError("session: a trainyard.session.Session is needed, not %s"
                        % type(session).__name__)
    return session
