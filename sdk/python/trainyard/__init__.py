# SPDX-License-Identifier: Apache-2.0
"""Trainyard: train on a yard of machines, or on this one.

    >>> from trainyard import Estimator
    >>> Estimator(command="python train.py", source_dir="src", instance_type="local").fit()
"""
from __future__ import annotations

from .errors import (ApiError, ConnectionFailed, NotFound, TensorboardLimitExceeded,
                     UnexpectedStatusException, YardError)
from .estimator import Estimator
from .job import InstanceSpec, TrainingJob
from .session import Session, get_default_session, setup_default_session

__version__ = "0.1.0"
__all__ = [
    "ApiError", "ConnectionFailed", "Estimator", "InstanceSpec", "NotFound", "Session",
    "TensorboardLimitExceeded", "TrainingJob", "UnexpectedStatusException", "YardError",
    "get_default_session", "setup_default_session",
]
