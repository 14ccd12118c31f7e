# SPDX-License-Identifier: Apache-2.0
"""Code is packed as `yard` packs it: the same files, the same bytes, the same name."""
import io
import os
import random
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from conftest import rand_bytes, write_files

from trainyard import _pack
from trainyard._ignore import Ignore, glob
from trainyard.errors import YardError


def names(packed):
    with packed.file as f:
        return [m.name for m in tarfile.open(fileobj=io.BytesIO(f.read()))]


RULES = ["*.log", "/build/", "!keep.log", "deep/**/x?", "secret*", "!secret-not", "a/", "**/sub",
         "[xy]*", "f[0-5]*", "ein*", "\u00fcmlaut/", "*[!0-9]"]


@pytest.mark.parametrize("seed", range(4))
def test_the_archive_is_the_one_that_yard_makes(yard, tmp_path, seed):
    rng = random.Random(seed)
    top = tmp_path / "code"
    write_files(top, {name: "\n".join(rng.sample(RULES, rng.randrange(1, 4))) + "\n"
                      for name in (".gitignore", "sub/.yardignore", "deep/.gitignore")})
    for i in range(120):
        parts = [rng.choice(["a", "sub", "build", "deep", "ümlaut", "x" * 60, "y" * 99])
                 for _ in range(rng.randrange(4))]
        name = rng.choice(["f%d", "x%d", "keep.log", "t%d.log", "secret%d", "secret-not",
                           "n" * 90 + "%d", "ein name %d"])
        path = top.joinpath(*parts, name % i if "%" in name else name)
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rand_bytes(rng, rng.choice([0, 1, 511, 512, 513, 5000])))
        path.chmod(rng.choice([0o644, 0o755, 0o600]))
    (top / "inside").symlink_to("sub/" + "z" * 120)
    (top / "outside").symlink_to("../secret")
    (top / "empty").mkdir()
    os.mkfifo(top / "pipe")
    told = []
    packed = _pack.pack_folder(str(top), told.append)
    with packed.file:
        pass
    job = yard.yard("run", "--detach", "--cpu", "0.1", "--code", str(top), "--", "true").split()[-1]
    import json
    assert json.loads(yard.yard("show", "--json", job))["spec"]["code"] == packed.hash
    assert {t.split(":")[0] for t in told} <= {"left out"}


def test_what_cannot_be_sent_is_told(tmp_path):
    write_files(tmp_path / "p", {"a": ""})
    (tmp_path / "p" / "out").symlink_to("../secret")
    os.mkfifo(tmp_path / "p" / "pipe")
    told = []
    assert names(_pack.pack_folder(str(tmp_path / "p"), told.append)) == ["a"]
    assert told == ["left out: the link out leads outside of the folder, to ../secret",
                    "left out: pipe is neither file, folder nor link"]


def test_the_same_files_make_the_same_bytes(tmp_path):
    for n in "ab":
        write_files(tmp_path / n, {"x.py": "1", "d/y.py": "2"})
    os.utime(tmp_path / "a" / "x.py", (1, 1))
    one, two = _pack.pack_folder(str(tmp_path / "a")), _pack.pack_folder(str(tmp_path / "b"))
    with one.file as f, two.file as g:
        assert one.hash == two.hash and f.read() == g.read()


def test_rules_of_the_work_tree_above_count(tmp_path):
    write_files(tmp_path, {".git/info/exclude": "from-exclude\n", ".gitignore": "*.tmp\n/p/skip\n",
                           "p/a.tmp": "", "p/skip": "", "p/from-exclude": "", "p/a.py": ""})
    assert names(_pack.pack_folder(str(tmp_path / "p"))) == ["a.py"]


def test_a_folder_that_is_ignored_itself_is_packed_whole(tmp_path):
    write_files(tmp_path, {".git/HEAD": "", ".gitignore": "/p\n*.py\n", "p/a.py": ""})
    assert names(_pack.pack_folder(str(tmp_path / "p"))) == ["a.py"]


def test_hidden_files_modes_and_empty_folders_are_kept(tmp_path):
    write_files(tmp_path / "p", {".hidden": "x", "run.sh": "#!/bin/sh\n"})
    (tmp_path / "p" / "run.sh").chmod(0o700)
    (tmp_path / "p" / "empty").mkdir()
    packed = _pack.pack_folder(str(tmp_path / "p"))
    with packed.file as f:
        found = {m.name: m.mode for m in tarfile.open(fileobj=f)}
    assert found == {".hidden": 0o644, "empty": 0o755, "run.sh": 0o755}


def test_a_single_file_is_packed_alone(tmp_path):
    write_files(tmp_path, {"train.py": "x", "other.py": "y"})
    assert names(_pack.pack_any(str(tmp_path / "train.py"))) == ["train.py"]


def test_archives_are_taken_for_what_they_hold(tmp_path):
    write_files(tmp_path / "p", {"train.py": "x", "d/u.py": "y"})
    with tarfile.open(tmp_path / "c.tar.gz", "w:gz") as t:
        t.add(tmp_path / "p", ".")
        evil = tarfile.TarInfo("../evil")
        t.addfile(evil)
        link = tarfile.TarInfo("out")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        t.addfile(link)
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as z:
        z.write(tmp_path / "p" / "train.py", "train.py")
        z.writestr("/abs", "no")
        z.writestr("d/u.py", "y")
    assert sorted(names(_pack.pack_any(str(tmp_path / "c.tar.gz")))) == ["d", "d/u.py", "train.py"]
    assert sorted(names(_pack.pack_any(str(tmp_path / "c.zip")))) == ["d/u.py", "train.py"]
    (tmp_path / "bad.tar.gz").write_bytes(b"no archive")
    with pytest.raises(YardError, match="cannot be read as an archive"):
        _pack.pack_any(str(tmp_path / "bad.tar.gz"))


def test_a_folder_that_is_too_large_is_refused(tmp_path, monkeypatch):
    write_files(tmp_path / "p", {"small": "x", "big.bin": "x" * 5000})
    monkeypatch.setattr(_pack, "BYTES_MAX", 4096)
    with pytest.raises(YardError, match="big.bin.*yardignore"):
        _pack.pack_folder(str(tmp_path / "p"))


@pytest.mark.parametrize("path,target,inside", [
    (b"a", b"b", True), (b"a", b"../b", False), (b"d/a", b"../b", True),
    (b"d/a", b"../../b", False), (b"a", b"/b", False), (b"a", b"", False), (b"d/a", b"x/../../y", True),
    (b"d/a", b"./.././../y", False)])
def test_links_stay_inside(path, target, inside):
    assert _pack.link_inside(path, target) == inside


PATTERNS = ["*.log", "/build", "build/", "a/**/b", "**/x", "x/**", "!keep.log", "d?f", "[a-c]*",
            "[!a]x", "a\\*b", "**", "a**b", "/a/*", "*.t[mx]p", "[[:digit:]]*", "foo/bar", "#c",
            "\\#c", " sp", "tr ", "tr\\ ", "a/", "[", "x[", "*/y", "d/", "!d/keep"]
WORDS = ["a", "b", "x", "y", "build", "keep.log", "t.log", "def", "ax", "a*b", "aXb", "foo", "bar",
         "c.tmp", "9z", "#c", " sp", "tr", "tr ", "d", "keep"]


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_rules_mean_what_git_means(tmp_path):
    rng = random.Random(1)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    checked = 0
    for _ in range(60):
        rules = "\n".join(rng.choice(PATTERNS) for _ in range(rng.randrange(1, 5))) + "\n"
        (tmp_path / ".gitignore").write_text(rules)
        paths = sorted({"/".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 4)))
                        for _ in range(40)})
        r = subprocess.run(["git", "-C", str(tmp_path), "check-ignore", "-z", "--no-index",
                            "--stdin"], input="\0".join(paths).encode(), stdout=subprocess.PIPE,
                           check=False)
        want = set(r.stdout.decode().split("\0")) - {""}
        ig = Ignore()
        ig.push(b"")
        ig.add(rules.encode())
        for path in paths:
            parts, got = path.encode().split(b"/"), False
            for i in range(1, len(parts) + 1):  # a path in an ignored folder is ignored
                got = ig.matches(b"/".join(parts[:i]), i < len(parts))
                if got:
                    break
            assert got == (path in want), (rules, path)
            checked += 1
    assert checked > 1000


def test_a_malformed_pattern_matches_nothing():
    assert glob(b"[a") is None and glob(b"a\\") is None and glob(b"x" * 5000) is None
    assert Path  # pathlib's rules are not used: they differ
