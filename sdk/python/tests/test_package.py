# SPDX-License-Identifier: Apache-2.0
"""The package as a package: typed, installable, of the standard library alone."""
import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD, ROOT

SDK = ROOT / "sdk" / "python"


def test_the_package_is_typed():
    pytest.importorskip("mypy")
    cache = str(BUILD / "mypy-sdk") if os.access(BUILD, os.W_OK) else os.devnull
    r = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", cache],
                       cwd=str(ROOT / "sdk" / "python"), stdout=subprocess.PIPE, check=False)
    assert r.returncode == 0, r.stdout.decode()


def test_pip_installs_it(tmp_path):
    pytest.importorskip("setuptools")
    shutil.copytree(SDK, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "tests"))
    r = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index",
                        "--no-build-isolation", "--target", str(tmp_path / "out"),
                        str(tmp_path / "src")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       check=False)
    assert r.returncode == 0, r.stdout.decode()
    for name in ("estimator.py", "py.typed", "compat/__main__.py"):
        assert (tmp_path / "out" / "trainyard" / name).exists()
    code = "import trainyard, trainyard.task, trainyard.compat"
    subprocess.run([sys.executable, "-S", "-c", code], check=True,
                   env={"PYTHONPATH": str(tmp_path / "out")})


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").split(".")[0]


def test_it_needs_nothing_but_the_standard_library_of_python_3_8():
    files = sorted((SDK / "trainyard").rglob("*.py"))
    assert len(files) > 15
    for path in files:
        tree = ast.parse(Path(path).read_text(), feature_version=(3, 8))
        if hasattr(sys, "stdlib_module_names"):
            assert set(imported(tree)) <= set(sys.stdlib_module_names), path


def test_the_example_learns(yard):
    r = subprocess.run([sys.executable, str(ROOT / "examples" / "estimator" / "fit.py")],
                       env=dict(os.environ, PYTHONPATH=str(SDK)), stdout=subprocess.PIPE, text=True,
                       check=True, timeout=120)
    assert "accuracy: 8 points, last 0.9" in r.stdout and "the line: " in r.stdout
