# SPDX-License-Identifier: Apache-2.0
"""Jobs of a yard: get, list, follow, stop.

    >>> from trainyard.job import TrainingJob
    >>> for job in TrainingJob.list(status="Running"):
    ...     print(job.id, job.name, job.status)
    >>> TrainingJob.get("42").stop()
"""
from __future__ import annotations

import json
import os
import threading
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._http import segment
from ._logs import Follower, Printer, lines, write_out
from .errors import ConnectionFailed, NotFound, UnexpectedStatusException, YardError
from .metrics import MetricSeries, series_of
from .session import Session, session_or_default

__all__ = ["InstanceSpec", "TrainingJob", "TrainingJobStatus"]

_TAIL_LINES = 20
_WAIT_MS = 25000  # one question; shorter than a connection's timeout


class InstanceSpec(NamedTuple):
    """What one instance gets: ``InstanceSpec(cpu=4, memory="16Gi", gpu=1)``.

    memory and shared_memory: a size such as ``16Gi`` or ``512M``; a bare number is GiB."""

    cpu: Union[None, int, float, str] = None
    memory: Union[None, int, str] = None
    gpu: Union[None, int, float, str] = None
    shared_memory: Union[None, int, str] = None
    gpu_type: Optional[str] = None


class TrainingJobStatus:
    """The words of ``TrainingJob.status``."""

    Creating = "Creating"
    Submitted = "Submitted"
    Initializing = "Initializing"
    Running = "Running"
    Succeed = "Succeed"
    Failed = "Failed"
    Terminated = "Terminated"
    InitializeFailed = "InitializeFailed"

    COMPLETED = (Succeed, Failed, Terminated, InitializeFailed)
    FAILED = (Failed, InitializeFailed)


_STATUS = {
    "new": TrainingJobStatus.Creating,
    "held": TrainingJobStatus.Submitted,
    "queued": TrainingJobStatus.Submitted,
    "backoff": TrainingJobStatus.Submitted,
    "starting": TrainingJobStatus.Initializing,
}
# What a list is asked for; the rest is sorted out here.
_LISTED = {
    TrainingJobStatus.Submitted: {"state": "live"},
    TrainingJobStatus.Creating: {"state": "live"},
    TrainingJobStatus.Initializing: {"state": "live"},
    TrainingJobStatus.Running: {"state": "live"},
    TrainingJobStatus.Succeed: {"outcome": "succeeded"},
    TrainingJobStatus.Failed: {"outcome": "failed"},
    TrainingJobStatus.InitializeFailed: {"outcome": "failed"},
    TrainingJobStatus.Terminated: {"state": "ended"},
}


def _first_failed(doc: Dict[str, Any]) -> Tuple[Optional[int], Dict[str, Any]]:
    """The task that failed first, and how it ended."""
    rank = doc.get("first_failed")
    for task in doc.get("tasks", ()):
        if task["rank"] == rank and task.get("exit"):
            return int(rank), dict(task["exit"])
    for task in doc.get("tasks", ()):
        end = task.get("exit")
        if end and (end["kind"] != "code" or end["code"] != 0):
            return int(task["rank"]), dict(end)
    return None, {}


def _status(doc: Dict[str, Any]) -> str:
    if doc["state"] != "ended":
        return _STATUS.get(doc["state"], TrainingJobStatus.Running)
    if doc["outcome"] == "succeeded":
        return TrainingJobStatus.Succeed
    if doc["outcome"] == "stopped" or (doc.get("stop") or {}).get("kind") == "time-limit":
        return TrainingJobStatus.Terminated
    _, end = _first_failed(doc)
    if end.get("stage") or end.get("kind") == "unstarted" or doc.get("attempt") == 0:
        return TrainingJobStatus.InitializeFailed
    return TrainingJobStatus.Failed


class TrainingJob:
    """A job as the server last told of it; ``refresh()`` asks again."""

    def __init__(self, session: Session, doc: Dict[str, Any], local: bool = False) -> None:
        self.session = session
        self._doc = doc
        self._local = local  # of instance_type="local": outputs are folders here

    @classmethod
    def get(cls, training_job_id: Union[str, int], session: Optional[Session] = None
            ) -> "TrainingJob":
        """By its number, or the newest of one's own by its name."""
        s = session_or_default(session)
        return cls(s, s._http.json("GET", "/jobs/" + segment(str(training_job_id))))

    @classmethod
    def list(cls, status: Optional[str] = None, session: Optional[Session] = None,
             page_size: int = 50, page_number: int = 1, *, name: Optional[str] = None,
             label: Optional[str] = None, owner: Optional[str] = None) -> "List[TrainingJob]":
        """A page of jobs, newest first.  status: a word of TrainingJobStatus."""
        if status is not None and status not in _LISTED:
            raise ValueError("status: '%s' is none of %s" % (status, ", ".join(sorted(_LISTED))))
        s = session_or_default(session)
        query: Dict[str, Any] = {"name": name, "label": label, "owner": owner,
                                 "limit": min(1000, page_size * page_number)}
        query.update(_LISTED.get(status or "", {}))
        found: List[TrainingJob] = []
        skip, before = page_size * (page_number - 1), None
        while True:
            page = s._http.json("GET", "/jobs", query=dict(query, before=before))
            for row in page["jobs"]:
                job = cls._of_row(s, row, status)
                if job is None:
                    continue
                skip -= 1
                if skip < 0:
                    found.append(job)
                if len(found) == page_size:
                    return found
            before = page["next"]
            if before is None:
                return found

    @classmethod
    def _of_row(cls, s: Session, row: Dict[str, Any], status: Optional[str]
                ) -> "Optional[TrainingJob]":
        """None: it is not of this status.  A row knows less than the job: asked for when needed."""
        unsure = row["state"] == "ended" and row["outcome"] != "succeeded"
        try:
            if status is not None and unsure:
                row = s._http.json("GET", "/jobs/%d" % row["id"])
        except NotFound:
            return None  # deleted since the list was made
        return cls(s, row) if status in (None, _status(row)) else None

    def refresh(self) -> "TrainingJob":
        self._doc = self.session._http.json("GET", "/jobs/" + self.id)
        return self

    @property
    def id(self) -> str:
        return str(self._doc["id"])

    @property
    def name(self) -> str:
        return str(self._doc["name"])

    @property
    def training_job_id(self) -> str:
        return self.id

    @property
    def training_job_name(self) -> str:
        return self.name

    @property
    def status(self) -> str:
        """As it was last told; one of TrainingJobStatus."""
        return _status(self._doc)

    @property
    def reason(self) -> str:
        """Why it ended so, or what it waits for."""
        return str(self._doc.get("reason") or self._doc.get("why") or "")

    @property
    def exit_code(self) -> Optional[int]:
        """What ``yard wait`` would return; None before the end."""
        return self._doc.get("exit_code") if self._doc["state"] == "ended" else None

    @property
    def spec(self) -> Dict[str, Any]:
        """The job file with every default written out."""
        return dict(self._whole().get("spec") or {})

    @property
    def hyperparameters(self) -> Dict[str, Any]:
        return dict(self.spec.get("hyperparameters") or {})

    @property
    def console_uri(self) -> Optional[str]:
        """An address of the job's page, a fresh one each time: Session.job_page."""
        return self.session.job_page(self.id)

    def describe(self) -> Dict[str, Any]:
        """Everything the server tells about it."""
        return dict(self._whole())

    def _whole(self) -> Dict[str, Any]:
        if "tasks" not in self._doc:  # a row of a list
            self.refresh()
        return self._doc

    def is_completed(self) -> bool:
        return self.status in TrainingJobStatus.COMPLETED

    def is_succeeded(self) -> bool:
        return self.status == TrainingJobStatus.Succeed

    def stop(self, reason: Optional[str] = None, wait: bool = False) -> None:
        """Asks it to stop: it has its grace to save what it has.  An ended job stays as it is."""
        self._doc = self.session._http.json("POST", "/jobs/%s/stop" % self.id,
                                            value={"reason": reason} if reason else {}, again=True)
        if wait:
            self._wait_end()

    def delete(self) -> None:
        """An ended job, with its history, log and outputs."""
        self.session._http.json("DELETE", "/jobs/" + self.id)

    def events(self) -> List[Dict[str, Any]]:
        """Its history."""
        found: List[Dict[str, Any]] = []
        at: Optional[int] = None
        while True:
            page = self.session._http.json("GET", "/jobs/%s/events" % self.id, query={"from": at})
            found.extend(page["events"])
            at = page["next"]
            if at is None or not page["events"]:
                return found

    def metrics(self, name: Optional[str] = None, points: Optional[int] = None
                ) -> List[MetricSeries]:
        """What it measured: scalars of its event files, and what its log patterns found."""
        return series_of(self.session._http.json("GET", "/jobs/%s/metrics" % self.id,
                                                 query={"name": name, "points": points}))

    def logs(self, follow: bool = False, task: Optional[int] = None, tail: Optional[int] = None,
             all_attempts: bool = False) -> Iterator[str]:
        """Its lines; those of several tasks have ``[rank] `` before them.
        follow: until it has ended.  tail: only the last so many of each task."""
        follower = Follower(self.session._http, self.id, follow=follow, task=task, tail=tail,
                            attempt="all" if all_attempts else "last")
        return lines(iter(follower), task is None and self._tasks() > 1)

    def _tasks(self) -> int:
        if "task_count" in self._doc:
            return int(self._doc["task_count"])
        roles = (self._whole().get("spec") or {}).get("roles") or [{}]
        return max(len(self._doc.get("tasks") or ()), sum(int(r.get("count", 1)) for r in roles))

    def outputs(self) -> List[str]:
        """The names of what it keeps."""
        return [str(o["name"]) for o in self._whole().get("outputs") or ()]

    def output_path(self, channel: str = "model") -> str:
        """Where an output is: the URI that it was given, a folder of this machine for a local
        job, else ``pfs:/jobs/ID/CHANNEL/``, which is an input of further jobs and can be
        downloaded."""
        whole = self._whole()
        uri = _asked_output((whole.get("spec") or {}).get("outputs"), channel)
        names = {str(o["name"]): o for o in whole.get("outputs") or ()}
        alias = {"tensorboard": "logs", "logs": "tensorboard"}.get(channel, channel)
        name = channel if channel in names or alias not in names else alias
        if name not in names and not uri:
            raise YardError("job %s has no output '%s'; it has: %s"
                            % (self.id, channel, ", ".join(sorted(names)) or "none"))
        if uri:
            return uri
        if self._local:
            return self._local_folder(name, names[name].get("path"))
        return "pfs:/jobs/%s/%s/" % (self.id, name)

    def _local_folder(self, name: str, path: Optional[str]) -> str:
        if path and os.access(path, os.R_OK | os.X_OK):
            return os.path.join(path, "")
        # A yard of the machine keeps it under its own rights: a copy is the caller's.
        from .storage import download
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        folder = os.path.join(cache, "trainyard", "jobs", self.id, name)
        os.makedirs(folder, exist_ok=True)
        download("pfs:/jobs/%s/%s/" % (self.id, name), folder, session=self.session, quiet=True)
        return os.path.join(folder, "")

    def wait(self, interval: float = 5, show_logs: bool = True) -> "TrainingJob":
        """Until it has ended.  Its log is shown as it comes.  A job that failed raises
        UnexpectedStatusException; one that was stopped, or ran into its time limit, does not.
        interval has no meaning here: the end is known at once."""
        del interval
        try:
            if show_logs:
                self._show_logs()
            self._wait_end()
        except KeyboardInterrupt:
            write_out("\njob %s goes on; stop it by job.stop(), estimator.stop() or `yard stop "
                      "%s`, see it again by Estimator.attach(\"%s\").wait()\n"
                      % (self.id, self.id, self.id))
            raise
        self._check_end()
        return self

    def _show_logs(self) -> None:
        printer, begun = Printer(self._tasks() > 1), threading.Event()
        threading.Thread(target=self._tell_waiting, args=(begun,), daemon=True).start()
        try:
            for record in Follower(self.session._http, self.id):
                begun.set()
                printer.add(record)
        except ConnectionFailed as e:
            write_out("\n[the log cannot be shown: %s]\n" % e)
        finally:
            begun.set()
            printer.finish()

    def _tell_waiting(self, begun: threading.Event) -> None:
        """Says what a job waits for, as long as it does."""
        told = ""
        while not begun.wait(1.0):
            try:
                doc = self.session._http.json("GET", "/jobs/" + self.id)
            except (YardError, OSError):
                continue
            if doc["state"] not in ("held", "queued", "backoff"):
                return
            why = str(doc.get("why") or "")
            if why and why != told and not begun.is_set():
                told = why
                write_out("job %s waits: %s\n" % (self.id, why))

    def _wait_end(self) -> None:
        broken_since: Optional[float] = None
        while True:
            try:
                answer = self.session._http.open("GET", "/jobs/%s/wait" % self.id,
                                                 query={"timeout_ms": _WAIT_MS}, whole=True)
                broken_since = None
                if answer.status == 200:
                    self._doc = json.loads(answer.read().decode("utf-8"))
                    return
            except (ConnectionFailed, OSError):
                broken_since = broken_since or time.monotonic()
                if time.monotonic() - broken_since > 600:
                    raise
                time.sleep(1)

    def _check_end(self) -> None:
        status = self.status
        if status == TrainingJobStatus.Terminated:
            write_out("job %s (%s) was stopped: %s\n"
                      % (self.id, self.name, self.reason or "no reason given"))
        if status in TrainingJobStatus.FAILED:
            raise self._failure()

    def _failure(self) -> UnexpectedStatusException:
        rank, end = _first_failed(self._doc)
        tail: Sequence[str] = ()
        try:
            tail = _tail(self, rank)
        except YardError:
            pass
        words = "job %s (%s) failed: %s" % (self.id, self.name, self.reason or "no reason given")
        if rank is not None and self._tasks() > 1:
            words += " (task %d)" % rank
        words += "\n`yard open %s` shows it in a browser" % self.id
        if tail:
            words += "\nits last lines:\n" + "\n".join("  | " + line for line in tail)
        return UnexpectedStatusException(
            words, self.status, job_id=self.id, job_name=self.name, reason=self.reason,
            exit_code=end.get("code") if end.get("kind") == "code" else None,
            signal=end.get("signal") if end.get("kind") == "signal" else None,
            out_of_memory=end.get("kind") == "oom", task=rank, log_tail=tail)

    def __repr__(self) -> str:
        return "TrainingJob(id=%s, name=%s, status=%s)" % (self.id, self.name, self.status)


def _tail(job: TrainingJob, rank: Optional[int]) -> List[str]:
    return list(job.logs(task=rank, tail=_TAIL_LINES))


def _asked_output(asked: Any, channel: str) -> Optional[str]:
    """The URI that the job file gives an output, or None."""
    if isinstance(asked, dict):
        value = asked.get(channel)
        if isinstance(value, dict):
            value = value.get("uri")
        return str(value) if value else None
    return None
