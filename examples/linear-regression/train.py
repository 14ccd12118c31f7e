#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train - linear regression by several trainers that share the files by rank.

Each trainer reads every WORLD_SIZE-th shard, goes over it by stochastic gradient descent,
and after each epoch all of them take the mean of their parameters, through rank 0 at
MASTER_ADDR:MASTER_PORT.  Rank 0 writes model.json.  Python's standard library only.

Finds, as every Trainyard task does: RANK and WORLD_SIZE, the data in YARD_INPUT_DATA, a
folder to keep things in YARD_OUTPUT_MODEL, and its hyperparameters in a JSON file.
"""
import csv
import glob
import json
import os
import random
import socket
import time

HYPERPARAMETERS = "/ml/input/config/hyperparameters.json"
RANK = int(os.environ.get("RANK", "0"))
WORLD = int(os.environ.get("WORLD_SIZE", "1"))


class Mean:
    """The mean of a vector over all ranks: everyone sends to rank 0, which answers."""

    def __init__(self):
        self.files = []
        if WORLD == 1:
            return
        address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        if RANK == 0:
            with socket.create_server(address) as server:
                server.settimeout(60)
                self.files = [server.accept()[0].makefile("rw") for _ in range(WORLD - 1)]
        else:
            self.files = [self.connect(address).makefile("rw")]

    @staticmethod
    def connect(address):
        end = time.monotonic() + 60
        while True:
            try:
                return socket.create_connection(address)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def __call__(self, vector):
        if WORLD == 1:
            return vector
        if RANK > 0:
            self.send(self.files[0], vector)
            return json.loads(self.files[0].readline())
        sums = list(vector)
        for f in self.files:
            sums = [a + b for a, b in zip(sums, json.loads(f.readline()))]
        mean = [v / WORLD for v in sums]
        for f in self.files:
            self.send(f, mean)
        return mean

    @staticmethod
    def send(f, vector):
        f.write(json.dumps(vector) + "\n")
        f.flush()


def read(paths):
    rows = []
    for path in paths:
        with open(path, newline="") as f:
            lines = csv.reader(f)
            next(lines)
            for line in lines:
                values = [float(v) for v in line]
                rows.append((values[:-1] + [1.0], values[-1]))  # 1.0 carries the bias
    return rows


def loss(w, rows):
    return sum((sum(a * b for a, b in zip(w, x)) - y) ** 2 for x, y in rows) / len(rows)


def epoch(w, rows, rate, batch):
    for at in range(0, len(rows), batch):
        part = rows[at:at + batch]
        gradient = [0.0] * len(w)
        for x, y in part:
            error = sum(a * b for a, b in zip(w, x)) - y
            for i, v in enumerate(x):
                gradient[i] += error * v
        w = [a - rate * g / len(part) for a, g in zip(w, gradient)]
    return w


def main():
    hyper = {}
    if os.path.exists(HYPERPARAMETERS):
        with open(HYPERPARAMETERS) as f:
            hyper = json.load(f)
    epochs = int(hyper.get("epochs", 10))
    rate, batch = float(hyper.get("rate", 0.02)), int(hyper.get("batch", 32))

    data = os.environ.get("YARD_INPUT_DATA", "data")
    shards = sorted(glob.glob(os.path.join(data, "shard-*.csv")))[RANK::WORLD]
    rows = read(shards)
    print(f"trainer {RANK} of {WORLD}: {len(rows)} rows in "
          + " ".join(os.path.basename(s) for s in shards), flush=True)

    mean = Mean()
    order = random.Random(RANK)
    w = [0.0] * len(rows[0][0])
    for n in range(1, epochs + 1):
        order.shuffle(rows)
        w = mean(epoch(w, rows, rate, batch))
        total = mean([loss(w, rows)])[0]
        if RANK == 0:
            print(f"epoch {n:3}/{epochs}  loss {total:.6f}", flush=True)

    if RANK == 0:
        test = loss(w, read([os.path.join(data, "test.csv")]))
        print(f"loss on rows never seen: {test:.6f}", flush=True)
        folder = os.environ.get("YARD_OUTPUT_MODEL", ".")
        with open(os.path.join(folder, "model.json"), "w") as f:
            json.dump({"weights": [round(v, 4) for v in w[:-1]], "bias": round(w[-1], 4),
                       "test_loss": round(test, 6), "epochs": epochs, "trainers": WORLD}, f)
            f.write("\n")


if __name__ == "__main__":
    main()
