# SPDX-License-Identifier: Apache-2.0
"""One large file, in parts that go side by side and need not go twice."""
from __future__ import annotations

import hashlib
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, Optional, Set

from ._http import Transport, segment
from .errors import ApiError, TransferError

PART_BYTES = 16 << 20
_PIECE = 1 << 20


def checksum(data: bytes) -> Dict[str, str]:
    """The header that lets the server refuse what is not these bytes."""
    return {"Yard-Checksum": "sha256=" + hashlib.sha256(data).hexdigest()}


def _have(doc: Any) -> Set[int]:
    return {n for first, last in doc.get("have") or () for n in range(first, last + 1)}


def send_parts(http: Transport, path: str, target: str, modified_ms: int, executable: bool,
               jobs: int) -> None:
    """The server remembers which parts of (path, size, time) it has, so a further call sends
    only what is missing."""
    size = os.path.getsize(path)
    doc = http.json("POST", "/files/uploads", again=True, value={
        "path": target, "size": size, "part_size": PART_BYTES, "modified_ms": modified_ms,
        "executable": executable, "parents": True})
    upload, part_size = str(doc["upload"]), int(doc["part_size"])
    missing = [n for n in range(-(-size // part_size)) if n not in _have(doc)]
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    # TLS has a sum of its own over every record, and a unix socket loses nothing; summing large
    # files twice more would take longer than sending them.
    summed = http.server.scheme == "http"
    try:
        def send(n: int) -> None:
            data = os.pread(fd, part_size, n * part_size)
            if len(data) != min(part_size, size - n * part_size):
                raise TransferError("%s became shorter while it was read" % path)
            http.open("PUT", "/files/uploads/%s/parts/%d" % (segment(upload), n), body=data,
                      whole=True, headers=checksum(data) if summed else None)

        _each(send, missing, jobs)
    finally:
        os.close(fd)
    http.json("POST", "/files/uploads/%s/finish" % segment(upload), value={}, again=True)


def _beside(local: str, mark: str) -> str:
    """A name of its own for (local, mark), in the same folder and never too long."""
    folder, name = os.path.split(local)
    digest = hashlib.sha256(os.fsencode(name) + b"\0" + os.fsencode(mark)).hexdigest()[:16]
    return os.path.join(folder, ".%s.yard-%s" % (name[:40], digest))


class _Part:
    """A file that is being fetched: beside the target, with a list of the parts it has.  Its name
    holds the etag: a file that changed on the server begins anew."""

    def __init__(self, local: str, etag: str, size: int) -> None:
        self.path = _beside(local, etag)
        self._list = self.path + ".parts"
        self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        os.ftruncate(self.fd, size)
        self._lock = threading.Lock()

    def have(self) -> Set[int]:
        try:
            with open(self._list, encoding="ascii") as f:
                return {int(line) for line in f if line.strip().isdigit() and line[-1] == "\n"}
        except FileNotFoundError:
            return set()

    def done(self, n: int) -> None:
        with self._lock, open(self._list, "a", encoding="ascii") as f:
            f.write("%d\n" % n)

    def finish(self, local: str) -> None:
        os.fsync(self.fd)
        os.replace(self.path, local)
        self.forget()

    def forget(self) -> None:
        for path in (self.path, self._list):
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass

    def close(self) -> None:
        os.close(self.fd)


def _fetch_range(http: Transport, path: str, etag: str, fd: int, first: int, last: int) -> None:
    """Bytes first to last, into fd; what a broken connection brought is kept."""
    at, tries = first, 0
    while at <= last:
        start = at
        answer = http.open("GET", "/files/content", query={"path": path}, headers={
            "Range": "bytes=%d-%d" % (at, last), "If-Match": etag})
        try:
            with answer:
                if answer.status != 206:
                    raise TransferError("%s: the server answered %d to a range"
                                        % (path, answer.status))
                while True:
                    data = answer.piece(_PIECE)
                    if not data:
                        break
                    os.pwrite(fd, data, at)
                    at += len(data)
        except (OSError, ValueError) as e:
            raise TransferError("%s: %s" % (path, e)) from e
        except TransferError:
            raise
        except Exception as e:  # http.client's: cut off
            tries = 0 if at > start else tries + 1
            if tries > 5:
                raise TransferError("%s breaks off again and again: %s" % (path, e)) from e


def download_small(http: Transport, path: str, local: str) -> None:
    """In one answer, into a file beside the target that then takes its name."""
    data = http.open("GET", "/files/content", query={"path": path}, whole=True).read()
    temp = _beside(local, "%d-%d" % (os.getpid(), threading.get_ident()))
    try:
        with open(temp, "wb") as f:
            f.write(data)
        os.replace(temp, local)
    except BaseException:
        if os.path.exists(temp):
            os.unlink(temp)
        raise


def download_file(http: Transport, path: str, local: str, jobs: int) -> None:
    doc = http.json("GET", "/files/stat", query={"path": path})
    size, etag = int(doc["size"]), str(doc["etag"])
    if not etag.startswith(('"', "W/")):
        etag = '"%s"' % etag
    part = _Part(local, etag, size)
    try:
        have = part.have()
        missing = [n for n in range(-(-size // PART_BYTES)) if n not in have]

        def fetch(n: int) -> None:
            _fetch_range(http, path, etag, part.fd, n * PART_BYTES,
                         min(size, (n + 1) * PART_BYTES) - 1)
            part.done(n)

        _each(fetch, missing, jobs)
        part.finish(local)
    except ApiError as e:
        if e.status == 412:
            part.forget()
            raise TransferError("%s changed while it was fetched: try again" % path) from e
        raise
    finally:
        part.close()


def _each(call: Any, items: List[int], jobs: int) -> None:
    if len(items) < 2 or jobs < 2:
        for n in items:
            call(n)
        return
    with ThreadPoolExecutor(jobs) as pool:
        failed: Optional[BaseException] = None
        futures = [pool.submit(call, n) for n in items]
        for f in futures:
            try:
                f.result()
            except BaseException as e:  # the others are waited for: they write to the file
                failed = failed or e
                for other in futures:
                    other.cancel()
                break
    if failed is not None:
        raise failed
