# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as exceptions.

All of them are a :class:`YardError`.  An :class:`ApiError` is the server's own answer and keeps
its parts; an :class:`UnexpectedStatusException` is a job that failed and says why, with the last
lines it printed.
"""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

__all__ = [
    "ApiError", "ConnectionFailed", "NotFound", "TensorboardLimitExceeded", "TransferError",
    "UnexpectedStatusException", "UntrustedServer", "YardError", "YardMissing",
]


class YardError(Exception):
    """The base of all errors of this package."""


class YardMissing(YardError):
    """The program ``yard``, which starts a yard of one's own, is not on this machine."""


class ConnectionFailed(YardError):
    """The server does not answer."""


class UntrustedServer(ConnectionFailed):
    """The server's certificate is not the one that is trusted."""


class TransferError(YardError):
    """A file could not be brought to or from storage."""


class ApiError(YardError):
    """The server refused; ``problems`` lists everything that is wrong with a job."""

    def __init__(self, status: int, code: str, message: str, field: Optional[str] = None,
                 problems: Sequence[Mapping[str, Any]] = (), reason: Optional[str] = None) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.problems: List[Dict[str, Any]] = [dict(p) for p in problems]
        self.reason = reason
        super().__init__(self._words())

    def _words(self) -> str:
        if len(self.problems) < 2:
            return self.message
        lines = ["%d problems:" % len(self.problems)]
        for p in self.problems:
            where = "%s: " % p["field"] if p.get("field") else ""
            lines.append("  %s%s" % (where, p.get("message", "")))
        return "\n".join(lines)


class NotFound(ApiError):
    """It is not there, or it is not yours to see."""


class TensorboardLimitExceeded(ApiError):
    """As many TensorBoards run as one user may have; the message names them."""


class UnexpectedStatusException(YardError):
    """A job that was waited for has failed.

    ``status`` is ``Failed`` or ``InitializeFailed`` (something failed before the command began:
    an input, the code, the requirements); ``reason`` the server's sentence; ``exit_code``,
    ``signal`` and ``out_of_memory`` are of the task that failed first; ``log_tail`` has the last
    lines that this task printed.
    """

    def __init__(self, message: str, status: str, *, job_id: str = "", job_name: str = "",
                 reason: str = "", exit_code: Optional[int] = None, signal: Optional[int] = None,
                 out_of_memory: bool = False, task: Optional[int] = None,
                 log_tail: Sequence[str] = ()) -> None:
        self.status = status
        self.job_id = job_id
        self.job_name = job_name
        self.reason = reason
        self.exit_code = exit_code
        self.signal = signal
        self.out_of_memory = out_of_memory
        self.task = task
        self.log_tail = list(log_tail)
        super().__init__(message)
