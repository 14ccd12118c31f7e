#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_data - a data set to learn from: y = 3.5 + w.x + noise, as CSV shards.

    make_data.py FOLDER [ROWS]

The same rows every time.  shard-*.csv are for training, test.csv is held back.
"""
import csv
import os
import random
import sys

WEIGHTS = [2.0, -1.0, 0.5, 4.0, -3.0, 0.0, 1.5, -0.25]
BIAS = 3.5
NOISE = 0.1
SHARDS = 8


def rows(seed, count):
    r = random.Random(seed)
    for _ in range(count):
        x = [r.gauss(0, 1) for _ in WEIGHTS]
        yield x + [BIAS + sum(w * v for w, v in zip(WEIGHTS, x)) + r.gauss(0, NOISE)]


def write(path, seed, count):
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow([f"x{i}" for i in range(len(WEIGHTS))] + ["y"])
        out.writerows([f"{v:.6f}" for v in row] for row in rows(seed, count))


def main():
    folder = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 8000
    os.makedirs(folder, exist_ok=True)
    for i in range(SHARDS):
        write(os.path.join(folder, f"shard-{i}.csv"), i + 1, count // SHARDS)
    write(os.path.join(folder, "test.csv"), 1000, count // SHARDS)
    print(f"{SHARDS} shards of {count // SHARDS} rows and test.csv in {folder}")


if __name__ == "__main__":
    main()
