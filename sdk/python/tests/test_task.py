# SPDX-License-Identifier: Apache-2.0
"""The helper inside a job: its files are read by the real TensorBoard."""
import math
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import ROOT, until

from trainyard import _events, task


@pytest.fixture(autouse=True)
def no_job(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("PAI_", "YARD_")) and name != "YARD_SERVER":
            monkeypatch.delenv(name)
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(task, "_events", None)


def test_crc_is_castagnoli():
    assert _events.crc32c(b"123456789") == 0xE3069283
    assert _events.crc32c(b"\0" * 32) == 0x8A9136AA


def test_outside_of_a_job_one_is_alone():
    assert (task.rank(), task.world_size(), task.local_rank(), task.attempt()) == (0, 1, 0, 1)
    assert task.job_id() is None and task.hyperparameters() == {}


def test_metrics_are_read_by_tensorboard(monkeypatch, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    monkeypatch.setenv("YARD_JOB_ID", "1")
    monkeypatch.setenv("PAI_OUTPUT_LOGS", str(tmp_path / "logs"))
    want = [("loss", 0.5, 0), ("loss/größe", -1e30, 3), ("nan", math.nan, 1 << 40), ("z", 0.0, 5)]
    for name, value, step in want:
        task.log_metric(name, value, step)
    (path,) = (tmp_path / "logs").iterdir()
    events = list(EventFileLoader(str(path)).Load())
    got = []
    for e in events:
        for v in e.summary.value:
            number = v.tensor.float_val[0] if v.HasField("tensor") else v.simple_value
            got.append((v.tag, number, e.step))
    assert events[0].file_version == "brain.Event:2"
    assert len(got) == len(want)
    for (a, x, i), (b, y, k) in zip(got, want):
        assert (a, i) == (b, k)
        assert math.isnan(x) == math.isnan(y)
        assert math.isnan(y) or x == struct.unpack("<f", struct.pack("<f", y))[0]


def test_threads_and_ranks_do_not_tear_records(monkeypatch, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    monkeypatch.setenv("YARD_OUTPUT_LOGS", str(tmp_path))
    monkeypatch.setenv("RANK", "3")
    threads = [threading.Thread(target=lambda: [task.log_metric("m", i, i) for i in range(200)])
               for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    (path,) = (tmp_path / "rank-3").iterdir()
    assert sum(1 for e in EventFileLoader(str(path)).Load() for _ in e.summary.value) == 800


def test_without_a_folder_metrics_are_printed(monkeypatch, capsys):
    monkeypatch.setenv("YARD_JOB_ID", "1")
    task.log_metric("loss", 0.25, 7)
    assert capsys.readouterr().out == "loss=0.25 step=7\n"


def test_a_committed_checkpoint_is_the_latest(monkeypatch, tmp_path):
    monkeypatch.setenv("PAI_OUTPUT_CHECKPOINTS", str(tmp_path))
    assert task.latest_checkpoint() is None
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "w").write_text("1")
    task.commit_checkpoint(tmp_path / "one")
    assert (tmp_path / "one" / ".complete").exists()
    (tmp_path / "two.pt").write_text("2")
    assert task.latest_checkpoint() == tmp_path / "one"
    task.commit_checkpoint(tmp_path / "two.pt")
    os.utime(tmp_path / "one" / ".complete", (1, 1))
    assert (tmp_path / "two.pt.complete").exists()
    assert task.latest_checkpoint() == tmp_path / "two.pt"
    monkeypatch.setenv("YARD_RESUME_FROM", str(tmp_path / "one"))
    assert task.latest_checkpoint() == tmp_path / "one"
    with pytest.raises(FileNotFoundError):
        task.commit_checkpoint(tmp_path / "three")


def test_a_wish_to_stop_is_seen_and_is_no_end():
    code = ("import os, signal, sys; from trainyard import task\n"
            "assert not task.stop_requested()\n"
            "os.kill(os.getpid(), signal.SIGTERM)\n"
            "sys.exit(7 if task.stop_requested() else 1)\n")
    r = subprocess.run([sys.executable, "-c", code], check=False,
                       env=dict(os.environ, PYTHONPATH=str(ROOT / "sdk" / "python")))
    assert r.returncode == 7


def test_a_stop_file_is_a_wish(monkeypatch, tmp_path):
    monkeypatch.setattr(task, "_watching", True)
    monkeypatch.setenv("YARD_STOP_FILE", str(tmp_path / "stop"))
    assert not task.stop_requested()
    (tmp_path / "stop").write_text("{}")
    assert task.stop_requested()
    assert signal.getsignal(signal.SIGTERM) is not task._on_term


def test_places_are_told(monkeypatch, tmp_path):
    monkeypatch.setenv("YARD_JOB_ID", "1")
    monkeypatch.setenv("PAI_INPUT_TRAIN_DATA", "/ml/input/data/train-data/x.csv")
    monkeypatch.setenv("PAI_OUTPUT_MODEL", str(tmp_path / "m") + "/")
    assert task.input_path("train-data") == Path("/ml/input/data/train-data/x.csv")
    assert task.model_dir() == tmp_path / "m"
    with pytest.raises(KeyError, match="no output 'x'"):
        task.output_path("x")


JOB = """import sys, time
from trainyard import task
begun = task.latest_checkpoint()
print("from", begun.name if begun else None, task.rank(), task.world_size(), task.attempt(),
      task.hyperparameters()["steps"], flush=True)
step = int(begun.name.split("-")[1]) + 1 if begun else 0
task.stop_requested()
while step < int(task.hyperparameters()["steps"]):
    task.log_metric("loss", 1.0 / (step + 1), step)
    path = task.checkpoint_dir() / ("step-%d" % step)
    path.mkdir(exist_ok=True)
    (path / "weights").write_text(str(step))
    task.commit_checkpoint(path)
    print("saved", step, flush=True)
    if begun is None and step == 2:
        while not task.stop_requested():
            time.sleep(0.01)
        sys.exit(143)
    step += 1
(task.model_dir() / "model").write_text("done")
"""


def test_a_job_that_is_stopped_goes_on_in_the_next(yard, tmp_path):
    from trainyard import Estimator
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(JOB)
    shutil.copytree(ROOT / "sdk" / "python" / "trainyard", tmp_path / "src" / "trainyard",
                    ignore=shutil.ignore_patterns("__pycache__"))
    est = Estimator(entry_point="train.py", source_dir=str(tmp_path / "src"),
                    instance_spec={"cpu": "0.2", "memory": "128Mi"}, hyperparameters={"steps": 5},
                    checkpoints_path="pfs:ck-" + tmp_path.name)
    est.fit(wait=False)
    until(lambda: "saved 2" in est.logs())
    est.stop(wait=True)
    assert est.latest_job.status == "Terminated"
    assert est.logs()[0] == "from None 0 1 1 5"
    (loss,) = est.metrics("loss")
    assert [p.step for p in loss.points] == [0, 1, 2] and loss.last == pytest.approx(1 / 3)
    est.fit(show_logs=False)
    assert est.logs() == ["from step-2 0 1 1 5", "saved 3", "saved 4"]
    assert est.latest_job.is_succeeded()
