# SPDX-License-Identifier: Apache-2.0
"""pytest_tap - lets pytest close with TAP, which tools/test counts.

    PYTHONPATH=test python -m pytest -p pytest_tap ...
"""
import re
import sys

POINTS = []


def words(nodeid):
    """tests/test_pack.py::test_links_stay_inside[a] -> pack: links stay inside [a]"""
    path, _, name = nodeid.partition("::")
    room = re.sub(r"^test_|\.py$", "", path.rsplit("/", 1)[-1])
    name = re.sub(r"^(\w+::)?test_", "", name)
    name, bracket, rest = name.partition("[")
    return "%s: %s%s%s" % (room, name.replace("_", " "), " " + bracket if bracket else "", rest)


def pytest_runtest_logreport(report):
    if report.when == "setup" and report.passed:
        return
    if report.when == "teardown" and not report.failed:
        return
    if report.skipped:
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        why = re.sub(r"^Skipped: ", "", why).replace("\n", " ")
        POINTS.append(("ok", words(report.nodeid), " # SKIP " + why))
    else:
        POINTS.append(("ok" if report.passed else "not ok", words(report.nodeid), ""))


def pytest_collectreport(report):
    if report.failed:
        POINTS.append(("not ok", "%s can be read" % report.nodeid, ""))


def pytest_unconfigure(config):
    out = ["" if not POINTS else "\n"]
    for n, (word, law, rest) in enumerate(POINTS, 1):
        out.append("%s %d - %s%s\n" % (word, n, law.replace("#", ""), rest))
    out.append("1..%d\n" % len(POINTS))
    sys.__stdout__.write("".join(out))
    sys.__stdout__.flush()
