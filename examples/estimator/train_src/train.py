#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train - logistic regression with checkpoints, in plain Python.

Reads rows of a CSV (features, then the class, 0 or 1) from PAI_INPUT_TRAIN; takes --epochs and
--learning-rate; prints "epoch=N loss=X accuracy=Y", which the estimator reads as metrics; keeps
a checkpoint an epoch and goes on from the last one when it is begun again; writes model.json.
"""
import argparse
import csv
import json
import math
import os
import signal
import sys

CHECKPOINTS = os.environ.get("PAI_OUTPUT_CHECKPOINTS", "checkpoints")
MODEL = os.environ.get("PAI_OUTPUT_MODEL", "model")
stop = False


def on_stop(_signal, _frame):
    global stop
    stop = True


def load(path):
    if os.path.isdir(path):
        path = os.path.join(path, sorted(os.listdir(path))[0])
    with open(path, newline="") as f:
        rows = [[float(v) for v in row] for row in csv.reader(f)]
    return [(row[:-1], row[-1]) for row in rows]


def predict(weights, x):
    z = weights[-1] + sum(w * v for w, v in zip(weights, x))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def one_epoch(weights, data, rate):
    for x, y in data:
        slope = predict(weights, x) - y
        for i, v in enumerate(x):
            weights[i] -= rate * slope * v
        weights[-1] -= rate * slope
    loss = -sum(math.log(max(1e-12, predict(weights, x) if y else 1 - predict(weights, x)))
                for x, y in data) / len(data)
    right = sum((predict(weights, x) > 0.5) == bool(y) for x, y in data)
    return loss, right / len(data)


def save(folder, name, value):
    """Whole or not at all; the mark NAME.complete tells the yard that it may be resumed from."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path + ".tmp", "w") as f:
        json.dump(value, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".tmp", path)
    return path


def resume():
    """The epoch to begin with, and the weights so far (None: from nothing)."""
    path = os.environ.get("YARD_RESUME_FROM")
    if not path:
        return 0, None
    with open(path) as f:
        state = json.load(f)
    print("going on from", os.path.basename(path))
    return state["epoch"] + 1, state["weights"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--learning-rate", type=float, default=0.1)
    args = p.parse_args()
    signal.signal(signal.SIGTERM, on_stop)

    data = load(os.environ["PAI_INPUT_TRAIN"])
    first, weights = resume()
    weights = weights or [0.0] * (len(data[0][0]) + 1)
    for epoch in range(first, args.epochs):
        loss, accuracy = one_epoch(weights, data, args.learning_rate)
        print("epoch=%d loss=%.6f accuracy=%.4f" % (epoch, loss, accuracy))
        path = save(CHECKPOINTS, "epoch-%05d.json" % epoch, {"epoch": epoch, "weights": weights})
        open(path + ".complete", "w").close()
        if stop:
            sys.exit(143)  # saved, not done: the next attempt goes on
    save(MODEL, "model.json", {"weights": weights})


if __name__ == "__main__":
    main()
