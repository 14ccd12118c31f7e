# SPDX-License-Identifier: Apache-2.0
"""Which files of a folder are left out: the rules of .gitignore as git means them.

The same rules as those of ``yard submit --code`` (src/pack), so that a folder makes the same
archive by either way.  Paths are bytes: a file's name need not be text.
"""
from __future__ import annotations

import re
from typing import List, NamedTuple, Optional, Pattern

PATTERN_MAX = 4096  # a longer pattern matches nothing
_SPECIAL = re.compile(rb"[*?\[\\]")
_CLASSES = {
    b"alnum": rb"0-9A-Za-z", b"alpha": rb"A-Za-z", b"blank": rb" \t", b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9", b"graph": rb"\x21-\x7e", b"lower": rb"a-z", b"print": rb"\x20-\x7e",
    b"punct": rb"!-/:-@\[-`{-~", b"space": rb" \t\n\r", b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


class _Malformed(Exception):
    pass


def _byte(c: int) -> bytes:
    return b"\\x%02x" % c


class _Glob:
    """Makes a regular expression of a pattern."""

    def __init__(self, pattern: bytes) -> None:
        self.p, self.at = pattern, 0

    def peek(self, ahead: int = 0) -> int:
        i = self.at + ahead
        return self.p[i] if i < len(self.p) else 0

    def stars(self) -> bytes:
        first = self.at
        opened = first == 0 or self.p[first - 1:first] == b"/"
        while self.peek() == 0x2A:
            self.at += 1
        over = self.at >= len(self.p)
        slash = self.peek() == 0x2F or (self.peek() == 0x5C and self.peek(1) == 0x2F)
        if self.at - first < 2 or not opened or not (over or slash):
            return rb"[^/]*"
        if self.peek() == 0x2F:  # the stars and the slash behind them may stand for nothing
            self.at += 1
            return rb"(?:.*/)?"
        return rb".*"

    def named_class(self) -> Optional[bytes]:
        """At "[:"; None: plain characters after all.  Left on its last bracket."""
        close = self.p.find(b"]", self.at + 2)
        if close < 0:
            raise _Malformed
        name = self.p[self.at + 2:close]
        if not name.endswith(b":"):
            return None
        if name[:-1] not in _CLASSES:
            raise _Malformed
        self.at = close
        return _CLASSES[name[:-1]]

    def element(self, previous: int) -> "tuple[bytes, int]":
        """One element of a bracket, and what a range could begin with; left on its last byte."""
        c = self.peek()
        if c == 0x2D and previous and self.peek(1) and self.peek(1) != 0x5D:
            self.at += 1
            if self.peek() == 0x5C:
                self.at += 1
            last = self.peek()
            if not last:
                raise _Malformed
            return (_byte(previous) + b"-" + _byte(last) if last >= previous else b""), 0
        if c == 0x5B and self.peek(1) == 0x3A:
            named = self.named_class()
            if named is not None:
                return named, 0
        elif c == 0x5C:
            self.at += 1
            c = self.peek()
        if not c:
            raise _Malformed
        return _byte(c), c

    def bracket(self) -> bytes:
        """Behind "["; left behind the closing one."""
        negated = self.peek() in (0x21, 0x5E)
        self.at += 1 if negated else 0
        parts, previous = b"", 0
        while True:
            if not self.peek():
                raise _Malformed
            part, previous = self.element(previous)
            parts += part
            self.at += 1
            if self.peek() == 0x5D:
                break
        self.at += 1
        if negated:
            return b"[^/" + parts + b"]"
        return b"(?!/)[" + parts + b"]" if parts else b"(?!)"

    def regex(self) -> bytes:
        out = b""
        while self.at < len(self.p):
            c = self.peek()
            if c == 0x2A:
                out += self.stars()
                continue
            self.at += 1
            if c == 0x3F:
                out += b"[^/]"
            elif c == 0x5B:
                out += self.bracket()
            else:
                if c == 0x5C:
                    if self.at >= len(self.p):
                        raise _Malformed
                    c = self.peek()
                    self.at += 1
                out += _byte(c)
        return out


def glob(pattern: bytes) -> Optional[Pattern[bytes]]:
    """None: it is malformed and matches nothing."""
    if len(pattern) > PATTERN_MAX:
        return None
    try:
        return re.compile(_Glob(pattern).regex() + rb"\Z", re.S)
    except (_Malformed, re.error):
        return None


class Rule(NamedTuple):
    negated: bool
    folders_only: bool
    by_name: bool  # no slash in it: the last component alone is compared, at any depth
    literal: bytes
    rest: Optional[Pattern[bytes]]
    whole: bool  # nothing follows the literal

    def matches(self, path: bytes, is_folder: bool) -> bool:
        if self.folders_only and not is_folder:
            return False
        if self.by_name:
            path = path.rsplit(b"/", 1)[-1]
        if not path.startswith(self.literal):
            return False
        path = path[len(self.literal):]
        if self.whole:
            return not path
        return self.rest is not None and self.rest.match(path) is not None


def _trim(line: bytes) -> bytes:
    """Spaces at the end do not count unless a backslash stands before them."""
    keep = i = 0
    while i < len(line):
        if line[i] != 0x20:
            if line[i] == 0x5C:
                i += 1
                if i == len(line):
                    return line
            keep = i + 1
        i += 1
    return line[:keep]


def parse_rule(line: bytes) -> Optional[Rule]:
    negated = line.startswith(b"!")
    s = line[1:] if negated else line
    folders_only = s.endswith(b"/")
    s = s[:-1] if folders_only else s
    by_name = b"/" not in s
    if not by_name and s.startswith(b"/"):
        s = s[1:]
    if not s:
        return None
    special = _SPECIAL.search(s)
    cut = special.start() if special else len(s)
    # git compares what stands before the first special character by itself; by name it does not.
    if by_name and cut < len(s):
        cut = 0
    whole = cut == len(s)
    return Rule(negated, folders_only, by_name, s[:cut], None if whole else glob(s[cut:]), whole)


def parse_rules(text: bytes) -> List[Rule]:
    if text.startswith(b"\xef\xbb\xbf"):
        text = text[3:]
    rules = []
    for line in text.split(b"\n"):
        line = line.split(b"\0", 1)[0]
        if line.endswith(b"\r"):
            line = line[:-1]
        rule = parse_rule(_trim(line)) if line and not line.startswith(b"#") else None
        if rule:
            rules.append(rule)
    return rules


class Ignore:
    """A stack of rule files: those of an inner folder stand above those around it."""

    def __init__(self) -> None:
        self._lists: "List[tuple[int, List[Rule]]]" = []

    def push(self, base: bytes) -> None:
        self._lists.append((len(base) + 1 if base else 0, []))

    def add(self, text: bytes) -> None:
        self._lists[-1][1].extend(parse_rules(text))

    def pop(self) -> None:
        self._lists.pop()

    def matches(self, path: bytes, is_folder: bool) -> bool:
        for base, rules in reversed(self._lists):
            for rule in reversed(rules):
                if rule.matches(path[base:], is_folder):
                    return not rule.negated
        return False
