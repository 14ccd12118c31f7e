# SPDX-License-Identifier: Apache-2.0
"""Guide 2, block by block, as a reader would follow it; see blocks.py for the repairs."""
import importlib.util
import io
import json
import os
import re
import ssl
import subprocess
import tarfile
import urllib.request
from contextlib import redirect_stdout
from pathlib import Path

import blocks
import pytest
import yards

from trainyard import Estimator
from trainyard.errors import NotFound
from trainyard.tensorboard import TensorBoard

LONG_S = 60
VARIABLE = re.compile(r'^(PAI_\w+)="?(.*?)"?$', re.M)
PROBE = """import json, os, sys
here = []
for top, folders, names in os.walk("/ml"):
    here += [os.path.join(top, n) for n in folders + names]
with open(os.path.join(os.environ["PAI_CONFIG_DIR"], "hyperparameters.json")) as f:
    file = json.load(f)
print(json.dumps({"argv": sys.argv[1:], "file": file, "here": here,
                  "env": {k: v for k, v in os.environ.items() if k.startswith("PAI_")}}))
"""


def block(word):
    """The text of a block, unrepaired, and its row."""
    texts, at = blocks.read_blocks(), [b.word for b in blocks.TABLE].index(word)
    return texts[at][1], blocks.TABLE[at]


def code(word, **values):
    text, row = block(word)
    return blocks.repaired(text, row.repairs, values)


def run(text, **names):
    """Executes a block; gives what it printed and the names it left."""
    out = io.StringIO()
    namespace = {"__name__": "guide", **names}
    with redirect_stdout(out):
        exec(compile(text, "guide", "exec"), namespace)
    return out.getvalue(), namespace


def values(world, **more):
    given = {"command": "python train.py", "source": "train_src", "image": "pytorch-cpu",
             "type": "ecs.c6.xlarge", "bucket": world.bucket if world else "oss://b",
             "local_bucket": world.bucket if world else "oss://b",
             "more": 'image_uri="pytorch-cpu", instance_type="ecs.c6.xlarge", '
                     'source_dir="train_src",'}
    given.update(more)
    return given


def train_src(script, **files):
    for name, text in dict(files, **{"train.py": script}).items():
        path = Path("train_src") / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def probe(logs):
    return json.loads([line for line in logs if line.startswith('{"argv"')][-1])


def url_line(world, out, job):
    """The address of the job's page, and that another one opens it."""
    yard = world.env["YARD_SERVER"] if world.name == "remote" else "http://127.0.0.1:"
    line = re.search(r"^job %s \(%s\): %s.*/apps/%s/\.yard/job\?ticket=[0-9a-z]+$" % (
        job.id, re.escape(job.name), re.escape(yard), job.id), out, re.M)
    status, page = look(job.console_uri)
    return line is not None and status == 200 and 'id="job"' in page


def test_every_block_of_the_guide_is_listed():
    found = blocks.read_blocks()
    assert [blocks.digest(text) for _, text in found] == [b.digest for b in blocks.TABLE]
    assert [b.word for b, (kind, _) in zip(blocks.TABLE, found) if kind == "python"] == [
        "overview", "script", "inputs", "images", "run", "tensorboard script", "tensorboard",
        "local", "PAI_HPS_ command", "PAI_USER_ARGS command"]


def test_only_the_listed_repairs_are_made():
    given = values(None, test_data="/x")
    for (kind, text), row in zip(blocks.read_blocks(), blocks.TABLE):
        if kind != "python":
            assert row.repairs == ()
            continue
        fixed = blocks.repaired(text, row.repairs, given)
        compile(fixed, row.word, "exec")
        if not row.repairs:
            assert fixed == text
        try:
            compile(text, row.word, "exec")
            broken = False
        except SyntaxError:
            broken = True
        assert broken == any(kind == "comma" for kind, _, _ in row.repairs), row.word


@pytest.mark.parametrize("repair", [
    ("name", "est.fit(", "est.run("), ("value", "est", "command"), ("comma", 1, None),
    ("imports", ("argparse; x",), None)], ids=lambda r: r[0])
def test_any_other_edit_fails(repair):
    with pytest.raises(AssertionError):
        blocks.repaired("est = Estimator(\n)\nest.fit()\n", [repair], values(None))


def test_overview(world):
    train_src("import os\nprint(sorted(os.listdir(os.environ['PAI_INPUT_TRAIN_DATA'])))\n"
              "print(os.environ['PAI_USER_ARGS'])\n")
    out, left = run(code("overview", **values(world)))
    job = left["est"].latest_job
    assert url_line(world, out, job) and "['x.csv']" in out
    assert "--n_estimators 500 --max_depth 5" in out
    assert out.splitlines()[-1] == "pfs:/jobs/%s/model/" % job.id


def test_script_and_inputs(world):
    train_src(code("script"))
    est = Estimator(command="python train.py; echo $PAI_INPUT_TRAIN $PAI_INPUT_TEST; "
                            "cat $PAI_INPUT_TRAIN; ls $PAI_INPUT_TEST",
                    source_dir="train_src", instance_type="ecs.c6.xlarge",
                    hyperparameters={"batch_size": 32, "learning_rate": 0.01})
    out, _ = run(code("inputs", **values(world)), estimator=est)
    assert "Hyperparameters:  {'batch_size': '32', 'learning_rate': '0.01'}" in out
    assert "/ml/input/data/train/train.csv /ml/input/data/test/\n" in out
    assert "1,2\na.csv\n" in out


def test_hyperparameters_json(world):
    printed = json.loads(block("hyperparameters.json")[0])
    printed["learning_rate"] = printed.pop("learning-rate")  # the guide's text has it right
    train_src(PROBE)
    est = Estimator(command="python train.py", source_dir="train_src",
                    instance_type="ecs.c6.xlarge",
                    hyperparameters={"batch_size": 32, "learning_rate": 0.01})
    est.fit(show_logs=False)
    assert probe(est.logs())["file"] == printed


def test_images(world):
    out, _ = run(code("images"))
    uris = out.splitlines()
    assert len(uris) >= 6 and "pytorch" in uris[0].lower()
    assert "tensorflow" in uris[-3] and ":2.3-cpu" in uris[-3]
    assert "tensorflow" in uris[-2] and ":2.12.0-gpu" in uris[-2]
    assert "pytorch" in uris[-1] and ":1.12-gpu" in uris[-1]


def test_run(world):
    if not yards.system_pip():
        pytest.skip("the system's Python has no pip")
    tree = block("requirements tree")[0]
    for name in re.findall(r"([\w.]+\.\w+) ", tree) + ["utils.py"]:
        assert name in ("requirements.txt", "train.py", "utils.py")
    wheel("train_src/wheels")
    train_src("import tinywheel, utils, os\nprint('needs', tinywheel.NAME, utils.X)\n"
              "open(os.path.join(os.environ['PAI_OUTPUT_MODEL'], 'm'), 'w').write('m')\n",
              **{"utils.py": "X = 7\n",
                 "requirements.txt": "--no-index\n--find-links wheels\ntinywheel\n"})
    out, left = run(code("run"))
    est = left["est"]
    job = est.latest_job
    assert re.match(r"example_train_job_\d{8}_\d{6}$", job.name)
    assert url_line(world, out, job) and "needs tiny 7\n" in out
    assert est.model_data() == "pfs:/jobs/%s/model/" % job.id


def test_code_in_a_bucket(world):
    """As the guide's comment says: oss://<YourOssBucket>/your-code-path-to/source.tar.gz"""
    if not world.oss:
        pytest.skip("no object store can be had here")
    path = world.oss.folder / "your-code-path-to" / "source.tar.gz"
    path.parent.mkdir(exist_ok=True)
    train_src("print('from a bucket')\n")
    with tarfile.open(path, "w:gz") as t:
        t.add("train_src", ".")
    est = Estimator(command="python train.py; echo m > $PAI_OUTPUT_MODEL/m",
                    source_dir=world.bucket + "/your-code-path-to/source.tar.gz",
                    instance_type="ecs.c6.xlarge", output_path=world.bucket + "/out-" + world.name)
    job = est.fit(show_logs=False)
    assert est.logs() == ["from a bucket"]
    assert est.model_data() == "%s/out-%s/%s/model/" % (world.bucket, world.name, job.name)
    where = world.oss.folder / ("out-" + world.name) / job.name / "model" / "m"
    assert where.read_text() == "m\n"


def wheel(folder):
    """A package that no index has."""
    import zipfile
    os.makedirs(folder)
    with zipfile.ZipFile(os.path.join(folder, "tinywheel-1.0-py3-none-any.whl"), "w") as z:
        z.writestr("tinywheel.py", "NAME = 'tiny'\n")
        z.writestr("tinywheel-1.0.dist-info/METADATA",
                   "Metadata-Version: 2.1\nName: tinywheel\nVersion: 1.0\n")
        z.writestr("tinywheel-1.0.dist-info/WHEEL",
                   "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr("tinywheel-1.0.dist-info/RECORD", "")


def writer_script():
    """Writes a scalar as the guide's script does, with no package but the SDK's one file."""
    events = (yards.ROOT / "sdk" / "python" / "trainyard" / "_events.py").read_text()
    return events + "\n\nEventFile(os.environ['PAI_OUTPUT_LOGS']).add('train/loss', 0.1, 1)\n"


def look(url):
    """What a browser would get, cookies and redirects included."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context),
                                         urllib.request.HTTPCookieProcessor())
    with opener.open(url, timeout=LONG_S) as answer:
        return answer.status, answer.read().decode("utf-8", "replace")


def test_tensorboard_script(world):
    """With the real torch and its writer, from packages on a NAS that the yard has mounted."""
    if world.name == "remote":
        pytest.skip("a NAS is read with the rights of an account of the machine, and ada has none")
    for package in ("torch", "tensorboard"):
        if importlib.util.find_spec(package) is None:
            pytest.skip("needs %s" % package)
    train_src(code("tensorboard script"))
    est = Estimator(command="PYTHONPATH=$PAI_INPUT_PACKAGES python -W ignore train.py",
                    source_dir="train_src", instance_spec={"cpu": "0.5", "memory": "1Gi"})
    est.fit(inputs={"packages": "nas://packages/"}, show_logs=False)
    (series,) = [s for s in est.metrics() if s.name == "train/loss"]
    assert (series.source, series.count, series.points[0].step) == ("tensorboard", 1, 1)
    assert abs(series.last - 0.1) < 1e-6
    other = est.latest_job.session._http.json("GET", "/jobs/%s/metrics" % est.latest_job.id)
    assert [o["name"] for o in other["other"]] == ["train/image"]


def test_tensorboard(world, monkeypatch):
    Path("train.py").write_text(writer_script())
    seen = []
    delete = TensorBoard.delete

    def look_and_delete(board):
        seen.append((board.id, board.job_id, look(board.app_uri) if board.app_uri else None))
        delete(board)

    monkeypatch.setattr(TensorBoard, "delete", look_and_delete)
    out, left = run(code("tensorboard", **values(world)), Estimator=Estimator)
    est = left["estimator"]
    est.wait(show_logs=False)
    (app, of, page), = seen
    assert of == est.latest_job.id
    if world.name == "remote":
        assert page[0] == 200 and "html" in page[1].lower()
        assert world.env["YARD_SERVER"] in out
    yards.until(lambda: left["tensorboard"].status == "ended")
    series = {s.name: s for s in est.metrics()}
    assert series["train/loss"].points[0].step == 1
    assert abs(series["train/loss"].last - 0.1) < 1e-6
    with pytest.raises(NotFound):
        est.latest_job.session._http.json("POST", "/jobs/99999999/tensorboard", value={})


def test_local(world, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "t.csv").write_text("9\n")
    Path("train.py").write_text(
        "import os\nprint(os.listdir(os.environ['PAI_INPUT_TRAIN']), "
        "os.listdir(os.environ['PAI_INPUT_TEST']))\n"
        "open(os.path.join(os.environ['PAI_OUTPUT_MODEL'], 'model.bin'), 'w').write('local')\n")
    out, left = run(code("local", **values(world, test_data=str(data))), Estimator=Estimator,
                    image_uri="pytorch-cpu")
    assert "['d.csv'] ['t.csv']" in out
    assert Path(out.splitlines()[-1], "model.bin").read_text() == "local"
    assert left["estimator"].latest_job.session.here


def test_variables_in_the_command(world):
    train_src(PROBE)
    _, left = run(code("PAI_HPS_ command", **values(world)), Estimator=Estimator)
    left["est"].fit(show_logs=False)
    assert probe(left["est"].logs())["argv"] == ["--epochs", "10", "--batch-size", "32"]
    _, left = run(code("PAI_USER_ARGS command", **values(world)), Estimator=Estimator)
    left["est"].fit(show_logs=False)
    assert probe(left["est"].logs())["argv"] == ["--epochs", "10", "--learning-rate", "0.001",
                                                 "--batch-size", "32"]


def printed(word):
    return dict(VARIABLE.findall(block(word)[0]))


def test_variables_are_as_printed(world):
    train_src(PROBE)

    def fit(hyperparameters, inputs=None):
        est = Estimator(command="python train.py", source_dir="train_src",
                        instance_type="ecs.c6.xlarge", hyperparameters=hyperparameters)
        est.fit(inputs=inputs, show_logs=False)
        return probe(est.logs())["env"]

    env = fit({"epochs": 10, "batch-size": 32, "train.learning_rate": 0.001})
    for word in ("PAI_HPS_ variables", "PAI_OUTPUT variables"):
        assert {k: env.get(k) for k in printed(word)} == printed(word)
    env = fit({"epochs": 10, "batch-size": 32, "learning-rate": 0.001})
    assert env["PAI_USER_ARGS"] == printed("PAI_USER_ARGS variable")["PAI_USER_ARGS"]
    # The guide prints bare numbers; the service itself, and so we, give every value as a text.
    want = json.loads(printed("PAI_HPS variable")["PAI_HPS"])
    env = fit({"epochs": 10, "batch-size": 32},
              {"train": world.bucket + "/path-to-data/", "test": one_file()})
    assert json.loads(env["PAI_HPS"]) == {k: str(v) for k, v in want.items()}
    assert {k: env.get(k) for k in printed("PAI_INPUT variables")} == printed("PAI_INPUT variables")


def one_file():
    Path("test.csv").write_text("1\n")
    return "test.csv"


def test_folders_are_as_drawn(world):
    train_src(PROBE, **{"requirements.txt": "\n"})
    Path("train.csv").write_text("1\n")
    est = Estimator(command="python train.py", source_dir="train_src",
                    instance_type="ecs.c6.xlarge")
    est.fit(inputs={"train_data": "train.csv", "test_data": one_file()}, show_logs=False)
    here = probe(est.logs())["here"]
    drawn = re.findall(r"^[ |`]*-- (\S+)", block("folders")[0], re.M)
    assert len(drawn) == 15
    for name in drawn:
        assert any(path.endswith("/" + name) for path in here), name
    assert "/ml/input/data/train_data/train.csv" in here and "/ml/usercode/train.py" in here


def test_the_guide_runs_as_a_script_of_one_s_own(world):
    """Without a word of ours in it: python -m trainyard.compat SCRIPT."""
    import sys
    train_src("print('trained')\n")
    Path("guide.py").write_text(code("overview", **values(world)))
    r = subprocess.run([sys.executable, "-m", "trainyard.compat", "guide.py"], check=True,
                       stdout=subprocess.PIPE, text=True, timeout=LONG_S,
                       env=dict(os.environ, PYTHONPATH=str(yards.ROOT / "sdk" / "python")))
    assert "trained" in r.stdout and "/model/" in r.stdout
