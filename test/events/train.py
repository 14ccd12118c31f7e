# SPDX-License-Identifier: Apache-2.0
"""train.py FOLDER STEPS PAUSE: a "training" that tells its loss by the real SummaryWriter and on
stdout; torch's writer where there is torch, else tensorboardX's."""
import math
import sys
import time

try:
    from torch.utils.tensorboard import SummaryWriter
except ImportError:
    from tensorboardX import SummaryWriter

folder, steps, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
writer = SummaryWriter(folder, flush_secs=1)
for step in range(steps):
    loss = 2 * math.exp(-step / 40) + 0.05 * math.sin(step / 3) + 0.1
    writer.add_scalar("train/loss", loss, step)
    writer.add_scalar("train/accuracy", 1 - loss / 3, step)
    writer.flush()
    print(f"step {step} loss={loss:.4f}", flush=True)
    time.sleep(pause)
writer.close()
