# SPDX-License-Identifier: Apache-2.0
"""compare.py FOLDER ANSWER.json: our answer beside what TensorBoard's own reader reads.

TAP: one point a series, every value of it compared; one for what else is listed.
"""
import json
import math
import os
import sys

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.util import tensor_util


def theirs(folder):
    """{(run, name): [(step, time_ms, value)]}, {(run, name, kind): count}"""
    series, other = {}, {}
    sizes = {kind: 0 for kind in event_accumulator.STORE_EVERYTHING_SIZE_GUIDANCE}
    for path, _, files in os.walk(folder):
        if not any("tfevents" in name for name in files):
            continue
        run = os.path.relpath(path, folder)
        reader = event_accumulator.EventAccumulator(path, size_guidance=sizes)
        reader.Reload()
        tags = reader.Tags()
        for tag in tags["scalars"]:
            series[run, tag] = [(e.step, e.wall_time, e.value) for e in reader.Scalars(tag)]
        for tag in tags["tensors"]:
            known = reader.summary_metadata.get(tag)
            plugin = known.plugin_data.plugin_name if known else ""
            events = reader.Tensors(tag)
            if plugin == "scalars":
                series[run, tag] = [
                    (e.step, e.wall_time, tensor_util.make_ndarray(e.tensor_proto).item()) for e in events]
            else:
                other[run, tag, plugin or "tensor"] = len(events)
        for kind, read in (("images", reader.Images), ("histograms", reader.Histograms),
                           ("audio", reader.Audio)):
            for tag in tags[kind]:
                other[run, tag, {"images": "image", "histograms": "histogram"}.get(kind, kind)] = len(read(tag))
    return series, other


def same(a, b):
    return math.isnan(a) and math.isnan(b) or a == b


def main():
    series, other = theirs(sys.argv[1])
    answer = json.load(open(sys.argv[2]))
    ours = {(s["run"], s["name"]): s for s in answer["series"]}
    count = 0

    def ok(good, law):
        nonlocal count
        count += 1
        print(f"{'ok' if good else 'not ok'} {count} - {law}")

    ok(set(ours) == set(series), f"the same {len(series)} series")
    for key in sorted(set(ours) ^ set(series)):
        print("# only one has", key)
    for key in sorted(set(ours) & set(series)):
        points = [(p[0], p[1], float(p[2])) for p in ours[key]["points"]]
        wrong = [(a, b) for a, b in zip(points, series[key])
                 if a[0] != b[0] or abs(a[1] - b[1] * 1000) > 1 or not same(a[2], float(b[2]))]
        ok(len(points) == len(series[key]) and not wrong and ours[key]["count"] == len(points),
           f"{'/'.join(key)!r}: {len(points)} values, each with step and time")
        for pair in wrong[:3]:
            print("# ours, theirs:", *pair)
    # Of hparams their accumulator keeps nothing but metadata.
    listed = {(o["run"], o["name"], o["kind"]): o["count"] for o in answer["other"] if o["kind"] != "hparams"}
    ok(listed == other, f"the same {len(other)} images, histograms, texts and sounds")
    if listed != other:
        print("# ours  ", listed, "\n# theirs", other)
    print(f"1..{count}")


if __name__ == "__main__":
    main()
