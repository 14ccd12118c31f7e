# SPDX-License-Identifier: Apache-2.0
"""Files in a yard's storage: up, down, list, remove.

    >>> from trainyard import storage
    >>> storage.upload("data/", "pfs:mnist/")          # below one's home
    >>> storage.download("pfs:/jobs/42/model/", "model")
    >>> [f.name for f in storage.list("pfs:mnist")]

A place is ``pfs:PATH`` (``yard:PATH`` means the same): ``/pfs/<dc>/home/<user>/…``,
``/pfs/public/…``, ``/pfs/<dc>/group/<group>/…``, ``/jobs/<id>/<output>/…``; a path without a slash
in front is below one's home.  Several files, and the parts of a large one, go at the same time;
what is there already, with the same size and time, is not sent again; what was interrupted goes
on where it was when the same call is made again.
"""
from __future__ import annotations

import builtins
import os
import posixpath
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional, Tuple
from urllib.parse import unquote_to_bytes

from ._http import pages
from ._logs import write_out
from ._transfer import checksum, download_file, download_small, send_parts
from .errors import NotFound, TransferError
from .session import Session, session_or_default

__all__ = ["FileInfo", "download", "exists", "is_uri", "list", "make_folder", "move", "path_of",
           "read", "remove", "stat", "upload", "write"]

SMALL_BYTES = 8 << 20  # a larger file goes in parts
_List = builtins.list


class FileInfo(NamedTuple):
    name: str
    path: str
    kind: str  # file, folder, link or other
    size: int
    modified_ms: int
    executable: bool

    @property
    def is_folder(self) -> bool:
        return self.kind == "folder"


def is_uri(place: str) -> bool:
    return place.startswith(("pfs:", "yard:"))


def path_of(place: str) -> str:
    """The storage path of ``pfs:PATH``, ``pfs:///PATH``, ``yard:PATH`` or a plain path."""
    if not is_uri(place):
        return place
    path = place.split(":", 1)[1]
    if path.startswith("//"):
        path = "/" + path.lstrip("/")
    return path or "~/"


def stat(place: str, session: Optional[Session] = None) -> FileInfo:
    """What is there; NotFound when nothing is."""
    s = session_or_default(session)
    doc = s._http.json("GET", "/files/stat", query={"path": path_of(place)})
    return _info(doc, str(doc["path"]), posixpath.basename(str(doc["path"]).rstrip("/")))


def _name(entry: Dict[str, Any]) -> str:
    """As the functions of os have it, also where it is not UTF-8."""
    if entry.get("escaped"):
        return os.fsdecode(unquote_to_bytes(str(entry["escaped"])))
    return str(entry["name"])


def _info(doc: Dict[str, Any], path: str, name: str) -> FileInfo:
    return FileInfo(name, path, str(doc["kind"]), int(doc.get("size") or 0),
                    int(doc.get("modified_ms") or 0), bool(doc.get("executable")))


def _stat_or_none(place: str, session: Optional[Session]) -> Optional[FileInfo]:
    try:
        return stat(place, session)
    except NotFound:
        return None


def exists(place: str, session: Optional[Session] = None) -> bool:
    return _stat_or_none(place, session) is not None


def list(place: str = "pfs:", session: Optional[Session] = None) -> "_List[FileInfo]":
    """What a folder holds, by name."""
    s, path = session_or_default(session), path_of(place)
    return [_info(e, posixpath.join(path, _name(e)), _name(e))
            for e in pages(s._http, "/files", "entries", {"path": path, "limit": 1000}, "cursor")]


def make_folder(place: str, session: Optional[Session] = None) -> None:
    """With those above it; one that is there is fine."""
    session_or_default(session)._http.json(
        "POST", "/files/folders", value={"path": path_of(place), "parents": True}, again=True)


def move(source: str, target: str, session: Optional[Session] = None, replace: bool = False
         ) -> None:
    session_or_default(session)._http.json(
        "POST", "/files/move", value={"from": path_of(source), "to": path_of(target),
                                      "replace": replace})


def remove(place: str, session: Optional[Session] = None, recursive: bool = False) -> None:
    """A file, or a folder: one that holds something only with recursive=True."""
    session_or_default(session)._http.json("DELETE", "/files", query={
        "path": path_of(place), "recursive": True if recursive else None})


def read(place: str, session: Optional[Session] = None) -> bytes:
    """All of a file."""
    s = session_or_default(session)
    return s._http.open("GET", "/files/content", query={"path": path_of(place)},
                        whole=True).read()


def write(place: str, data: bytes, session: Optional[Session] = None) -> None:
    """A file of these bytes, with the folders above it; the old one stays whole until then."""
    s = session_or_default(session)
    s._http.open("PUT", "/files/content", query={"path": path_of(place), "parents": True},
                 body=data, whole=True, headers=checksum(data))


class _Work:
    """Runs calls side by side; the first that fails ends the others."""

    def __init__(self, jobs: int) -> None:
        self._pool = ThreadPoolExecutor(max(1, jobs))
        self._futures: "_List[Future[None]]" = []

    def add(self, call: Callable[..., None], *args: Any) -> None:
        self._futures.append(self._pool.submit(call, *args))

    def finish(self) -> None:
        try:
            done, waiting = wait(self._futures, return_when=FIRST_EXCEPTION)
            for f in waiting:
                f.cancel()
            for f in done:
                f.result()
        finally:
            for f in self._futures:
                f.cancel()
            self._pool.shutdown()


def _same(size: int, modified_ms: int, size2: int, modified2_ms: int) -> bool:
    return size == size2 and modified_ms == modified2_ms


def _modified_ms(st: os.stat_result) -> int:
    return st.st_mtime_ns // 1000000


class _Upload:
    def __init__(self, session: Session, jobs: int) -> None:
        self.http = session._http
        self.session = session
        self.jobs = jobs
        self.small = False  # something was sent that is not durable yet

    def there(self, folder: str) -> Dict[str, FileInfo]:
        try:
            return {f.name: f for f in list(folder, self.session)}
        except NotFound:
            return {}

    def send_small(self, path: str, target: str, st: os.stat_result) -> None:
        with open(path, "rb") as f:
            data = f.read()
        self.small = True
        self.http.open("PUT", "/files/content", query={
            "path": target, "parents": True, "modified_ms": _modified_ms(st),
            "executable": True if st.st_mode & 0o111 else None, "sync": False},
            body=data, whole=True, headers=checksum(data))

    def send(self, path: str, target: str) -> None:
        st = os.stat(path)
        if st.st_size <= SMALL_BYTES:
            self.send_small(path, target, st)
            return
        send_parts(self.http, path, target, _modified_ms(st), bool(st.st_mode & 0o111), self.jobs)

    def folder(self, local: str, target: str) -> None:
        make_folder(target, self.session)
        work, large = _Work(self.jobs), []
        try:
            for folder, folders, names in os.walk(local):
                inner = os.path.relpath(folder, local)
                below = target if inner == "." else posixpath.join(target, inner)
                known = self.there(below)
                for name in sorted(folders):
                    if not os.path.islink(os.path.join(folder, name)) and name not in known:
                        make_folder(posixpath.join(below, name), self.session)
                for name in sorted(names):
                    path = os.path.join(folder, name)
                    if not os.path.isfile(path):  # a broken link, a pipe
                        continue
                    st, old = os.stat(path), known.get(name)
                    if old and _same(old.size, old.modified_ms, st.st_size, _modified_ms(st)):
                        continue
                    if st.st_size > SMALL_BYTES:
                        large.append((path, posixpath.join(below, name)))
                    else:
                        work.add(self.send, path, posixpath.join(below, name))
        finally:
            work.finish()
        for path, where in large:  # each of these keeps all connections busy by itself
            self.send(path, where)


def upload(source: "str | os.PathLike[str]", target: str, session: Optional[Session] = None, *,
           jobs: int = 8) -> str:
    """A file, or what a folder holds, into storage; gives the URI of where it is.

    A file goes to target, or into it when target ends with a slash; what a folder holds goes
    below target."""
    s, local, path = session_or_default(session), os.fspath(source), path_of(target)
    up = _Upload(s, jobs)
    if os.path.isdir(local):
        up.folder(local, path.rstrip("/") or "/")
        path = path.rstrip("/") + "/"
    elif os.path.isfile(local):
        if path.endswith("/"):
            path += os.path.basename(local)
        st, old = os.stat(local), _stat_or_none(path, s)
        if not old or not _same(old.size, old.modified_ms, st.st_size, _modified_ms(st)):
            up.send(local, path)
    else:
        raise TransferError("%s: no such file or folder" % local)
    if up.small:
        s._http.json("POST", "/files/sync", query={"path": posixpath.dirname(path.rstrip("/")) or
                                                   "~/"}, again=True)
    return "pfs:" + path


def _tree(s: Session, path: str, inner: str = "") -> Iterator[Tuple[str, FileInfo]]:
    for f in list(path, s):
        # The server lists names; one that would lead outside is not taken, whoever the server is.
        if f.name in ("", ".", "..") or "/" in f.name or "\0" in f.name:
            raise TransferError("%s: the server lists a name that is none: %r" % (path, f.name))
        yield inner + f.name, f
        if f.is_folder:
            yield from _tree(s, f.path, inner + f.name + "/")


def download(source: str, target: "str | os.PathLike[str]" = ".",
             session: Optional[Session] = None, *, jobs: int = 8, quiet: bool = True) -> str:
    """A file, or what a folder holds, from storage; gives the local path of where it is.

    A file goes to target, or into it when that is a folder or ends with a slash; what a folder
    holds goes below target."""
    s, local = session_or_default(session), os.fspath(target)
    info = stat(source, s)
    path = path_of(source)
    if info.kind == "file":
        if local.endswith("/") or os.path.isdir(local):
            local = os.path.join(local, info.name)
        os.makedirs(os.path.dirname(local) or ".", exist_ok=True)
        _fetch(s, path, info, local, jobs)
        return local
    work, count = _Work(jobs), 0
    large: _List[Tuple[FileInfo, str]] = []
    try:
        os.makedirs(local, exist_ok=True)
        for inner, f in _tree(s, path.rstrip("/") or "/"):
            where = os.path.join(local, inner)
            if f.is_folder:
                os.makedirs(where, exist_ok=True)
            elif f.kind == "file":
                count += 1
                if f.size > SMALL_BYTES:
                    large.append((f, where))
                else:
                    work.add(_fetch, s, f.path, f, where, 1)
    finally:
        work.finish()
    for f, where in large:
        _fetch(s, f.path, f, where, jobs)
    if not quiet:
        write_out("%d files from %s are in %s\n" % (count, source, local))
    return os.path.join(local, "")


def _fetch(s: Session, path: str, info: FileInfo, local: str, jobs: int) -> None:
    try:
        st = os.lstat(local)
        if os.path.isfile(local) and _same(st.st_size, _modified_ms(st), info.size,
                                           info.modified_ms):
            return
    except FileNotFoundError:
        pass
    if info.size <= SMALL_BYTES:
        download_small(s._http, path, local)
    else:
        download_file(s._http, path, local, jobs)
    if info.executable:
        os.chmod(local, os.stat(local).st_mode | 0o111)
    os.utime(local, ns=(info.modified_ms * 1000000, info.modified_ms * 1000000))
