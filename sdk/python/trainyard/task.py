# SPDX-License-Identifier: Apache-2.0
"""For use inside a job: who am I, where is what, metrics, checkpoints, and the wish to stop.

    from trainyard import task

    state = task.latest_checkpoint()                    # None in a first attempt
    for step in range(start, steps):
        loss = train_one(step)
        task.log_metric("loss", loss, step)
        if step % 100 == 0 or task.stop_requested():
            path = task.checkpoint_dir() / ("step-%d" % step)
            save(path)
            task.commit_checkpoint(path)
        if task.stop_requested():
            sys.exit(143)                               # not done: go on in the next attempt

It is optional: all of it can be done by hand with the variables and files that docs/contract.md
tells of.  Outside of a job the functions answer as for a job of one task, with folders below the
working folder.
"""
from __future__ import annotations

import json
import math
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Dict, Optional, Union

from ._events import EventFile
from .inputs import escaped

__all__ = ["attempt", "checkpoint_dir", "commit_checkpoint", "hyperparameters", "input_path",
           "job_id", "latest_checkpoint", "local_rank", "log_metric", "model_dir", "output_path",
           "rank", "stop_requested", "world_size"]

_MARK = ".complete"


def _number(*names: str, default: int) -> int:
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return default


def rank() -> int:
    """Of this process among all of the job, from 0; one process a task unless a launcher or
    per-device says otherwise."""
    return _number("RANK", "YARD_RANK", default=0)


def world_size() -> int:
    return max(1, _number("WORLD_SIZE", "YARD_WORLD_SIZE", default=1))


def local_rank() -> int:
    """Of this process on its machine."""
    return _number("LOCAL_RANK", default=0)


def job_id() -> Optional[str]:
    """None outside of a job."""
    return os.environ.get("YARD_JOB_ID") or None


def attempt() -> int:
    """1 in a job's first attempt."""
    return _number("YARD_ATTEMPT", default=1)


def hyperparameters() -> Dict[str, Any]:
    """As hyperparameters.json has them: texts in an estimator's job, else each with its kind."""
    path = os.environ.get("YARD_HYPERPARAMETERS")
    if not path and os.environ.get("PAI_CONFIG_DIR"):
        path = os.path.join(os.environ["PAI_CONFIG_DIR"], "hyperparameters.json")
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        return dict(json.load(f))


def _place(kind: str, name: str) -> Optional[str]:
    for prefix in ("YARD", "PAI"):
        value = os.environ.get("%s_%s_%s" % (prefix, kind, escaped(name)))
        if value:
            return value
    return None


def input_path(name: str) -> Path:
    """Of an input: its folder, or its file where the URI names one."""
    found = _place("INPUT", name)
    if found is None:
        raise KeyError("this job has no input '%s'" % name)
    return Path(os.environ.get("PAI_INPUT_" + escaped(name)) or found)


def output_path(name: str) -> Path:
    """The folder of an output; what is written there is kept."""
    found = _place("OUTPUT", name)
    if found is None and job_id() is not None:
        raise KeyError("this job has no output '%s'; name it in its outputs" % name)
    path = Path(found or os.path.join("output", name))
    path.mkdir(parents=True, exist_ok=True)
    return path


def model_dir() -> Path:
    return output_path("model")


def checkpoint_dir() -> Path:
    return output_path("checkpoints")


_events: Optional[EventFile] = None
_events_pid = 0
_events_lock = threading.Lock()


def _event_file() -> Optional[EventFile]:
    """One a process: a forked child begins its own."""
    global _events, _events_pid
    with _events_lock:
        if _events is None or _events_pid != os.getpid():
            folder = _place("OUTPUT", "logs") or _place("OUTPUT", "tensorboard")
            if folder is None and job_id() is not None:
                return None
            place = Path(folder or os.path.join("output", "logs"))
            if rank() > 0:
                place /= "rank-%d" % rank()
            _events, _events_pid = EventFile(str(place)), os.getpid()
        return _events


def log_metric(name: str, value: float, step: int) -> None:
    """A number of the training: seen by ``yard metrics``, estimator.metrics() and TensorBoard.  In
    a job without an output ``logs`` it is printed instead, as ``name=value step=N``."""
    number = float(value)
    events = _event_file()
    if events is not None:
        events.add(name, number, int(step))
        return
    text = repr(number) if math.isfinite(number) else str(number)
    sys.stdout.write("%s=%s step=%d\n" % (name, text, step))
    sys.stdout.flush()


def _sync(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _sync_tree(path: Path) -> None:
    if path.is_dir():
        for folder, _, names in os.walk(str(path)):
            for name in names:
                if os.path.isfile(os.path.join(folder, name)):
                    _sync(os.path.join(folder, name))
            _sync(folder)
    else:
        _sync(str(path))
    _sync(str(path.parent))


def _mark_of(path: Path) -> Path:
    return path / _MARK if path.is_dir() else path.with_name(path.name + _MARK)


def commit_checkpoint(path: Union[str, "os.PathLike[str]"]) -> Path:
    """Says that a checkpoint, a file or a folder, is whole: what it holds is written to disk
    first, then the mark ``.complete`` in the folder, or ``NAME.complete`` beside the file, appears.
    Only marked ones are resumed from once there is a mark."""
    place = Path(path)
    if not place.exists():
        raise FileNotFoundError("there is no checkpoint '%s'" % place)
    _sync_tree(place)
    mark = _mark_of(place)
    with open(mark, "wb") as f:
        os.fsync(f.fileno())
    _sync(str(mark.parent))
    return place


def latest_checkpoint() -> Optional[Path]:
    """What to resume from: what the yard says (YARD_RESUME_FROM), else the one committed last."""
    told = os.environ.get("YARD_RESUME_FROM")
    if told:
        return Path(told) if os.path.exists(told) else None
    folder = _place("OUTPUT", "checkpoints")
    place = Path(folder or os.path.join("output", "checkpoints"))
    if not place.is_dir():
        return None
    found = [(mark.stat().st_mtime_ns, p) for p in place.iterdir()
             for mark in [_mark_of(p)] if mark.exists() and not p.name.startswith(".")]
    return max(found)[1] if found else None


_stop = threading.Event()
_watching = False


def _on_term(_signal: int, _frame: Any) -> None:
    _stop.set()


def stop_requested() -> bool:
    """The job was asked to stop: save what is needed and end, with something else than 0 if the
    work is not done.  From the first call on SIGTERM is a wish and no longer an end (in the main
    thread, when nobody else handles it): call it before the training begins, then often."""
    global _watching
    if not _watching and threading.current_thread() is threading.main_thread():
        _watching = True
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _on_term)
    file = os.environ.get("YARD_STOP_FILE")
    return _stop.is_set() or bool(file and os.path.exists(file))
