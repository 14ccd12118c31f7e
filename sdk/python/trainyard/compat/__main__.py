# SPDX-License-Identifier: Apache-2.0
"""python -m trainyard.compat SCRIPT [ARGS]: runs a script with ``pai`` at hand."""
from __future__ import annotations

import os
import runpy
import sys

from . import install


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.stderr.write("usage: python -m trainyard.compat SCRIPT [ARGS]\n\n"
                         "Runs SCRIPT; `from pai.estimator import Estimator` and its like are "
                         "Trainyard's\nwhere the vendor's package is not installed.\n")
        sys.exit(0 if len(sys.argv) > 1 else 2)
    if not install():
        sys.stderr.write("trainyard.compat: the vendor's package is installed and is used\n")
    script = sys.argv[1]
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")


main()
