# SPDX-License-Identifier: Apache-2.0
"""The estimator against a real yard: what it checks, sends, prints, raises and gives back."""
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import ROOT, job_json, until, write_files

from trainyard import Estimator, TrainingJob, UnexpectedStatusException
from trainyard._ask import local_milli
from trainyard.errors import ApiError, YardError
from trainyard.job import InstanceSpec

SMALL = {"cpu": "0.2", "memory": "256Mi"}
PROBE = """import json, os, sys
keep = ("PAI_", "YARD_", "MASTER_", "RANK", "WORLD_SIZE", "MINE")
print(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "files": sorted(os.listdir(".")),
                  "env": {k: v for k, v in os.environ.items() if k.startswith(keep)}}))
"""


def estimator(**more):
    given = {"instance_spec": SMALL, "command": "true"}
    given.update(more)
    if "entry_point" in more:
        del given["command"]
    return Estimator(**given)


def test_a_job_is_named_by_its_base_and_the_time(yard, capsys):
    job = estimator(base_job_name="example_train_job").fit()
    assert re.match(r"example_train_job_\d{8}_\d{6}$", job.name)
    assert re.match(r"estimator_\d{8}_\d{6}$", estimator().fit().name)
    assert estimator().fit(job_name="mine").name == "mine"
    assert estimator(base_job_name="a b/ü!").fit(wait=False).name.startswith("a_b___")
    out = capsys.readouterr().out
    assert re.search(r"^job %s \(%s\): http://127.0.0.1:\d+/apps/%s/\.yard/job\?ticket=\w+$"
                     % (job.id, job.name, job.id), out, re.M)
    assert "has succeeded" in out


def test_code_inputs_outputs_and_hyperparameters_arrive(yard, tmp_path, capsys):
    write_files("src", {"probe.py": PROBE, "utils.py": ""})
    write_files(tmp_path, {"data/x.csv": "1", "one.csv": "2"})
    est = estimator(
        command="python3 probe.py $PAI_USER_ARGS && echo m > $PAI_OUTPUT_MODEL/m && "
                "echo c > $PAI_OUTPUT_CHECKPOINTS/c && cat $PAI_INPUT_TEST",
        source_dir="src", hyperparameters={"epochs": 10, "lr": 0.001, "flag": True, "l": [1, "a"]},
        environments={"MINE": "a b"})
    est.fit(inputs={"train": tmp_path / "data", "test": str(tmp_path / "one.csv")})
    said = job_json(est.logs())
    env = said["env"]
    assert said["argv"] == ["--epochs", "10", "--lr", "0.001", "--flag", "True", "--l", '[1, "a"]']
    assert said["cwd"] == "/ml/usercode" and said["files"] == ["probe.py", "utils.py"]
    assert env["PAI_INPUT_TRAIN"] == "/ml/input/data/train/"
    assert env["PAI_INPUT_TEST"] == "/ml/input/data/test/one.csv"
    assert env["PAI_HPS_LR"] == "0.001" and env["MINE"] == "a b"
    assert est.logs()[-1] == "2"
    capsys.readouterr()


def test_a_local_job_s_outputs_are_folders_here(yard):
    est = Estimator(command="echo m > $PAI_OUTPUT_MODEL/m; echo c > $PAI_OUTPUT_CHECKPOINTS/c; "
                            "echo t > $PAI_OUTPUT_LOGS/t; echo x > $PAI_OUTPUT_EXTRA/x",
                    instance_type="local")
    est.fit(outputs=["extra"])
    assert Path(est.model_data(), "m").read_text() == "m\n"
    assert Path(est.checkpoints_data(), "c").read_text() == "c\n"
    assert Path(est.tensorboard_data(), "t").read_text() == "t\n"
    assert est.logs_data() == est.tensorboard_data()
    assert Path(est.latest_job.output_path("extra"), "x").read_text() == "x\n"
    with pytest.raises(YardError, match="no output 'nope'; it has: .*model"):
        est.latest_job.output_path("nope")


def test_another_job_s_model_is_a_uri_and_an_input(yard):
    first = estimator(command="echo m > $PAI_OUTPUT_MODEL/m")
    first.fit()
    assert first.model_data() == "pfs:/jobs/%s/model/" % first.latest_job.id
    second = estimator(command="cat $PAI_INPUT_PRETRAINED/m")
    second.fit(inputs={"pretrained": first.model_data()})
    assert second.logs() == ["m"]


def test_entry_points_are_begun(yard):
    write_files("src", {"train.py": "print('py')", "run.sh": "echo sh",
                        "prog": "#!/bin/sh\necho p"})
    os.chmod("src/prog", 0o755)
    for name, said in (("train.py", "py"), ("run.sh", "sh"), ("prog", "p")):
        est = estimator(entry_point=name, source_dir="src")
        est.fit(show_logs=False)
        assert est.logs() == [said]
    write_files("elsewhere", {"alone it.py": "import os; print(sorted(os.listdir('.')))"})
    est = estimator(entry_point="elsewhere/alone it.py")
    est.fit(show_logs=False)
    assert est.logs() == ["['alone it.py']"]


@pytest.mark.parametrize("given,words", [
    ({"command": None}, "what shall the job do"),
    ({"command": "x", "source_dir": "no-such-dir"}, "source_dir: there is no"),
    ({"command": "x", "instance_count": 0}, "instance_count"),
    ({"command": "x", "max_run_time": 0}, "max_run_time"),
    ({"command": "x", "max_run_time": "1h"}, "max_run_time: seconds"),
    ({"command": "x", "hyperparameters": [1]}, "hyperparameters: a dict"),
    ({"command": "x", "environments": "A=1"}, "environments: a dict"),
    ({"command": "x", "output_path": "ftp://x"}, "output_path"),
    ({"command": "x", "metric_definitions": [{"Name": "a", "Regex": "b"}]}, "0 groups"),
    ({"command": "x", "metric_definitions": [{"Name": "a", "Regex": "("}]}, "regular expression"),
    ({"command": "x", "instance_spec": {"cpus": 1}}, "no 'cpus'"),
    ({"command": "x", "settings": {"Priority": "high"}}, "Priority"),
    ({"command": "x", "git_config": {"branch": "b"}}, "'repo' is missing"),
    ({"command": "x", "source_dir": "~"}, "home folder"),
])
def test_what_is_wrong_is_told_before_anything_is_sent(yard, cutter, monkeypatch, given, words):
    c = cutter(None)
    monkeypatch.setenv("YARD_SERVER", "unix://" + c.path)
    with pytest.raises(ValueError, match=words):
        Estimator(**{"instance_spec": SMALL, **given}).fit()
    assert c.requests == []


@pytest.mark.parametrize("cores", [1, 2, 4, 64])
def test_a_local_job_fits_beside_the_boards_that_run(cores):
    assert local_milli(1000 * cores, 0) == 1000 * cores - 500
    for boards in range(6):
        free = 1000 * cores - 500 * boards
        if free >= 500:
            assert 0 < local_milli(1000 * cores, boards) <= free, boards


@pytest.mark.parametrize("inputs,words", [
    ({"a": "no/such/path"}, "neither a path"), ({"a": "odps://p/tables/t"}, "MaxCompute"),
    ({"a/b": "/"}, "not a name"), ({"a-b": "/", "a.b": "/"}, "both be the variable"),
    ({"a": 5}, "a URI or a path"), (["x"], "a dict"), ({"a": "d-0123"}, "neither a path"),
    ({"a": "gopher://x"}, "neither a path"),
])
def test_inputs_are_checked(yard, inputs, words):
    with pytest.raises(ValueError, match=words):
        estimator().fit(inputs=inputs)


def test_what_the_server_refuses_is_told_before_the_upload(yard, cutter, monkeypatch):
    write_files("src", {"x.py": os.urandom(8).hex()})
    c = cutter(None)
    monkeypatch.setenv("YARD_SERVER", "unix://" + c.path)
    with pytest.raises(ApiError) as e:
        Estimator(command="x", source_dir="src", instance_spec={"cpu": "many"}).fit()
    assert e.value.field and "cpu" in e.value.field
    with pytest.raises(ValueError, match="instance_type: this yard has no 'huge.1'; it has"):
        Estimator(command="x", source_dir="src", instance_type="huge.1").fit()
    assert not [r for r in c.requests if "/code/" in r]


def test_code_is_sent_once(yard, cutter, monkeypatch):
    write_files("src", {"x.py": os.urandom(8).hex()})
    c = cutter(None)
    monkeypatch.setenv("YARD_SERVER", "unix://" + c.path)
    for _ in range(2):
        estimator(source_dir="src").fit(show_logs=False)
    assert len([r for r in c.requests if r.startswith("PUT /yard/v1/code/")]) == 1


def test_a_failure_says_why(yard, capsys):
    est = estimator(command="for i in $(seq 30); do echo line $i; done; echo 'Boom: x' >&2; exit 3")
    with pytest.raises(UnexpectedStatusException) as e:
        est.fit()
    err = e.value
    assert (err.status, err.exit_code, err.signal, err.out_of_memory) == ("Failed", 3, None, False)
    assert err.log_tail[-1] == "Boom: x" and "line 30" in err.log_tail
    assert len(err.log_tail) <= 20
    assert "exit code 3" in str(err) and "Boom: x" in str(err)
    assert err.job_id == est.latest_job.id and err.reason == "exit code 3"
    assert "line 1\n" in capsys.readouterr().out


def test_a_signal_and_a_lack_of_memory_are_told(yard):
    with pytest.raises(UnexpectedStatusException) as e:
        estimator(command="kill -SEGV $$").fit()
    assert e.value.signal == signal.SIGSEGV and e.value.exit_code is None
    hog = "python3 -c 'x = bytearray(1 << 30)'"
    with pytest.raises(UnexpectedStatusException) as e:
        estimator(command=hog, instance_spec={"cpu": "0.2", "memory": "128Mi"}).fit()
    if e.value.signal is None and e.value.exit_code is None:  # where memory can be limited
        assert e.value.out_of_memory and "memory" in str(e.value)


def test_a_stopped_job_is_no_failure(yard, capsys):
    est = estimator(command="echo begun; sleep 600")
    job = est.fit(wait=False)
    until(lambda: "begun" in est.logs())
    est.stop()
    est.wait()
    assert job.status == "Terminated"
    assert "job %s (%s) was stopped" % (job.id, job.name) in capsys.readouterr().out


def test_a_time_limit_stops(yard, capsys):
    est = estimator(command="echo c > $PAI_OUTPUT_CHECKPOINTS/c; sleep 600", max_run_time=1)
    job = est.fit()
    assert job.status == "Terminated" and "was stopped" in capsys.readouterr().out
    assert est.checkpoints_data()


def test_fit_ends_the_moment_the_job_ends(yard):
    began = time.monotonic()
    job = estimator(command="sleep 0.3").fit()
    ended_ms = job.describe()["ended_ms"]
    assert time.time() * 1000 - ended_ms < 5000
    assert time.monotonic() - began < 30


def test_ctrl_c_leaves_the_job_and_says_so(yard, tmp_path):
    script = ("from trainyard import Estimator\n"
              "Estimator(command='echo ready; sleep 600', instance_spec=%r).fit()\n" % (SMALL,))
    p = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True,
                         env=dict(os.environ, PYTHONPATH=str(ROOT / "sdk" / "python")))
    said = ""
    while "ready" not in said:
        line = p.stdout.readline()
        assert line, said
        said += line
    p.send_signal(signal.SIGINT)
    rest, _ = p.communicate(timeout=60)
    assert "goes on; stop it by" in rest and "KeyboardInterrupt" in rest
    job = TrainingJob.get(re.search(r"job (\d+)", said).group(1))
    assert job.status == "Running"
    job.stop(wait=True)


def test_one_can_attach(yard, capsys):
    job = estimator(command="echo hello; sleep 0.5; echo m > $PAI_OUTPUT_MODEL/m",
                    hyperparameters={"a": 1}).fit(wait=False)
    est = Estimator.attach(job.id)
    est.wait()
    assert est.logs() == ["hello"] and est.hyperparameters == {"a": "1"}
    assert Path(est.model_data(), "m").exists()
    assert "hello\n" in capsys.readouterr().out


def test_all_jobs_are_waited_for(yard, capsys):
    est = estimator(command="exit $PAI_HPS_CODE")
    for code in (0, 1, 0):
        est.set_hyperparameters(code=code)
        est.fit(wait=False)
    with pytest.raises(UnexpectedStatusException):
        est.wait(all_jobs=True)
    table = capsys.readouterr().out
    assert [j.status for j in est.jobs] == ["Succeed", "Failed", "Succeed"]
    assert table.count("Succeed") == 2 and est.latest_job is est.jobs[-1]
    with pytest.raises(RuntimeError, match="fit"):
        _ = estimator().latest_job


def test_several_instances_run_together(yard, capsys):
    est = Estimator(command='echo "$RANK of $WORLD_SIZE at $MASTER_ADDR"', instance_type="local",
                    instance_count=2)
    est.fit()
    out = sorted(line for line in est.logs())
    assert re.match(r"\[0\] 0 of 2 at \S+$", out[0]) and re.match(r"\[1\] 1 of 2 at \S+$", out[1])
    assert "[1] 1 of 2" in capsys.readouterr().out


def test_threads_fit_side_by_side(yard):
    write_files("src", {"x.py": "print('x')"})
    est = estimator(command="python3 x.py; echo $PAI_HPS_N", source_dir="src",
                    instance_spec={"cpu": "0.1", "memory": "64Mi"})
    failed, jobs = [], []

    def fit():
        try:
            jobs.append(est.fit(show_logs=False, wait=False))
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=fit) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed and len({j.id for j in jobs}) == 6
    for j in jobs:
        j.wait(show_logs=False)


def test_what_is_asked_for_is_in_the_job_file(yard):
    job = estimator(labels={"team": "vision"}, settings={"Priority": 7}, max_run_time=90,
                    spot_spec={"SpotStrategy": "SpotAsPriceGo"},
                    metric_definitions=[{"Name": "loss", "Regex": r"loss=([0-9.]+)"}],
                    instance_spec=InstanceSpec(cpu=1, memory="0.25", shared_memory="64Mi")
                    ).fit(wait=False)
    spec = job.spec
    role = spec["roles"][0]
    assert (spec["priority"], spec["labels"], spec["time-limit"], spec["preemptible"]) == \
        (7, {"team": "vision"}, "90s", True)
    assert role["resources"]["memory"] == "256Mi" and role["resources"]["shm"] == "64Mi"
    assert spec["metrics"] == [{"name": "loss", "pattern": r"loss=([0-9.]+)"}]
    assert spec["contract"] == "estimator"


def test_what_means_nothing_here_is_told_in_one_warning():
    with pytest.warns(UserWarning, match="experiment_config, resource_type, user_vpc_config, "
                                         r"settings\['AIMasterType'\], job_type MPIJob") as w:
        Estimator(command="x", resource_type="General", user_vpc_config={"vpc": 1},
                  experiment_config={"e": 1}, settings={"AIMasterType": "x"}, job_type="MPIJob")
    assert len(w) == 1


def test_two_names_of_one_variable_are_told():
    with pytest.warns(UserWarning, match="'a-b' and 'a.b' are both the variable PAI_HPS_A_B"):
        Estimator(command="x", hyperparameters={"a-b": 1, "a.b": 2})


def test_what_a_job_waits_for_is_told(yard, capsys):
    blocker = estimator(command="sleep 600", instance_type="local", instance_spec=None)
    jobs = [blocker.fit(wait=False)]  # it has nearly all of the machine
    waiting = Estimator(command="echo at last", instance_type="local")
    t = threading.Thread(target=waiting.fit)
    t.start()
    said = ""
    end = time.monotonic() + 60
    while "waits: " not in said and time.monotonic() < end:
        said += capsys.readouterr().out
        time.sleep(0.05)
    for job in jobs:
        job.stop(wait=True)
    t.join(60)
    said += capsys.readouterr().out
    assert re.search(r"job \d+ waits: \S", said) and "at last" in said


def test_outputs_that_one_may_not_read_are_brought_here(yard, monkeypatch):
    est = Estimator(command="mkdir $PAI_OUTPUT_MODEL/d; echo m > $PAI_OUTPUT_MODEL/d/m",
                    instance_type="local")
    est.fit(show_logs=False)
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode, **more:
                        not str(path).startswith(str(yard.state)) and access(path, mode, **more))
    folder = est.model_data()
    assert folder.startswith(os.environ["XDG_CACHE_HOME"])
    assert Path(folder, "d", "m").read_text() == "m\n"


def test_models_are_not_served():
    with pytest.raises(NotImplementedError, match="does not serve"):
        Estimator(command="x").deploy(service_name="s")


def test_git_is_a_source(yard, tmp_path):
    repo = tmp_path / "repo"
    write_files(repo, {"src/train.py": "print('one')"})

    def git(*args):
        subprocess.run(["git", "-C", str(repo), "-c", "user.name=t", "-c", "user.email=t@t", *args],
                       check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "one")
    one = subprocess.run(["git", "-C", str(repo), "rev-parse", "HEAD"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout.strip()
    write_files(repo, {"src/train.py": "print('two')"})
    git("commit", "-qam", "two")
    for config, said in (({}, "two"), ({"branch": "main"}, "two"), ({"commit": one}, "one")):
        est = estimator(entry_point="train.py", source_dir="src",
                        git_config={"repo": "file://%s" % repo, **config})
        est.fit(show_logs=False)
        assert est.logs() == [said]
    with pytest.raises(YardError, match="git failed"):
        estimator(git_config={"repo": "file:///no/such/repo"}).fit()


def test_jobs_are_listed_and_found(yard):
    est = estimator(command="exit 1", labels={"find": "me"})
    with pytest.raises(UnexpectedStatusException):
        est.fit(job_name="listed")
    estimator(labels={"find": "me"}).fit(job_name="listed")
    found = TrainingJob.list(label="find=me")
    assert [j.status for j in found] == ["Succeed", "Failed"]
    assert [j.id for j in TrainingJob.list(status="Failed", label="find=me")] == [found[1].id]
    assert [j.id for j in TrainingJob.list(label="find=me", page_size=1, page_number=2)] == \
        [found[1].id]
    assert TrainingJob.get("listed").id == found[0].id
    assert [e["kind"] for e in found[0].events()][0] == "submitted"
    found[1].delete()
    assert len(TrainingJob.list(label="find=me")) == 1
    with pytest.raises(ValueError, match="none of"):
        TrainingJob.list(status="Done")


def test_compat_runs_a_script_unchanged(yard, tmp_path):
    write_files("train_src", {"train.py": "print('trained')"})
    Path("script.py").write_text(
        "from pai.estimator import Estimator\nfrom pai.image import retrieve, list_images, "
        "ImageScope\nfrom pai.session import setup_default_session, get_default_session\n"
        "import sys\nassert sys.argv == ['script.py', 'a']\n"
        "est = Estimator(command='python3 train.py', source_dir='train_src', "
        "instance_type='local')\nest.fit()\nprint(est.model_data())\n")
    r = subprocess.run([sys.executable, "-m", "trainyard.compat", "script.py", "a"], check=True,
                       stdout=subprocess.PIPE, text=True,
                       env=dict(os.environ, PYTHONPATH=str(ROOT / "sdk" / "python")))
    lines = r.stdout.splitlines()
    assert "trained" in lines and os.path.isdir(lines[-1])


def test_compat_leaves_the_vendor_s_package_alone(tmp_path):
    write_files(tmp_path, {"pai/__init__.py": "", "pai/estimator.py": "Estimator = 'theirs'"})
    code = ("import trainyard.compat as c; from pai.estimator import Estimator; "
            "print(Estimator, c.active())")
    r = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True,
                       env=dict(os.environ, PYTHONPATH="%s:%s" % (tmp_path,
                                                                  ROOT / "sdk" / "python")))
    assert r.stdout == "theirs False\n"


def test_code_may_lie_in_storage(yard, tmp_path):
    import tarfile
    from trainyard import storage
    write_files(tmp_path / "c", {"train.py": "import utils", "utils.py": "print('from storage')"})
    with tarfile.open(tmp_path / "source.tar.gz", "w:gz") as t:
        t.add(tmp_path / "c", ".")
    archive = storage.upload(tmp_path / "source.tar.gz", "pfs:code/source.tar.gz")
    folder = storage.upload(tmp_path / "c", "pfs:code/folder")
    for source in (archive, folder, str(tmp_path / "source.tar.gz")):
        est = estimator(command="python3 train.py", source_dir=source)
        est.fit(show_logs=False)
        assert est.logs() == ["from storage"], source


def test_outputs_go_where_they_are_asked_to(yard):
    from trainyard import storage
    est = estimator(command="echo c >> $PAI_OUTPUT_CHECKPOINTS/c; cat $PAI_OUTPUT_CHECKPOINTS/c; "
                            "echo m > $PAI_OUTPUT_MODEL/m; echo x > $PAI_OUTPUT_EXTRA/x",
                    checkpoints_path="pfs:runs/ck", output_path="pfs:runs/out")
    job = est.fit(outputs={"extra": "pfs:runs/extra"}, show_logs=False)
    assert est.checkpoints_data() == "pfs:runs/ck/"
    assert est.model_data() == "pfs:runs/out/%s/model/" % job.name
    assert storage.read(est.model_data() + "m") == b"m\n"
    assert storage.read("pfs:runs/extra/x") == b"x\n"
    again = estimator(command=est.command, checkpoints_path="pfs:runs/ck")
    again.fit(outputs=["extra"], show_logs=False)
    assert again.logs() == ["c", "c"], "a later job finds the checkpoints of an earlier one"


def test_requirements_are_installed_first(yard, tmp_path):
    import zipfile
    from yards import system_pip
    if not system_pip():
        pytest.skip("the system's Python has no pip")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for version in ("1.0", "2.0"):
        info = "tinywheel-%s.dist-info/" % version
        with zipfile.ZipFile(wheels / ("tinywheel-%s-py3-none-any.whl" % version), "w") as z:
            z.writestr("tinywheel.py", "V = '%s'\n" % version)
            z.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: tinywheel\nVersion: %s\n"
                       % version)
            z.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\n"
                       "Tag: py3-none-any\n")
            z.writestr(info + "RECORD", "")
    write_files("src", {"requirements.txt": "tinywheel\n",
                        "train.py": "import tinywheel; print(tinywheel.V)"})
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/ml/input/data/wheels"}
    est = estimator(entry_point="train.py", source_dir="src", environments=pip)
    est.fit(inputs={"wheels": wheels}, show_logs=False)
    assert est.logs()[-1] == "2.0"
    est = estimator(entry_point="train.py", source_dir="src", environments=pip,
                    requirements=["tinywheel==1.0"])
    est.fit(inputs={"wheels": wheels}, show_logs=False)
    assert est.logs()[-1] == "1.0", "what the estimator says wins"
    est = estimator(entry_point="train.py", source_dir="src", environments=pip,
                    requirements=["no-such-package==9"])
    with pytest.raises(UnexpectedStatusException) as e:
        est.fit(inputs={"wheels": wheels}, show_logs=False)
    assert e.value.status == "InitializeFailed" and "requirements" in e.value.reason.lower()
    assert any("no-such-package" in line for line in e.value.log_tail)
