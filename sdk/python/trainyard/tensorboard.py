# SPDX-License-Identifier: Apache-2.0
"""TensorBoards: an app of the yard that shows what a job wrote to its ``logs``."""
from __future__ import annotations

import time
from typing import Any, Dict, List, Optional

from ._http import segment
from .errors import NotFound, UnexpectedStatusException, YardError
from .session import Session, session_or_default

__all__ = ["TensorBoard"]


class TensorBoard:
    """``app_uri`` is its address; it runs until ``stop()`` or ``delete()``, or its time is over."""

    def __init__(self, session: Session, doc: Dict[str, Any]) -> None:
        self.session = session
        self._doc = doc

    @classmethod
    def of_job(cls, job_id: str, session: Optional[Session] = None) -> "TensorBoard":
        """The board of a job: the one that runs, or a new one.  Raises
        TensorboardLimitExceeded when one has as many as one may have."""
        s = session_or_default(session)
        return cls(s, s._http.json("POST", "/jobs/%s/tensorboard" % segment(job_id), value={},
                                   again=True))

    @classmethod
    def list(cls, session: Optional[Session] = None) -> "List[TensorBoard]":
        """One's boards."""
        s = session_or_default(session)
        return [cls(s, a) for a in s._http.json("GET", "/apps")["apps"]
                if a.get("kind") == "tensorboard"]

    @property
    def id(self) -> str:
        return str(self._doc["app"])

    @property
    def job_id(self) -> str:
        return str(self._doc["of"])

    @property
    def status(self) -> str:
        """starting, running or ended, as the server says now."""
        try:
            self._doc = self.session._http.json("GET", "/apps/" + segment(self.id))
        except NotFound:
            self._doc["state"] = "ended"
        return str(self._doc["state"])

    @property
    def app_uri(self) -> Optional[str]:
        """Where it is seen in a browser.  The address carries a pass of short life, so each
        reading asks for a fresh one."""
        if self.status == "ended":
            return None
        url = self._doc.get("url")
        if url and str(url).startswith("/") and not self.session.here:
            return self.session.url + str(url)
        return str(url) if url else None

    def wait(self, timeout: float = 120) -> "TensorBoard":
        """Until it can be looked at."""
        until = time.monotonic() + timeout
        while True:
            state = self.status
            if state == "running":
                return self
            if state == "ended":
                raise self._failure()
            if time.monotonic() > until:
                raise YardError("TensorBoard %s does not begin within %d s; `yard why %s` tells "
                                "why" % (self.id, timeout, self.id))
            time.sleep(0.1)

    def _failure(self) -> UnexpectedStatusException:
        """A board is a job too, and says why it ended."""
        from .job import TrainingJob
        reason, tail = "it is not there any more", []
        try:
            job = TrainingJob.get(self.id, self.session)
            reason, tail = job.reason or job.status, list(job.logs(tail=10))
        except YardError:
            pass
        words = "TensorBoard %s of job %s has ended before it could be seen: %s" \
            % (self.id, self.job_id, reason)
        if tail:
            words += "\nits last lines:\n" + "\n".join("  | " + line for line in tail)
        return UnexpectedStatusException(words, "ended", job_id=self.id, reason=reason,
                                         log_tail=tail)

    def start(self, wait: bool = True) -> "TensorBoard":
        """Again, after stop(); one that runs is left as it is."""
        if self.status == "ended":
            self._doc = self.of_job(self.job_id, self.session)._doc
        return self.wait() if wait else self

    def stop(self) -> None:
        """Ends it; what it shows stays with its job."""
        try:
            self.session._http.json("DELETE", "/apps/" + segment(self.id))
        except NotFound:
            pass
        self._doc["state"] = "ended"

    def delete(self) -> None:
        """The same as stop(): nothing of a board stays behind."""
        self.stop()

    def __repr__(self) -> str:
        return "TensorBoard(%s of job %s, %s)" % (self.id, self.job_id, self._doc.get("state"))
