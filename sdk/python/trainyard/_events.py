# SPDX-License-Identifier: Apache-2.0
"""Event files of TensorBoard: records of scalars, in plain Python.

A record is its length (u64), the masked CRC-32C of that, the bytes, and their masked CRC.  The
bytes are a message ``Event`` of protocol buffers: 1 wall_time (double), 2 step, 3 file_version,
5 summary { 1 value { 1 tag, 2 simple_value (float) } }.
"""
from __future__ import annotations

import os
import socket
import struct
import threading
import time
from typing import List, Optional


def _table() -> List[int]:
    table = []
    for i in range(256):
        crc = i
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


_CRC = _table()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _varint(n: int) -> bytes:
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def event(wall_time: float, step: Optional[int] = None, tag: str = "", value: float = 0.0) -> bytes:
    """A scalar, or, without a step, the first record of a file."""
    head = b"\x09" + struct.pack("<d", wall_time)
    if step is None:
        return head + _bytes(3, b"brain.Event:2")
    one = _bytes(1, tag.encode("utf-8")) + b"\x15" + struct.pack("<f", value)
    return head + b"\x10" + _varint(step) + _bytes(5, _bytes(1, one))


class EventFile:
    """Appends scalars; each is in the file when add() returns.  Any thread may call it."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        now = time.time()
        name = "events.out.tfevents.%010d.%s.%d.trainyard" % (now, socket.gethostname(),
                                                              os.getpid())
        self._lock = threading.Lock()
        self._file = open(os.path.join(folder, name), "ab", buffering=0)
        self._file.write(record(event(now)))

    def add(self, tag: str, value: float, step: int) -> None:
        data = record(event(time.time(), step, tag, value))
        with self._lock:
            self._file.write(data)

    def close(self) -> None:
        self._file.close()
