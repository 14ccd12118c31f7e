# SPDX-License-Identifier: Apache-2.0
"""The estimator: from a script to a trained model.

    >>> from trainyard.estimator import Estimator
    >>> est = Estimator(command="python train.py $PAI_USER_ARGS", source_dir="train_src",
    ...                 instance_type="local", hyperparameters={"epochs": 10})
    >>> est.fit(inputs={"train": "/data/mnist"})
    >>> est.model_data()

What a script finds when it runs (/ml/usercode, PAI_HPS_…, PAI_INPUT_…, PAI_OUTPUT_MODEL, …) is the
same on this machine and on a server.
"""
from __future__ import annotations

import threading
import time
import uuid
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import inputs as inputs_module
from ._ask import Ask, check, names, plain_name, split_names
from ._code import Code
from ._logs import write_out
from .errors import UnexpectedStatusException
from .job import InstanceSpec, TrainingJob, TrainingJobStatus
from .metrics import MetricSeries
from .session import Session, session_or_default
from .tensorboard import TensorBoard

__all__ = ["Estimator"]


class Estimator:
    """Describes a job; ``fit()`` sends it.

    command: what each instance executes: a shell line, or a list of program and arguments.
    entry_point: instead of it, a script in source_dir (or a file, when there is no source_dir).
    source_dir: the code: a local folder, file or archive, or a URI of a folder or an archive.
        What .gitignore and .yardignore name is left out.  It is found in /ml/usercode.
    git_config: ``{"repo", "branch", "commit", "username", "password", "token"}``: the code is
        cloned from there first; source_dir is then a folder in it.
    image_uri: of the catalogue (trainyard.image) or a container image; without it the job sees
        the programs of the machine.
    instance_type: one of the yard's, or ``local`` (``local_gpu``): this machine.
    instance_count: how many instances run the command, started together.
    instance_spec: instead of a type: an InstanceSpec, or a dict with its fields.
    hyperparameters: each is PAI_HPS_<NAME>, all are PAI_USER_ARGS, PAI_HPS and
        hyperparameters.json.  Values become texts; lists and dicts JSON texts.
    environments: further variables.
    requirements: pip requirements, besides requirements.txt in source_dir.
    base_job_name: a job's name is ``{base_job_name}_{YYYYMMDD_HHMMSS}``.
    max_run_time: seconds; then the job is stopped.
    checkpoints_path, output_path: URIs where checkpoints, or all outputs, are kept.
    metric_definitions: ``[{"Name", "Regex"}]``: numbers to read from the log; one group each.
    labels: free words to find jobs by.
    settings: ``{"Priority": n}``.
    resource_id: the group whose quota the job counts against.
    spot_spec: the job may be interrupted for others, and is begun anew.
    session: which yard; the default session when not given.
    """

    def __init__(self, image_uri: Optional[str] = None,
                 command: Union[None, str, Sequence[str]] = None,
                 source_dir: Optional[str] = None, *, entry_point: Optional[str] = None,
                 git_config: Optional[Mapping[str, str]] = None,
                 job_type: Optional[str] = None,
                 hyperparameters: Optional[Mapping[str, Any]] = None,
                 environments: Optional[Mapping[str, Any]] = None,
                 requirements: Optional[Sequence[str]] = None,
                 base_job_name: Optional[str] = None,
                 max_run_time: Union[None, int, float] = None,
                 checkpoints_path: Optional[str] = None, output_path: Optional[str] = None,
                 metric_definitions: Optional[Sequence[Mapping[str, str]]] = None,
                 instance_type: Optional[str] = None, instance_count: int = 1,
                 instance_spec: Union[None, InstanceSpec, Mapping[str, Any]] = None,
                 resource_id: Optional[str] = None, resource_type: Optional[str] = None,
                 spot_spec: Optional[Mapping[str, Any]] = None,
                 user_vpc_config: Any = None, experiment_config: Any = None,
                 settings: Optional[Mapping[str, Any]] = None,
                 labels: Optional[Mapping[str, str]] = None,
                 session: Optional[Session] = None) -> None:
        self.image_uri = image_uri
        self.command = command
        self.source_dir = source_dir
        self.entry_point = entry_point
        self.git_config = dict(git_config) if git_config else None
        self.job_type = job_type
        self.hyperparameters: Dict[str, Any] = names("hyperparameters", hyperparameters)
        self.environments: Dict[str, Any] = names("environments", environments)
        self.requirements = [requirements] if isinstance(requirements, str) \
            else list(requirements or [])
        self.base_job_name = base_job_name or type(self).__name__.lower()
        self.max_run_time = max_run_time
        self.checkpoints_path = checkpoints_path
        self.output_path = output_path
        self.metric_definitions = list(metric_definitions or [])
        self.instance_type = instance_type
        self.instance_count = instance_count
        self.instance_spec = instance_spec
        self.resource_id = resource_id
        self.spot_spec = dict(spot_spec) if spot_spec else None
        self.settings: Dict[str, Any] = dict(settings or {})
        self.labels: Dict[str, str] = dict(labels or {})
        self.session = session
        self._here: Optional[Session] = None  # of local jobs
        self._jobs: List[TrainingJob] = []
        self._lock = threading.Lock()
        check(self, {"resource_type": resource_type, "user_vpc_config": user_vpc_config,
                     "experiment_config": experiment_config})

    @property
    def local(self) -> bool:
        return self.instance_type in ("local", "local_gpu")

    def _session(self) -> Session:
        if not self.local:
            return session_or_default(self.session)
        with self._lock:
            if self._here is None:
                self._here = Session.local()
            return self._here

    def set_hyperparameters(self, **hyperparameters: Any) -> None:
        """Adds to them, and changes those that are there; for jobs that are sent from now on."""
        self.hyperparameters.update(hyperparameters)

    def fit(self, inputs: Optional[Mapping[str, Any]] = None,
            outputs: Union[None, Sequence[str], Mapping[str, Any]] = None, wait: bool = True,
            show_logs: bool = True, job_name: Optional[str] = None) -> TrainingJob:
        """Sends a job and, unless wait=False, shows its log until it has ended.

        inputs: channel names to URIs or paths: ``{"train": "oss://bucket/train/", "test":
            "/data/test.csv"}``; a job finds each at PAI_INPUT_<NAME>.
        outputs: further output channels: names, or names to URIs where they are kept.

        A job that failed raises UnexpectedStatusException, which says why; one that was stopped
        does not.  Everything is checked before anything is uploaded."""
        name = plain_name(job_name) if job_name else \
            "%s_%s" % (plain_name(self.base_job_name), time.strftime("%Y%m%d_%H%M%S"))
        channels = inputs_module.channels(inputs)
        check(self, {})
        session = self._session()
        with Code(self) as code:
            ask = Ask(self, session, name, channels, split_names(outputs))
            spec = ask.spec()
            session._http.json("POST", "/jobs", query={"dry_run": 1}, value=spec, again=True)
            job = self._submit(session, ask.complete(spec, code))
        if wait:
            self.wait(show_logs=show_logs)
        return job

    def _submit(self, session: Session, spec: Dict[str, Any]) -> TrainingJob:
        answer = session._http.json("POST", "/jobs", value=spec,
                                    headers={"Idempotency-Key": uuid.uuid4().hex})
        job = TrainingJob.get(answer["id"], session)
        job._local = self.local
        with self._lock:
            self._jobs.append(job)
        write_out("job %s (%s): %s\n" % (job.id, job.name,
                                         job.console_uri or "`yard show %s`" % job.id))
        return job

    @classmethod
    def attach(cls, training_job_id: Union[str, int], session: Optional[Session] = None
               ) -> "Estimator":
        """An estimator of a job that was sent before: wait(), logs(), stop(), model_data(), …"""
        job = TrainingJob.get(training_job_id, session)
        spec = job.spec
        role: Dict[str, Any] = (spec.get("roles") or [{}])[0]
        est = cls(image_uri=role.get("image"), command=role.get("command") or "true",
                  hyperparameters=spec.get("hyperparameters"), environments=role.get("env"),
                  instance_count=int(role.get("count", 1)), labels=spec.get("labels"),
                  base_job_name=job.name, session=job.session)
        job._local = job.session.here
        est._jobs.append(job)
        return est

    @property
    def jobs(self) -> List[TrainingJob]:
        """Those that this estimator has sent, the oldest first."""
        with self._lock:
            return list(self._jobs)

    @property
    def latest_job(self) -> TrainingJob:
        with self._lock:
            if not self._jobs:
                raise RuntimeError("no job was sent yet: call fit() first")
            return self._jobs[-1]

    def wait(self, interval: float = 5, show_logs: bool = True, all_jobs: bool = False) -> None:
        """Until the latest job, or all of them, have ended; raises for one that failed."""
        if not all_jobs:
            job = self.latest_job.wait(interval, show_logs)
            if job.is_succeeded():
                write_out("job %s (%s) has succeeded\n" % (job.id, job.name))
            return
        failed: List[UnexpectedStatusException] = []
        rows = [("name", "id", "status")]
        for job in self.jobs:
            try:
                job.wait(interval, show_logs=False)
            except UnexpectedStatusException as e:
                failed.append(e)
            rows.append((job.name, job.id, job.status))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        for row in rows:
            write_out("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() + "\n")
        if failed:
            raise failed[0]

    def stop(self, wait: bool = False) -> None:
        """Stops the latest job; it has its grace to save what it has."""
        self.latest_job.stop(wait=wait)

    def logs(self, follow: bool = False, task: Optional[int] = None, tail: Optional[int] = None
             ) -> List[str]:
        """The lines of the latest job; follow=True waits until it has ended."""
        return list(self.latest_job.logs(follow=follow, task=task, tail=tail))

    def metrics(self, name: Optional[str] = None) -> List[MetricSeries]:
        """What the latest job has measured so far."""
        return self.latest_job.metrics(name)

    def model_data(self) -> str:
        """Where the model of the latest job is: a folder of this machine when it ran with
        instance_type="local", else a URI that is an input of further jobs and can be downloaded
        (trainyard.storage.download)."""
        job = self.latest_job.refresh()
        if job.status != TrainingJobStatus.Succeed:
            write_out("job %s is %s: its model may be missing or not whole\n"
                      % (job.id, job.status))
        return job.output_path("model")

    def checkpoints_data(self) -> str:
        return self.latest_job.refresh().output_path("checkpoints")

    def tensorboard_data(self) -> str:
        return self.latest_job.refresh().output_path("tensorboard")

    def logs_data(self) -> str:
        return self.latest_job.refresh().output_path("logs")

    def tensorboard(self, wait: bool = True) -> TensorBoard:
        """Starts a TensorBoard of the latest job's logs, or finds the one that runs; its address
        is ``.app_uri``, ``.delete()`` ends it.  One may have five at a time."""
        job = self.latest_job
        board = TensorBoard.of_job(job.id, job.session)
        return board.wait() if wait else board

    def create_model(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("a Trainyard trains models, it does not serve them: take the "
                                  "files at model_data() (trainyard.storage.download)")

    def deploy(self, *_: Any, **__: Any) -> None:
        self.create_model()
