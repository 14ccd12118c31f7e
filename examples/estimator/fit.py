#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fit - trains train_src/train.py on this machine (or, with --instance-type, on a yard), and uses
the model that came out.

    PYTHONPATH=../../sdk/python python3 fit.py [--instance-type TYPE]
"""
import argparse
import csv
import json
import os
import random
import tempfile

from trainyard import Estimator, storage

HERE = os.path.dirname(os.path.abspath(__file__))


def make_data(path, rows=2000):
    """Two features; the class is which side of a line a point lies on, with some noise."""
    r = random.Random(7)
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        for _ in range(rows):
            x, y = r.gauss(0, 1), r.gauss(0, 1)
            out.writerow(["%.5f" % x, "%.5f" % y, int(2 * x - y + 0.5 + r.gauss(0, 0.3) > 0)])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--instance-type", default="local")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "train.csv")
        make_data(data)
        est = Estimator(
            command="python train.py $PAI_USER_ARGS",
            source_dir=os.path.join(HERE, "train_src"),
            instance_type=args.instance_type,
            hyperparameters={"epochs": 8, "learning-rate": 0.05},
            metric_definitions=[{"Name": "loss", "Regex": r"loss=([0-9.]+)"},
                                {"Name": "accuracy", "Regex": r"accuracy=([0-9.]+)"}],
            base_job_name="logistic",
        )
        est.fit(inputs={"train": data})
        model = est.model_data()
        if storage.is_uri(model):
            model = storage.download(model, os.path.join(folder, "model"))
        with open(os.path.join(model, "model.json")) as f:
            weights = json.load(f)["weights"]
    for series in est.metrics():
        print("%s: %d points, last %.4f" % (series.name, series.count, series.last))
    print("the line: %.2f x + %.2f y + %.2f = 0" % tuple(weights))


if __name__ == "__main__":
    main()
