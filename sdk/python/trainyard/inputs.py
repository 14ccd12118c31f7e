# SPDX-License-Identifier: Apache-2.0
"""What a job reads: channels given as URIs, objects, or paths of this machine.

A path of this machine is given to a yard on this machine as it is: nothing is copied.  To another
yard it is sent first, named by its content, so that the same data goes only once.
"""
from __future__ import annotations

import hashlib
import os
import re
import stat as stat_module
import threading
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from . import storage
from .errors import NotFound
from .session import Session

__all__ = ["FileSystemInput"]

SCHEMES = ("pfs", "yard", "file", "oss", "s3", "hdfs", "webhdfs", "http", "https", "nas")
_STORED = ("/pfs/", "/mnt/user/", "/mnt/share/", "/jobs/")
_FOLDER = "pfs:.yard/inputs/"
_READ = 1 << 20


class FileSystemInput(NamedTuple):
    """A folder of a network file system that the yard has mounted (its setting ``nas``)."""

    file_system_id: str
    directory_path: str = "/"

    def to_input_uri(self) -> str:
        return "nas://%s/%s" % (self.file_system_id, self.directory_path.lstrip("/"))


class Channel(NamedTuple):
    name: str
    uri: Optional[str]  # what the job file says
    local: Optional[str]  # or a path of this machine, absolute


def escaped(name: str) -> str:
    """A name as a part of a variable's: PAI_INPUT_<this>."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name).upper()


def scheme_of(value: str) -> Optional[str]:
    m = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", value)
    return m.group(1).lower() if m else None


def check_uri(what: str, value: str) -> None:
    scheme = scheme_of(value)
    if scheme == "odps":
        raise ValueError("%s: '%s' is a MaxCompute table, which a Trainyard cannot read; export "
                         "it to files first" % (what, value))
    if scheme in ("cpfs", "bmcpfs"):
        raise ValueError("%s: '%s': let the yard's administrator mount it and name it in the "
                         "setting nas, then give nas://NAME/folder" % (what, value))
    if scheme not in SCHEMES:
        raise ValueError("%s: '%s' is neither a path that exists here nor a URI of %s"
                         % (what, value, ", ".join(s + ":" for s in SCHEMES)))


def check_names(what: str, names: List[str]) -> None:
    for name in names:
        if not isinstance(name, str) or not name or name in (".", "..") or \
                re.search(r"[/\0-\x1f\x7f]", name):
            raise ValueError("%s: %r is not a name: it becomes a folder and must not be empty nor "
                             "have slashes or control characters" % (what, name))
    seen: Dict[str, str] = {}
    for name in names:
        other = seen.setdefault(escaped(name), name)
        if other != name:
            raise ValueError("%s: '%s' and '%s' would both be the variable …_%s; rename one"
                             % (what, other, name, escaped(name)))


def channel(name: str, value: Any) -> Channel:
    what = "inputs['%s']" % name
    if hasattr(value, "to_input_uri"):
        value = value.to_input_uri()
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
        raise ValueError("%s: a URI or a path is needed, not %r" % (what, value))
    text = os.fspath(value)
    if scheme_of(text) == "file":
        text = re.sub(r"^file:(//)?(?=/)", "", text)
    path = os.path.abspath(os.path.expanduser(text))
    if os.path.exists(path) and scheme_of(text) is None:
        return Channel(name, None, path)
    if text.startswith(_STORED):
        return Channel(name, "pfs:" + text, None)
    if scheme_of(text) is None:
        raise ValueError("%s: '%s' is neither a path that exists here nor a URI such as "
                         "pfs:, oss:// or nas://" % (what, text))
    check_uri(what, text)
    return Channel(name, text, None)


def channels(inputs: Optional[Mapping[str, Any]]) -> List[Channel]:
    if inputs is None:
        return []
    if not isinstance(inputs, Mapping):
        raise ValueError("inputs: a dict of channel names to URIs or paths is needed, not %s"
                         % type(inputs).__name__)
    check_names("inputs", list(inputs))
    return [channel(name, value) for name, value in inputs.items()]


def in_place(path: str) -> str:
    return os.path.join(path, "") if os.path.isdir(path) else path


_digests: Dict[Tuple[str, int, int, int], bytes] = {}
_digests_lock = threading.Lock()


def _file_digest(path: str) -> Tuple[bytes, os.stat_result]:
    st = os.stat(path)
    key = (os.path.realpath(path), st.st_size, st.st_mtime_ns, st.st_ino)
    with _digests_lock:
        known = _digests.get(key)
    if known:
        return known, st
    h = hashlib.blake2b(digest_size=32)
    with open(path, "rb") as f:
        for data in iter(lambda: f.read(_READ), b""):
            h.update(data)
    with _digests_lock:
        _digests[key] = h.digest()
    return h.digest(), st


def tree_digest(path: str) -> str:
    """Of a file's bytes, or of all names, rights and bytes in a folder."""
    if not os.path.isdir(path):
        return _file_digest(path)[0].hex()
    h = hashlib.blake2b(digest_size=32)
    for folder, folders, names in os.walk(path):
        folders.sort()
        h.update(b"d" + os.fsencode(os.path.relpath(folder, path)) + b"\0")
        for name in sorted(names):
            full = os.path.join(folder, name)
            if not os.path.isfile(full):
                continue
            digest, st = _file_digest(full)
            mode = b"x" if st.st_mode & stat_module.S_IXUSR else b"f"
            h.update(mode + os.fsencode(name) + b"\0" + digest)
    return h.hexdigest()


def send(session: Session, path: str) -> str:
    """Into one's storage, unless it is there; gives its URI."""
    place = _FOLDER + tree_digest(path)
    if not os.path.isdir(path):
        target = "%s/%s" % (place, os.path.basename(path))
        if not storage.exists(target, session):
            storage.upload(path, target, session)
        return target
    whole = place + "/.complete"
    data = place + "/" + (os.path.basename(path) or "data") + "/"
    try:
        # The folder is named as its first sender had it; the mark says how.
        named = storage.read(whole, session).decode("utf-8")
        return place + "/" + named + "/"
    except NotFound:
        pass
    storage.upload(path, data, session)
    storage.write(whole, (os.path.basename(path) or "data").encode("utf-8"), session)
    return data
