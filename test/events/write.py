# SPDX-License-Identifier: Apache-2.0
"""write.py FOLDER: event files by the real writers, with all that a value may be.

Runs below FOLDER: `x` by tensorboardX, `torch` by torch.utils.tensorboard (where torch is
installed), `tensors` by TensorBoard's own event writer with tensors of every kind of number.
"""
import math
import os
import sys

import numpy as np


def curves(writer):
    """What both SummaryWriters take."""
    for step in range(300):
        writer.add_scalar("train/loss", 2.0 / (1 + step) + 0.1 * math.sin(step / 7), step)
        writer.add_scalar("train/lr", 1e-3 * 0.99 ** step, step)
        if step % 10 == 0:
            writer.add_scalar("valid/loss", 2.2 / (1 + step), step)
    for step, value in enumerate([0.0, -0.0, float("nan"), float("inf"), float("-inf"), 3e38, 1e-45]):
        writer.add_scalar("odd/values", value, step)
    for step in (-(2 ** 62), -1, 0, 2 ** 31, 2 ** 32 + 1, 2 ** 62):
        writer.add_scalar("odd/steps", step % 97, step)
    writer.add_scalar("odd/name äöü 汉字 \"'<>&", 1.0, 1)
    writer.add_image("picture", np.zeros((3, 8, 8), dtype=np.uint8), 4)
    writer.add_text("remark", "what was tried", 5)


def write_x(folder):
    from tensorboardX import SummaryWriter

    with SummaryWriter(os.path.join(folder, "x"), flush_secs=1) as writer:
        curves(writer)
        # torch 1.13's own histograms need an older numpy than the rest.
        writer.add_histogram("weights", np.arange(100, dtype=np.float32), 3)


def write_torch(folder):
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(os.path.join(folder, "torch")) as writer:
        curves(writer)
        writer.add_audio("sound", np.zeros(100, dtype=np.float32), 6)
        writer.add_hparams({"lr": 0.1}, {"best": 0.5}, run_name="sweep")
    # A training that begins again at step 200.
    with SummaryWriter(os.path.join(folder, "torch"), purge_step=200,
                       filename_suffix=".again") as writer:
        for step in range(200, 250):
            writer.add_scalar("train/loss", 5.0 + step, step)


def write_tensors(folder):
    from tensorboard.compat.proto import event_pb2, summary_pb2
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    from tensorboard.util import tensor_util

    writer = EventFileWriter(os.path.join(folder, "tensors"))
    kinds = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
             "bool"]  # their reader knows no uint32 and uint64
    metadata = summary_pb2.SummaryMetadata()
    metadata.plugin_data.plugin_name = "scalars"
    metadata.data_class = summary_pb2.DATA_CLASS_SCALAR
    for step in range(5):
        for kind in kinds:
            number = np.array([0, 1, 100, -1, 3][step]).astype(kind)
            event = event_pb2.Event(wall_time=1000.5 + step, step=step)
            value = event.summary.value.add(tag=kind)
            value.tensor.CopyFrom(tensor_util.make_tensor_proto(number))
            if step == 0:  # later ones say it no more, as TensorFlow's writer does
                value.metadata.CopyFrom(metadata)
            writer.add_event(event)
    event = event_pb2.Event(wall_time=1.0, step=9)
    event.summary.value.add(tag="vector").tensor.CopyFrom(
        tensor_util.make_tensor_proto(np.arange(3, dtype=np.float32)))
    writer.add_event(event)
    writer.close()


def main():
    folder = sys.argv[1]
    write_x(folder)
    write_tensors(folder)
    try:
        import torch  # noqa: F401
    except ImportError:
        print("no torch here", file=sys.stderr)
        return
    write_torch(folder)


if __name__ == "__main__":
    main()
