# SPDX-License-Identifier: Apache-2.0
"""What an estimator asks for, checked and as a job file."""
from __future__ import annotations

import json
import re
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from . import inputs as inputs_module
from .inputs import Channel
from .job import InstanceSpec
from .session import Session

if TYPE_CHECKING:
    from ._code import Code
    from .estimator import Estimator

JOB_TYPES = ("PyTorchJob", "TFJob", "XGBoostJob", "MPIJob")
NAME_MAX = 200
BOARD_MILLI = 500  # what a board takes
_SPEC_FIELDS = {"cpu": "cpu", "gpu": "gpu", "memory": "memory", "sharedmemory": "shared_memory",
                "gputype": "gpu_type"}


def plain_name(name: str) -> str:
    """A job's name has letters, digits and ``._-``; any other character becomes ``_``."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    if not re.match(r"[A-Za-z0-9]", plain):
        plain = "job" + plain
    return plain[:NAME_MAX]


def text_of(value: Any) -> str:
    """A hyperparameter as the contract has it: a text; what has parts as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def split_names(outputs: Union[None, Sequence[str], Mapping[str, Any]]) -> Dict[str, Optional[str]]:
    """Output channels to the URI where each is kept; None: in the job's storage."""
    found: Dict[str, Optional[str]] = {}
    if isinstance(outputs, Mapping):
        for name, value in outputs.items():
            if hasattr(value, "to_input_uri"):
                value = value.to_input_uri()
            if value is not None and not isinstance(value, str):
                raise ValueError("outputs['%s']: a URI is needed, not %r" % (name, value))
            if value:
                _check_target("outputs['%s']" % name, value)
            found[name] = _slash(value) if value else None
    elif isinstance(outputs, (list, tuple, set)):
        found = {name: None for name in outputs}
    elif outputs is not None:
        raise ValueError("outputs: a list of names or a dict of names to URIs is needed, not %r"
                         % (outputs,))
    inputs_module.check_names("outputs", list(found))
    return found


def _slash(uri: str) -> str:
    return uri if uri.endswith("/") else uri + "/"


def _check_target(what: str, uri: str) -> None:
    if uri.startswith("/"):
        return
    inputs_module.check_uri(what, uri)
    if inputs_module.scheme_of(uri) in ("http", "https"):
        raise ValueError("%s: outputs cannot be kept at %s" % (what, uri))


def _memory(value: Any) -> str:
    """A bare number is GiB, as instance_spec's have always been."""
    text = str(value).strip()
    return text + "Gi" if re.match(r"\d+(\.\d+)?$", text) else text


def instance_spec(given: Any) -> InstanceSpec:
    if isinstance(given, InstanceSpec):
        return given
    if isinstance(given, Mapping):
        items = dict(given)
    else:
        items = {k: getattr(given, k) for k in InstanceSpec._fields if hasattr(given, k)}
        if not items:
            raise ValueError("instance_spec: an InstanceSpec or a dict is needed, not %r"
                             % (given,))
    fields: Dict[str, Any] = {}
    for key, value in items.items():
        name = _SPEC_FIELDS.get(str(key).lower().replace("_", ""))
        if name is None:
            raise ValueError("instance_spec: there is no '%s'; there are cpu, memory, gpu, "
                             "shared_memory and gpu_type" % key)
        fields[name] = value
    return InstanceSpec(**fields)


def _texts(what: str, given: Mapping[str, Any]) -> None:
    for key in given:
        if not isinstance(key, str) or not key:
            raise ValueError("%s: %r is not a name" % (what, key))


def local_milli(machine: int, boards: int) -> int:
    """Cores of a local job, beside the boards that run and one more: a job that wants what they
    hold would wait for hours."""
    return max(machine - BOARD_MILLI * (boards + 1), machine // (2 if boards < 2 else 4))


def names(what: str, given: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """A copy of a dict that may be missing."""
    if given is not None and not isinstance(given, Mapping):
        raise ValueError("%s: a dict of names and values is needed, not %r" % (what, given))
    return dict(given or {})


def _check_code(e: "Estimator") -> None:
    if e.command is None and e.entry_point is None:
        raise ValueError("command: what shall the job do? Give command or entry_point")
    if e.command is not None and e.entry_point is not None:
        raise ValueError("give either command or entry_point, not both")
    if e.command is not None and not isinstance(e.command, str) and \
            not all(isinstance(a, str) for a in e.command):
        raise ValueError("command: a text, or a list of texts, is needed")
    if e.command is not None and not e.command:
        raise ValueError("command: it is empty")


def _check_metrics(definitions: List[Mapping[str, str]]) -> None:
    for d in definitions:
        if not isinstance(d, Mapping) or not d.get("Name") or not d.get("Regex"):
            raise ValueError("metric_definitions: each is {'Name': …, 'Regex': …}, not %r" % (d,))
        try:
            groups = re.compile(d["Regex"]).groups
        except re.error as err:
            raise ValueError("metric_definitions: %s: '%s' is not a regular expression: %s"
                             % (d["Name"], d["Regex"], err)) from err
        if groups != 1:
            raise ValueError("metric_definitions: %s: '%s' has %d groups; exactly one is needed, "
                             "around the number" % (d["Name"], d["Regex"], groups))


def check(e: "Estimator", without_meaning: Mapping[str, Any]) -> None:
    """Everything that can be told without a server."""
    _check_code(e)
    if e.instance_spec is not None:
        instance_spec(e.instance_spec)
    if isinstance(e.instance_count, bool) or not isinstance(e.instance_count, int) or \
            e.instance_count < 1:
        raise ValueError("instance_count: a whole number from 1 is needed, not %r"
                         % (e.instance_count,))
    if e.max_run_time is not None and (isinstance(e.max_run_time, bool) or
                                       not isinstance(e.max_run_time, (int, float)) or
                                       not e.max_run_time > 0):
        raise ValueError("max_run_time: seconds, more than 0, are needed, not %r"
                         % (e.max_run_time,))
    for what, uri in (("output_path", e.output_path), ("checkpoints_path", e.checkpoints_path)):
        if uri:
            _check_target(what, uri)
    _texts("hyperparameters", e.hyperparameters)
    _texts("environments", e.environments)
    _texts("labels", e.labels)
    _check_metrics(e.metric_definitions)
    priority = e.settings.get("Priority")
    if priority is not None and (isinstance(priority, bool) or not isinstance(priority, int)):
        raise ValueError("settings: Priority is a whole number, not %r" % (priority,))
    _tell_unused(e, without_meaning)


def _tell_same(names: List[str]) -> None:
    """Two hyperparameters that are one variable: the file and the arguments still have both."""
    seen: Dict[str, str] = {}
    for name in names:
        other = seen.setdefault(inputs_module.escaped(name), name)
        if other != name:
            warnings.warn("hyperparameters: '%s' and '%s' are both the variable PAI_HPS_%s, which "
                          "has the value of one" % (other, name, inputs_module.escaped(name)),
                          stacklevel=4)


def _tell_unused(e: "Estimator", without_meaning: Mapping[str, Any]) -> None:
    unused = sorted(k for k, v in without_meaning.items() if v is not None)
    if without_meaning:
        _tell_same(list(e.hyperparameters))
        unused += sorted("settings[%r]" % k for k in e.settings if k != "Priority")
        if e.job_type == "MPIJob" or (e.job_type and e.job_type not in JOB_TYPES):
            unused.append("job_type %s" % e.job_type)
    if unused:
        warnings.warn("Estimator: %s: without meaning for a Trainyard, not used"
                      % ", ".join(unused), stacklevel=4)


class Ask:
    """One job file: what is known before anything was uploaded, and then all of it."""

    def __init__(self, e: "Estimator", session: Session, name: str, channels: List[Channel],
                 outputs: Dict[str, Optional[str]]) -> None:
        self.e, self.session, self.name = e, session, name
        self.channels, self.outputs = channels, outputs

    def _resources(self) -> Optional[Dict[str, Any]]:
        e = self.e
        if e.instance_type and not e.local:
            return _of_type(self.session.instance_type(e.instance_type))
        if e.instance_spec is not None:
            return self._of_spec(instance_spec(e.instance_spec))
        return self._of_machine() if e.local else None

    @staticmethod
    def _of_spec(s: InstanceSpec) -> Dict[str, Any]:
        resources: Dict[str, Any] = {}
        if s.cpu is not None:
            resources["cpu"] = s.cpu
        if s.memory is not None:
            resources["memory"] = _memory(s.memory)
        if s.shared_memory is not None:
            resources["shm"] = _memory(s.shared_memory)
        if s.gpu is not None and float(s.gpu) > 0:
            kind = "gpu:%s" % s.gpu_type if s.gpu_type else "gpu"
            resources["devices"] = {kind: float(s.gpu) if float(s.gpu) % 1 else int(float(s.gpu))}
        return resources

    def _of_machine(self) -> Dict[str, Any]:
        """Nearly all of it, among all instances: as fast as without a yard, and a board still
        finds room.  Who wants several jobs at a time says how much each gets: instance_spec."""
        node = max(self.session.nodes(), key=lambda n: int(n["capacity"]["cpu_milli"]))
        has, n = node["capacity"], self.e.instance_count
        boards = sum(a["kind"] == "tensorboard" and a["state"] != "ended" and
                     (a["served_by"] == "task" or a["state"] == "starting")
                     for a in self.session._http.json("GET", "/apps")["apps"])
        milli = local_milli(int(has["cpu_milli"]), boards)
        resources: Dict[str, Any] = {"cpu": "%dm" % (milli // n),
                                     "memory": int(has["memory_bytes"]) * 3 // 4 // n}
        if self.e.instance_type == "local_gpu":
            gpus = sum(int(c) for kind, c in (has.get("devices") or {}).items()
                       if kind.split(":")[0] == "gpu")
            if gpus < n:
                raise ValueError("instance_type local_gpu: this machine has %d GPUs, and "
                                 "instance_count is %d" % (gpus, n))
            resources["devices"] = {"gpu": gpus // n}
        return resources

    def _outputs(self) -> Dict[str, Optional[str]]:
        found: Dict[str, Optional[str]] = {"model": None, "checkpoints": None, "logs": None}
        if self.e.output_path:
            base = _slash(self.e.output_path) + self.name + "/"
            found = {name: base + name + "/" for name in found}
        if self.e.checkpoints_path:
            found["checkpoints"] = _slash(self.e.checkpoints_path)
        for name, uri in self.outputs.items():
            if name == "tensorboard" and "tensorboard" not in found:
                name = "logs"  # one folder by two names
            found[name] = uri or found.get(name)
        return found

    def spec(self) -> Dict[str, Any]:
        """Without code and without what is still to be uploaded."""
        e = self.e
        spec: Dict[str, Any] = {
            "name": self.name, "contract": "estimator", "count": e.instance_count,
            "outputs": self._outputs(),
            "hyperparameters": {k: text_of(v) for k, v in e.hyperparameters.items()},
            "env": {k: text_of(v) for k, v in e.environments.items()},
            "labels": {k: text_of(v) for k, v in e.labels.items()},
            "requirements": list(e.requirements) or None,
            "metrics": [{"name": d["Name"], "pattern": d["Regex"]}
                        for d in e.metric_definitions] or None,
            "command": self._command(), "image": e.image_uri or None,
            "resources": self._resources(),
            "time-limit": "%dms" % int(e.max_run_time * 1000) if e.max_run_time else None,
            "priority": e.settings.get("Priority"), "group": e.resource_id or None,
            "preemptible": True if e.spot_spec else None,
            "inputs": {c.name: c.uri or inputs_module.in_place(c.local or "")
                       for c in self.channels if c.uri or self.session.here},
        }
        return {k: v for k, v in spec.items() if v is not None and v != {}}

    def _command(self) -> Any:
        from ._code import command_of
        e = self.e
        if e.entry_point is not None:
            return command_of(e.entry_point, bool(e.source_dir or e.git_config))
        return e.command if isinstance(e.command, str) else list(e.command or ())

    def complete(self, spec: Dict[str, Any], code: "Code") -> Dict[str, Any]:
        """Uploads what is missing; gives the job file with its code and all inputs."""
        whole = dict(spec)
        snapshot = code.send(self.session)
        if snapshot:
            whole["code"] = snapshot
        sent = {c.name: inputs_module.send(self.session, c.local) for c in self.channels
                if c.local and not self.session.here}
        if sent:
            given = dict(whole.get("inputs") or {})
            whole["inputs"] = {c.name: sent.get(c.name) or given[c.name] for c in self.channels}
        return whole


def _of_type(t: Mapping[str, Any]) -> Dict[str, Any]:
    resources: Dict[str, Any] = {"cpu": "%dm" % t["cpu_milli"], "memory": t["memory_bytes"]}
    devices = {k: v for k, v in (t.get("devices") or {}).items() if v}
    if devices:
        resources["devices"] = devices
    return resources
