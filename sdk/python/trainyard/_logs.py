# SPDX-License-Identifier: Apache-2.0
"""A job's output: records with their place, followed over lost connections without a gap or a
repeat, and printed as a person wants to see them."""
from __future__ import annotations

import codecs
import http.client
import socket
import struct
import sys
import time
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ._http import Answer, Transport, segment
from .errors import ConnectionFailed, YardError

_HEAD = struct.Struct("<IIQ")  # rank, attempt, offset behind the record
_FRAME = struct.Struct("<BBHIq")  # magic, stream, 0, length, time_us
_MAGIC = 0xA7
_DATA_MAX = 256 << 10
_BROKEN_MAX = 8  # times in a row that a stream breaks without bringing anything

STDOUT, STDERR, NOTE = 1, 2, 3


class Record(NamedTuple):
    rank: int
    attempt: int
    offset: int  # where the next one begins
    stream: int  # STDOUT, STDERR or NOTE (said by the yard itself)
    time_us: int
    data: bytes


def _records(answer: Answer) -> Iterator[Record]:
    buffer = b""
    while True:
        piece = answer.piece()
        if not piece:
            if buffer:
                raise http.client.IncompleteRead(buffer)
            return
        buffer += piece
        at, heads = 0, _HEAD.size + _FRAME.size
        while len(buffer) - at >= heads:
            rank, attempt, offset = _HEAD.unpack_from(buffer, at)
            magic, stream, _, size, time_us = _FRAME.unpack_from(buffer, at + _HEAD.size)
            if magic != _MAGIC or size > _DATA_MAX:
                raise YardError("the server sent a log that cannot be read")
            if len(buffer) - at < heads + size:
                break
            data = buffer[at + heads:at + heads + size]
            at += heads + size
            yield Record(rank, attempt, offset, stream, time_us, data)
        buffer = buffer[at:]


class Follower:
    """The records of a job from their beginning, or from where another follower was."""

    def __init__(self, transport: Transport, job_id: str, *, follow: bool = True,
                 task: Optional[int] = None, attempt: str = "all",
                 tail: Optional[int] = None) -> None:
        self._http = transport
        self._path = "/jobs/%s/logs" % segment(job_id)
        self._follow, self._task, self._attempt, self._tail = follow, task, attempt, tail
        self._at: Dict[int, Tuple[int, int]] = {}  # rank: attempt, offset

    def _open(self) -> Answer:
        newest = max((a for a, _ in self._at.values()), default=0)
        places = ",".join("%d:%d:%d" % (rank, attempt, offset)
                          for rank, (attempt, offset) in sorted(self._at.items())
                          if attempt == newest)
        return self._http.open("GET", self._path, query={
            "format": "frames", "follow": int(self._follow), "task": self._task,
            "attempt": None if places else self._attempt, "from": places or None,
            "tail": None if places else self._tail})

    def __iter__(self) -> Iterator[Record]:
        broken = 0
        while True:
            try:
                with self._open() as answer:
                    for record in _records(answer):
                        broken = 0
                        self._at[record.rank] = (record.attempt, record.offset)
                        yield record
                    return
            except socket.timeout:
                continue  # a quiet job, or a server that is gone: asking again tells
            except (OSError, http.client.HTTPException) as e:
                broken += 1
                if broken > _BROKEN_MAX:
                    raise ConnectionFailed("the log breaks off again and again: %s" % e) from e
                time.sleep(min(0.05 * 2 ** broken, 1.0))


Write = Callable[[str], None]


def write_out(text: str) -> None:
    """To stdout; what its encoding cannot have becomes a question mark."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding or "ascii"
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


class Printer:
    """Prints records.  Of one task: as they come.  Of several: whole lines, each with the rank
    of its task before it, so that no line is torn by another."""

    def __init__(self, several: bool, write: Write = write_out) -> None:
        self._several, self._write = several, write
        self._decoders: Dict[Tuple[int, int], codecs.IncrementalDecoder] = {}
        self._parts: Dict[Tuple[int, int], str] = {}
        self._line_open = False

    def add(self, r: Record) -> None:
        key = (r.rank, r.stream)
        if key not in self._decoders:
            self._decoders[key] = codecs.getincrementaldecoder("utf-8")("replace")
        text = self._decoders[key].decode(r.data)
        if not self._several:
            if text:
                self._write(text)
                self._line_open = not text.endswith("\n")
            return
        text = self._parts.pop(key, "") + text
        lines = text.split("\n")
        self._parts[key] = lines.pop()
        if lines:
            self._write("".join("[%d] %s\n" % (r.rank, line) for line in lines))

    def finish(self) -> None:
        for (rank, _), text in sorted(self._parts.items()):
            if text:
                self._write("[%d] %s\n" % (rank, text))
        self._parts.clear()
        if self._line_open:
            self._write("\n")
            self._line_open = False


def lines(records: Iterator[Record], several: bool) -> Iterator[str]:
    """Whole lines without their ends."""
    out: List[str] = []
    printer = Printer(True, lambda text: out.extend(text.split("\n")[:-1]))
    for r in records:
        printer.add(r)
        ready, out[:] = out[:], []
        for line in ready:
            yield _strip(line, several)
    printer.finish()
    for line in out:
        yield _strip(line, several)


def _strip(line: str, several: bool) -> str:
    return line if several else line.split("] ", 1)[1]
