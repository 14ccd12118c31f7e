# SPDX-License-Identifier: Apache-2.0
"""Files up and down: whole, once, and going on where they were cut off."""
import os
import random
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest
from conftest import ROOT, rand_bytes, until, write_files

from trainyard import Estimator, _transfer, inputs, storage
from trainyard.errors import ApiError, ConnectionFailed, NotFound, TransferError
from trainyard.session import Session


def fresh():
    return "pfs:t-" + uuid.uuid4().hex[:10]


def tree(top):
    return {str(p.relative_to(top)): (p.read_bytes(), bool(p.stat().st_mode & 0o100))
            for p in sorted(Path(top).rglob("*")) if p.is_file()}


@pytest.mark.parametrize("place,path", [
    ("pfs:a/b", "a/b"), ("pfs:/pfs/x", "/pfs/x"), ("pfs:///pfs/x", "/pfs/x"), ("yard:a", "a"),
    ("pfs:", "~/"), ("a/b", "a/b")])
def test_places_are_read(place, path):
    assert storage.path_of(place) == path


def test_bytes_come_back(yard):
    place = fresh() + "/deep/er/x.bin"
    storage.write(place, b"\0\xff hello")
    assert storage.read(place) == b"\0\xff hello"
    info = storage.stat(place)
    assert (info.kind, info.size, info.name) == ("file", 8, "x.bin")
    storage.remove(place)
    assert not storage.exists(place)
    with pytest.raises(NotFound):
        storage.read(place)


def test_a_tree_goes_up_and_comes_down(yard, tmp_path):
    rng = random.Random(3)
    write_files(tmp_path / "up", {"a/b/c.txt": "c", "run.sh": "#!/bin/sh\n", "ein name ü%&?#": "x",
                                  ".hidden": "h", "empty": ""})
    (tmp_path / "up" / "run.sh").chmod(0o755)
    (tmp_path / "up" / "bytes").write_bytes(rand_bytes(rng, 300000))
    (tmp_path / "up" / "none").mkdir()
    (tmp_path / "up" / "broken").symlink_to("nowhere")
    os.utime(tmp_path / "up" / "empty", (1e9, 1e9))
    place = fresh()
    uri = storage.upload(tmp_path / "up", place)
    assert uri == place + "/"
    assert sorted(f.name for f in storage.list(place)) == \
        [".hidden", "a", "bytes", "ein name ü%&?#", "empty", "none", "run.sh"]
    down = storage.download(place, tmp_path / "down")
    os.unlink(tmp_path / "up" / "broken")
    assert tree(down) == tree(tmp_path / "up")
    assert os.path.isdir(tmp_path / "down" / "none")
    assert int(os.stat(tmp_path / "down" / "empty").st_mtime) == 1000000000
    storage.remove(place, recursive=True)
    assert not storage.exists(place)


def test_a_file_goes_to_a_name_or_into_a_folder(yard, tmp_path):
    write_files(tmp_path, {"x": "1"})
    place = fresh()
    assert storage.upload(tmp_path / "x", place + "/y") == place + "/y"
    assert storage.upload(str(tmp_path / "x"), place + "/") == place + "/x"
    assert storage.download(place + "/y", tmp_path / "z") == str(tmp_path / "z")
    (tmp_path / "d").mkdir()
    assert storage.download(place + "/y", tmp_path / "d") == str(tmp_path / "d" / "y")
    storage.move(place + "/y", place + "/w")
    assert [f.name for f in storage.list(place)] == ["w", "x"]
    with pytest.raises(TransferError, match="no such file"):
        storage.upload(tmp_path / "none", place)
    with pytest.raises(ApiError):
        storage.remove(place)  # it holds something


def test_what_is_there_is_not_sent_again(yard, cutter, tmp_path, monkeypatch):
    write_files(tmp_path / "up", {"a": "1", "d/b": "2", "big": "x" * 100000})
    monkeypatch.setattr(storage, "SMALL_BYTES", 50000)
    place = fresh()
    c = cutter(None)
    with Session("unix://" + c.path) as s:
        storage.upload(tmp_path / "up", place, s)
        first = len([r for r in c.requests if r.startswith("PUT")])
        storage.upload(tmp_path / "up", place, s)
        storage.upload(tmp_path / "up" / "big", place + "/big", s)
        assert first == 3 and len([r for r in c.requests if r.startswith("PUT")]) == 3
        (tmp_path / "up" / "a").write_text("changed")
        storage.upload(tmp_path / "up", place, s)
        assert storage.read(place + "/a") == b"changed"
        storage.download(place, tmp_path / "down", s)
        gets = len([r for r in c.requests if "/files/content" in r and r.startswith("GET")])
        storage.download(place, tmp_path / "down", s)
        assert len([r for r in c.requests if "/files/content" in r and r.startswith("GET")]) == gets


KILLED = """import sys
from trainyard import storage, _transfer
storage.SMALL_BYTES = _transfer.PART_BYTES = 1 << 18
getattr(storage, sys.argv[1])(sys.argv[2], sys.argv[3], jobs=2)
"""
PARTS = 64


def kill_half_way(c, action, source, target):
    """Runs it in a process of its own, which is killed when half of the bytes have passed."""
    c.stall_at = c.passed + (PARTS << 18) // 2
    p = subprocess.Popen([sys.executable, "-c", KILLED, action, source, target],
                         env=dict(os.environ, PYTHONPATH=str(ROOT / "sdk" / "python"),
                                  YARD_SERVER="unix://" + c.path))
    until(lambda: c.stalled)
    p.kill()
    p.wait()
    c.stall_at = None


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(storage, "SMALL_BYTES", 1 << 18)
    monkeypatch.setattr(_transfer, "PART_BYTES", 1 << 18)


def test_a_killed_upload_goes_on(yard, tmp_path, small_parts, cutter):
    data = rand_bytes(random.Random(1), PARTS << 18)
    (tmp_path / "big").write_bytes(data)
    place, c = fresh() + "/big", cutter(None)
    kill_half_way(c, "upload", str(tmp_path / "big"), place)
    assert not storage.exists(place), "half a file is not seen"
    before = c.passed
    with Session("unix://" + c.path) as s:
        storage.upload(tmp_path / "big", place, s)
    assert c.passed - before < (PARTS << 18) * 3 // 4, "what was there was not sent again"
    assert storage.read(place) == data


def test_a_killed_download_goes_on(yard, tmp_path, small_parts, cutter):
    data = rand_bytes(random.Random(2), PARTS << 18)
    place, c = fresh() + "/big", cutter(None)
    storage.write(place, data)
    (tmp_path / "down").mkdir()
    kill_half_way(c, "download", place, str(tmp_path / "down" / "big"))
    assert not (tmp_path / "down" / "big").exists(), "half a file is not seen"
    before = c.passed
    with Session("unix://" + c.path) as s:
        storage.download(place, tmp_path / "down" / "big", s)
    assert c.passed - before < (PARTS << 18) * 3 // 4, "what was there was not fetched again"
    assert (tmp_path / "down" / "big").read_bytes() == data
    assert os.listdir(tmp_path / "down") == ["big"], "nothing else is left"


def test_a_download_over_connections_that_break_is_whole(yard, cutter, tmp_path, monkeypatch):
    data = rand_bytes(random.Random(4), 3 << 20)
    place = fresh()
    storage.write(place, data)
    monkeypatch.setattr(_transfer, "PART_BYTES", 1 << 20)
    monkeypatch.setattr(storage, "SMALL_BYTES", 1 << 20)
    c = cutter(400000)
    with Session("unix://" + c.path) as s:
        storage.download(place, tmp_path / "x", s)
    assert (tmp_path / "x").read_bytes() == data and c.cuts > 3


def test_an_upload_over_connections_that_break_is_whole(yard, cutter, tmp_path, monkeypatch):
    write_files(tmp_path / "up", {"f%d" % i: str(i) * 100 for i in range(40)})
    place = fresh()
    c = cutter(2500)
    with Session("unix://" + c.path) as s:
        storage.upload(tmp_path / "up", place, s, jobs=4)
    storage.download(place, tmp_path / "down")
    assert tree(tmp_path / "down") == tree(tmp_path / "up") and c.cuts > 0


def test_many_threads_transfer(yard, tmp_path):
    write_files(tmp_path / "up", {"d%d/f%d" % (i % 7, i): str(i) for i in range(200)})
    places, failed = [fresh() for _ in range(4)], []

    def go(place):
        try:
            storage.upload(tmp_path / "up", place)
            storage.download(place, tmp_path / place[4:])
            assert tree(tmp_path / place[4:]) == tree(tmp_path / "up")
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=go, args=(p,)) for p in places]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


def test_a_failure_ends_the_rest_and_is_told(yard, cutter, tmp_path):
    write_files(tmp_path / "up", {"f%d" % i: "x" for i in range(50)})
    c = cutter(None)
    with Session("unix://" + c.path) as s:
        s._http._met = False
        c.refuse = True
        with pytest.raises((ConnectionFailed, ApiError)):
            storage.upload(tmp_path / "up", fresh(), s)


def test_data_of_this_machine_goes_to_a_far_yard_once(tmp_path):
    from conftest import Yard
    (tmp_path / "far").mkdir()
    y = Yard(tmp_path / "far", "--listen", "127.0.0.1:0", "--tls", "on").start()
    try:
        token = y.token("ada")
        with Session(y.https, token, fingerprint=y.fingerprint) as s:
            write_files(tmp_path / "data", {"a.csv": "1", "d/b.csv": "2"})
            one = inputs.send(s, str(tmp_path / "data"))
            (tmp_path / "data").rename(tmp_path / "renamed")
            assert inputs.send(s, str(tmp_path / "renamed")) == one
            file = inputs.send(s, str(tmp_path / "renamed" / "a.csv"))
            assert file.endswith("/a.csv") and one.endswith("/data/")
            assert storage.read(one + "d/b.csv", s) == b"2"
            assert storage.read(file, s) == b"1"
            write_files(tmp_path / "renamed", {"a.csv": "other"})
            assert inputs.send(s, str(tmp_path / "renamed")) != one

            est = Estimator(command="cat $PAI_INPUT_TRAIN/d/b.csv $PAI_INPUT_ONE; "
                                    "echo m > $PAI_OUTPUT_MODEL/m",
                            instance_spec={"cpu": "0.2", "memory": "64Mi"}, session=s)
            est.fit(inputs={"train": tmp_path / "renamed",
                            "one": str(tmp_path / "renamed" / "a.csv")}, show_logs=False)
            assert est.logs() == ["2other"]
            assert Path(storage.download(est.model_data(), tmp_path / "m", s), "m").exists()
    finally:
        y.stop()
