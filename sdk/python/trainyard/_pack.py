# SPDX-License-Identifier: Apache-2.0
"""A folder of code as an archive: sorted, bounded, the same bytes for the same files.

The archive is the one that ``yard submit --code`` makes of the folder, byte for byte: what
either has sent is there for the other.  Left out: what .gitignore and .yardignore say (of each
folder, and of the folders above up to the top of the git work tree), every .git, and, with a
notice, links that lead outside, sockets, pipes and devices.
"""
from __future__ import annotations

import hashlib
import os
import stat
import tarfile
import tempfile
import zipfile
from typing import IO, Callable, Iterator, List, NamedTuple, Optional, Tuple

from ._ignore import Ignore
from .errors import YardError

FILES_MAX = 250000
BYTES_MAX = 8 << 30
RULES_MAX = 1 << 20
DEPTH_MAX = 128
READ_BYTES = 256 << 10
MANY_FILES, MANY_BYTES = 20000, 256 << 20  # from here on a person should be told
ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".zip")
_TIME = 315532800  # 1980-01-01, as src/pack/tar.h
_OCTAL_MAX = 0o77777777777
_NOFOLLOW = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Notice = Callable[[str], None]


class Packed(NamedTuple):
    """An archive in a temporary file, which the caller closes."""

    file: IO[bytes]
    hash: str  # BLAKE2b-256
    size: int
    files: int
    largest: str
    largest_bytes: int


def _show(path: bytes) -> str:
    return os.fsdecode(path)


def _cut(path: bytes) -> int:
    """Where path is cut into prefix and name; 0: it fits whole, -1: nowhere."""
    if len(path) <= 100:
        return 0
    for i in range(len(path) - 1, 0, -1):
        if i <= 155 and path[i:i + 1] == b"/" and 0 < len(path) - i - 1 <= 100:
            return i
    return -1


def _block(kind: bytes, mode: int, size: int, name: bytes, prefix: bytes = b"",
           link: bytes = b"") -> bytes:
    def octal(width: int, value: int) -> bytes:
        return b"%0*o\0" % (width - 1, value)

    head = b"".join([
        name[:100].ljust(100, b"\0"), octal(8, mode), octal(8, 0), octal(8, 0), octal(12, size),
        octal(12, _TIME), b" " * 8, kind, link[:100].ljust(100, b"\0"), b"ustar\0", b"00",
        b"\0" * 64, octal(8, 0), octal(8, 0), prefix.ljust(155, b"\0"), b"\0" * 12,
    ])
    return head[:148] + b"%06o\0 " % (sum(head) & 0o777777) + head[156:]


def _pad(size: int) -> bytes:
    return b"\0" * (-size % 512)


def _pax(key: bytes, value: bytes) -> bytes:
    body = len(key) + len(value) + 3
    size = body + 1
    while size != body + len(str(size)):
        size += 1
    return b"%d %s=%s\n" % (size, key, value)


def tar_head(kind: bytes, path: bytes, mode: int, size: int = 0, link: bytes = b"") -> bytes:
    """The head of an entry; kind as tar has it: 0 file, 2 link, 5 folder."""
    name = path + b"/" if kind == b"5" else path
    cut = _cut(name)
    long_link, huge = len(link) > 100, size > _OCTAL_MAX
    out = b""
    if cut < 0 or long_link or huge:
        records = (_pax(b"path", name) if cut < 0 else b"") + \
            (_pax(b"linkpath", link) if long_link else b"") + \
            (_pax(b"size", b"%d" % size) if huge else b"")
        out = _block(b"x", 0o644, len(records), b"././@PaxHeader") + records + _pad(len(records))
    prefix, rest = (name[:cut], name[cut + 1:]) if cut > 0 else (b"", name)
    return out + _block(kind, mode, 0 if huge else size, rest, prefix, link)


def link_inside(path: bytes, target: bytes) -> bool:
    """A link at path (from the top) that points to target stays inside the top."""
    depth = path.count(b"/")
    if not target or target.startswith(b"/"):
        return False
    for part in target.split(b"/"):
        if part == b"..":
            depth -= 1
        elif part not in (b"", b"."):
            depth += 1
        if depth < 0:
            return False
    return True


class _Archive:
    """Takes entries, counts and hashes them."""

    def __init__(self) -> None:
        self.file = tempfile.SpooledTemporaryFile(max_size=8 << 20)
        self.hash = hashlib.blake2b(digest_size=32)
        self.size = self.files = self.largest_bytes = 0
        self.largest = ""

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > BYTES_MAX:
            raise YardError("source_dir is larger than %d MiB (biggest file: %s, %d MiB): name "
                            "what the job does not need in .yardignore, and give data as an input"
                            % (BYTES_MAX >> 20, self.largest, self.largest_bytes >> 20))
        self.hash.update(data)
        self.file.write(data)

    def entry(self, kind: bytes, path: bytes, mode: int, size: int = 0, link: bytes = b"") -> None:
        self.files += 1
        if self.files > FILES_MAX:
            raise YardError("source_dir holds more than %d files: name what the job does not need "
                            "in .yardignore" % FILES_MAX)
        self.write(tar_head(kind, path, mode, size, link))

    def add_file(self, path: bytes, source: IO[bytes], size: int, executable: bool) -> None:
        if size > self.largest_bytes:
            self.largest, self.largest_bytes = _show(path), size
        self.entry(b"0", path, 0o755 if executable else 0o644, size)
        left = size
        while left > 0:
            data = source.read(min(left, READ_BYTES))
            if not data:
                raise YardError("%s became shorter while it was read" % _show(path))
            self.write(data)
            left -= len(data)
        self.write(_pad(size))

    def finish(self) -> Packed:
        self.write(b"\0" * 1024)
        self.file.seek(0)
        return Packed(self.file, self.hash.hexdigest(), self.size, self.files, self.largest,
                      self.largest_bytes)


class _Folder:
    def __init__(self, top: bytes, notice: Notice) -> None:
        self.top, self.notice = top, notice
        self.ignore = Ignore()
        self.above = b""  # of the packed folder, from the top of the work tree: "sub/"
        self.archive = _Archive()

    def _rules(self, folder: bytes, name: bytes) -> None:
        path = os.path.join(folder, name)
        try:
            fd = os.open(path, _NOFOLLOW)
        except OSError:
            return
        with os.fdopen(fd, "rb") as f:
            st = os.fstat(fd)
            if not stat.S_ISREG(st.st_mode):
                return
            if st.st_size > RULES_MAX:
                self.notice("%s is larger than 1 MiB and was not read" % _show(path))
                return
            self.ignore.add(f.read())

    def _enter(self, folder: bytes, base: bytes) -> None:
        self.ignore.push(base)
        self._rules(folder, b".gitignore")
        self._rules(folder, b".yardignore")

    def _work_tree(self) -> Optional[bytes]:
        top = os.path.realpath(self.top)
        while top != b"/":
            if os.path.exists(os.path.join(top, b".git")):
                return top
            top = os.path.dirname(top)
        return None

    def enter_above(self) -> None:
        """The rules of the folders above, when it lies in a git work tree.  They do not count if
        they would ignore the folder itself: who packs it wants it."""
        real, top = os.path.realpath(self.top), self._work_tree()
        self.ignore.push(b"")
        if top is None:
            return
        self._rules(top, b".git/info/exclude")
        if real == top:
            return
        parts, at, path = os.path.relpath(real, top).split(b"/"), top, b""
        for part in parts:
            self._enter(at, path)
            path = path + b"/" + part if path else part
            at = os.path.join(at, part)
            if self.ignore.matches(path, True):
                self.ignore = Ignore()
                self.ignore.push(b"")
                return
        self.above = path + b"/"

    def pack(self) -> Packed:
        self.enter_above()
        self._walk(self.top, b"", 0)
        return self.archive.finish()

    def _walk(self, folder: bytes, inner: bytes, depth: int) -> None:
        if depth > DEPTH_MAX:
            raise YardError("%s: folders nested deeper than %d" % (_show(inner), DEPTH_MAX))
        try:
            names = sorted(os.listdir(folder))
        except OSError as e:
            raise YardError("%s (name it in .yardignore to leave it out)" % e) from e
        self._enter(folder, (self.above + inner).rstrip(b"/"))
        for name in names:
            if name != b".git":
                self._put(os.path.join(folder, name), inner + name, depth)
        self.ignore.pop()

    def _put(self, path: bytes, inner: bytes, depth: int) -> None:
        try:
            st = os.lstat(path)
        except FileNotFoundError:
            return
        if self.ignore.matches(self.above + inner, stat.S_ISDIR(st.st_mode)):
            return
        if stat.S_ISDIR(st.st_mode):
            self.archive.entry(b"5", inner, 0o755)
            self._walk(path, inner + b"/", depth + 1)
        elif stat.S_ISREG(st.st_mode):
            self._put_file(path, inner)
        elif stat.S_ISLNK(st.st_mode):
            target = os.readlink(path)
            if link_inside(inner, target):
                self.archive.entry(b"2", inner, 0o777, link=target)
            else:
                self.notice("left out: the link %s leads outside of the folder, to %s"
                            % (_show(inner), _show(target)))
        else:
            self.notice("left out: %s is neither file, folder nor link" % _show(inner))

    def _put_file(self, path: bytes, inner: bytes) -> None:
        try:
            fd = os.open(path, _NOFOLLOW)
        except OSError as e:
            raise YardError("%s (name it in .yardignore to leave it out)" % e) from e
        with os.fdopen(fd, "rb") as f:
            st = os.fstat(fd)
            self.archive.add_file(inner, f, st.st_size, bool(st.st_mode & 0o111))


def _silent(_: str) -> None:
    pass


def pack_folder(folder: str, notice: Notice = _silent) -> Packed:
    return _Folder(os.fsencode(os.path.abspath(folder)), notice).pack()


def pack_file(path: str) -> Packed:
    """One file, alone."""
    archive = _Archive()
    with open(path, "rb") as f:
        st = os.fstat(f.fileno())
        archive.add_file(os.fsencode(os.path.basename(os.path.abspath(path))), f, st.st_size,
                         bool(st.st_mode & 0o111))
    return archive.finish()


def is_archive(path: str) -> bool:
    return path.lower().endswith(ARCHIVES)


def _safe(name: str) -> Optional[bytes]:
    path = os.path.normpath(name)
    if path in (".", "") or path.startswith(("/", "..")):
        return None
    return os.fsencode(path)


def _tar_entries(path: str) -> Iterator[Tuple[bytes, bytes, int, int, bytes, Optional[IO[bytes]]]]:
    with tarfile.open(path) as tar:
        for m in tar:
            name = _safe(m.name)
            if name is None:
                continue
            if m.isdir():
                yield b"5", name, 0o755, 0, b"", None
            elif m.issym() and link_inside(name, os.fsencode(m.linkname)):
                yield b"2", name, 0o777, 0, os.fsencode(m.linkname), None
            elif m.isfile() or m.islnk():
                source = tar.extractfile(m)
                size = tar.getmember(m.linkname).size if m.islnk() else m.size
                yield b"0", name, m.mode, size, b"", source


def _zip_entries(path: str) -> Iterator[Tuple[bytes, bytes, int, int, bytes, Optional[IO[bytes]]]]:
    with zipfile.ZipFile(path) as z:
        for i in z.infolist():
            name = _safe(i.filename)
            if name is None:
                continue
            if i.filename.endswith("/"):
                yield b"5", name, 0o755, 0, b"", None
            else:
                with z.open(i) as source:
                    yield b"0", name, i.external_attr >> 16, i.file_size, b"", source


def pack_archive(path: str) -> Packed:
    """What an archive holds, as ours; what would lie outside is left out."""
    archive = _Archive()
    seen: List[bytes] = []
    entries = _zip_entries(path) if path.lower().endswith(".zip") else _tar_entries(path)
    try:
        for kind, name, mode, size, link, source in entries:
            seen.append(name)
            if source is not None:
                archive.add_file(name, source, size, bool(mode & 0o111))
            else:
                archive.entry(kind, name, mode, 0, link)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, KeyError) as e:
        raise YardError("%s cannot be read as an archive: %s" % (path, e)) from e
    if not seen:
        raise YardError("%s: the archive holds no files" % path)
    return archive.finish()


def pack_any(path: str, notice: Notice = _silent) -> Packed:
    """A folder, an archive, or a single file."""
    if os.path.isdir(path):
        return pack_folder(path, notice)
    return pack_archive(path) if is_archive(path) else pack_file(path)
