# SPDX-License-Identifier: Apache-2.0
"""Names and values of hyperparameters, whatever they hold, reach a real job unharmed."""
import json
import random
import re

from conftest import job_json, write_files

from trainyard import Estimator
from trainyard.inputs import escaped

SMALL = {"cpu": "0.2", "memory": "256Mi"}
PROBE = """import json, os, sys
with open(os.path.join(os.environ["PAI_CONFIG_DIR"], "hyperparameters.json")) as f:
    file = json.load(f)
print(json.dumps({"argv": sys.argv[1:], "env": {k: v for k, v in os.environ.items()
                  if k.startswith("PAI_")}, "file": file}))
"""
HARD = ["", " ", "a b", "'", '"', "\\", "$HOME", "`id`", "$(id)", ";id", "&& id", "| id", "> x",
        "*", "?", "~", "#x", "!!", "a\nb", "\t", "{a,b}", "--flag", "-", "%s %n", "é 中文 \U0001f600",
        "\u00a0", "a=b", "[1]", "(x)", "<y>", "\\n", "''", "'\\''", "x" * 3000, "\x7f", "\r"]
ALPHABET = "ab C01_.-'\"\\$`;&|<>*?~#!(){}[]=%,:/@^+é中\U0001f600\n\t "


def fit(hyperparameters):
    write_files("src", {"probe.py": PROBE})
    est = Estimator(command="python3 probe.py $PAI_USER_ARGS", source_dir="src",
                    instance_spec=SMALL, hyperparameters=hyperparameters)
    est.fit(show_logs=False)
    return job_json(est.logs())


def check(hyperparameters):
    said = fit(hyperparameters)
    want = {k: str(v) for k, v in hyperparameters.items()}
    assert said["file"] == want
    assert json.loads(said["env"]["PAI_HPS"]) == want
    argv = []
    for name, value in want.items():
        argv += ["--" + name, value]
    assert said["argv"] == argv
    for name, value in want.items():
        assert said["env"]["PAI_HPS_" + escaped(name)] == value


def test_hard_values_arrive(yard):
    check({"v%d" % i: value for i, value in enumerate(HARD)})


def test_any_value_arrives(yard):
    rng = random.Random(20)
    for _ in range(3):
        check({"h%d" % i: "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(0, 24)))
               for i in range(60)})


def test_names_are_escaped_as_the_contract_says(yard):
    names = ["epochs", "batch-size", "train.learning_rate", "中文", "ümlaut", "_x", "9lives", "A.b-C",
             "with.many...dots", "UPPER"]
    check({name: i for i, name in enumerate(names)})
    assert [escaped(n) for n in ("batch-size", "train.learning_rate", "中文", "9a")] == \
        ["BATCH_SIZE", "TRAIN_LEARNING_RATE", "__", "9A"]


def test_python_s_values_become_the_texts_that_str_gives(yard):
    said = fit({"i": 10, "f": 0.001, "e": 1e-05, "t": True, "n": None, "l": [1, "a b"],
                "d": {"k": 1.5}, "big": 10 ** 30})
    assert said["file"] == {"i": "10", "f": "0.001", "e": "1e-05", "t": "True", "n": "None",
                            "l": '[1, "a b"]', "d": '{"k": 1.5}', "big": str(10 ** 30)}


def test_input_channels_keep_their_names_in_paths(yard, tmp_path):
    write_files(tmp_path, {"d/x": "1"})
    write_files("src", {"probe.py": PROBE})
    est = Estimator(command="python3 probe.py; ls /ml/input/data", source_dir="src",
                    instance_spec=SMALL)
    est.fit(inputs={"Dir.x": tmp_path / "d", "train-data": tmp_path / "d" / "x"}, show_logs=False)
    env = job_json(est.logs())["env"]
    assert env["PAI_INPUT_DIR_X"] == "/ml/input/data/Dir.x/"
    assert re.match(r"/ml/input/data/train-data/", env["PAI_INPUT_TRAIN_DATA"])
    assert sorted(est.logs()[-2:]) == ["Dir.x", "train-data"]
