# SPDX-License-Identifier: Apache-2.0
"""Connections that break: nothing is done twice, nothing of a log is missed or seen twice."""
import os
import subprocess
import sys
import threading
import uuid

import pytest
from conftest import ROOT, Yard, until

from trainyard._logs import Follower, Printer, Record, lines
from trainyard.errors import ApiError, ConnectionFailed, NotFound, UntrustedServer
from trainyard.job import TrainingJob
from trainyard.session import Session


def native(session, command, **more):
    spec = {"command": command, "resources": {"cpu": "100m", "memory": "64Mi"}, **more}
    answer = session._http.json("POST", "/jobs", value=spec,
                                headers={"Idempotency-Key": uuid.uuid4().hex})
    return TrainingJob.get(answer["id"], session)


def test_a_log_is_whole_over_connections_that_break(session, cutter):
    job = native(session, "for i in $(seq 60000); do echo line of some length $i; done; "
                          "echo err >&2; sleep 1; echo late")
    c = cutter(300000)  # more than a record has
    with Session("unix://" + c.path) as s:
        got = list(TrainingJob.get(job.id, s).logs(follow=True))
    assert [g for g in got if g.startswith("line")] == \
        ["line of some length %d" % i for i in range(1, 60001)]
    assert got.count("late") == 1 and got.count("err") == 1
    assert c.cuts >= 4
    assert any("from=0%3A1%3A" in r for r in c.requests), c.requests


def test_a_log_of_several_tasks_and_attempts_is_whole(session, cutter):
    job = native(session, 'i=0; while [ $i -lt 200 ]; do echo "a$YARD_ATTEMPT r$YARD_RANK n$i"; '
                          'i=$((i+1)); done; [ $YARD_ATTEMPT = 2 ]', count=2,
                 retry={"max": 2, "backoff": "0s"})
    c = cutter(3000)
    with Session("unix://" + c.path) as s:
        # Failed tasks are cut short, so of the first attempt only order and singleness are sure.
        got = list(lines(iter(Follower(s._http, job.id)), True))
    job._wait_end()
    assert job.is_succeeded()
    assert len(got) == len(set(got))
    for rank in (0, 1):
        mine = [g for g in got if g.startswith("[%d] a2 r%d" % (rank, rank))]
        assert mine == ["[%d] a2 r%d n%d" % (rank, rank, i) for i in range(200)]


def test_a_quiet_job_is_followed_over_timeouts(session):
    job = native(session, "echo one; sleep 2; echo two")
    with Session(session.url, timeout=0.3) as s:
        assert list(TrainingJob.get(job.id, s).logs(follow=True)) == ["one", "two"]
        assert TrainingJob.get(job.id, s).wait(show_logs=False).is_succeeded()


def test_a_submission_whose_answer_is_lost_is_sent_again_as_the_same(session, cutter, yard):
    c = cutter(40)  # the answer's head is cut: the client cannot know whether it was taken
    name = "once-" + uuid.uuid4().hex[:8]
    with Session("unix://" + c.path) as s:
        timer = threading.Timer(1.0, lambda: setattr(c, "cut_after", None))
        timer.start()
        s._http._met = True
        answer = s._http.json("POST", "/jobs", value={"command": "true", "name": name},
                              headers={"Idempotency-Key": uuid.uuid4().hex})
    assert c.cuts >= 1 and answer["again"] is True
    assert len(TrainingJob.list(name=name, session=session)) == 1


def test_what_must_not_be_sent_twice_is_not(session, cutter):
    c = cutter(40)
    with Session("unix://" + c.path) as s:
        with pytest.raises(ConnectionFailed):
            s._http.json("POST", "/jobs", value={"command": "true", "name": "not-twice"})
    assert c.connections == 1


def test_a_restart_of_the_server_is_waited_for(tmp_path):
    y = Yard(tmp_path / "y")
    y.top.mkdir()
    y.start()
    try:
        with Session(y.url) as s:
            job = native(s, "echo one; sleep 2; echo two")
            seen = []
            t = threading.Thread(target=lambda: seen.extend(job.logs(follow=True)))
            t.start()
            until(lambda: list(job.logs()) == ["one"])
            y.kill()
            y.start()
            job.wait(show_logs=False)
            t.join(60)
            assert job.is_succeeded() and seen == ["one", "two"]
    finally:
        y.stop()


def test_many_threads_use_one_session(session):
    job = native(session, "echo hello")
    job._wait_end()
    failed = []

    def ask():
        try:
            for _ in range(25):
                assert TrainingJob.get(job.id, session).name == job.name
                assert list(job.logs()) == ["hello"]
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed
    assert len(session._http._idle) <= 8


FORKED = """import os, sys
from trainyard.session import Session
with Session() as s:
    s.nodes()
    pid = os.fork()
    ok = bool(s.nodes())
    if pid == 0:
        os._exit(0 if ok else 1)
    sys.exit(os.waitpid(pid, 0)[1] or not s.nodes())
"""


def test_a_forked_child_has_connections_of_its_own(yard):
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=60,
                   env=dict(os.environ, PYTHONPATH=str(ROOT / "sdk" / "python")))


def test_errors_of_the_server_keep_their_parts(session):
    with pytest.raises(NotFound) as e:
        TrainingJob.get(99999999, session)
    assert (e.value.status, e.value.code) == (404, "not-found")
    with pytest.raises(ApiError) as e2:
        session._http.json("POST", "/jobs", value={"commandx": 1, "name": "a b"}, again=True)
    assert e2.value.status == 400 and len(e2.value.problems) == 3
    assert "commandx: there is no such field" in str(e2.value)


@pytest.fixture(scope="module")
def far(tmp_path_factory):
    y = Yard(tmp_path_factory.mktemp("tls"), "--listen", "127.0.0.1:0", "--tls", "on").start()
    yield y
    y.stop()


@pytest.fixture(scope="module")
def token(far):
    return far.token("ada")


def test_a_pinned_certificate_is_trusted(far, token):
    with Session(far.https, token, fingerprint=far.fingerprint) as s:
        assert s.nodes() and not s.here


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(far, token):
    with pytest.raises(UntrustedServer, match="yard login"):
        Session(far.https, token).nodes()


def test_another_certificate_than_the_pinned_one_is_not_trusted(far, token):
    with pytest.raises(UntrustedServer, match="changed: was SHA256:AB:AB.*is SHA256:"):
        Session(far.https, token, fingerprint="ab" * 32).nodes()


def test_an_authority_vouches(far, token, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(far.state / "tls" / "cert.pem"))
    assert Session(far.https, token).nodes()


def test_without_a_token_one_is_told_how(far):
    with pytest.raises(ApiError, match="YARD_TOKEN") as e:
        Session(far.https, fingerprint=far.fingerprint).nodes()
    assert e.value.status == 401


def test_lines_of_several_tasks_are_not_torn():
    out = []
    p = Printer(True, out.append)
    for rank, data in [(0, b"he"), (1, b"wor"), (0, b"llo\nx"), (1, b"ld\n"), (0, "ü".encode()[:1]),
                       (0, "ü".encode()[1:])]:
        p.add(Record(rank, 1, 0, 1, 0, data))
    p.finish()
    assert "".join(out) == "[0] hello\n[1] world\n[0] xü\n"


def test_one_task_s_output_is_passed_on_as_it_comes():
    out = []
    p = Printer(False, out.append)
    for data in (b"10%\r", b"20%\r", b"no end"):
        p.add(Record(0, 1, 0, 1, 0, data))
    p.finish()
    assert out == ["10%\r", "20%\r", "no end", "\n"]


def test_a_terminal_without_the_letters_is_no_failure(yard):
    code = ("from trainyard import Estimator\n"
            "Estimator(command='printf \"gr\\\\303\\\\274n\\\\n\"', "
            "instance_spec={'cpu': '0.1', 'memory': '64Mi'}).fit()\n")
    r = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE,
                       env=dict(os.environ, PYTHONPATH=str(ROOT / "sdk" / "python"),
                                PYTHONIOENCODING="ascii"))
    assert b"gr?n\n" in r.stdout
