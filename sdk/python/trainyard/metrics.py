# SPDX-License-Identifier: Apache-2.0
"""What jobs measure, as series of numbers."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Optional

__all__ = ["MetricPoint", "MetricSeries"]


class MetricPoint(NamedTuple):
    step: int
    time_ms: int
    value: float


@dataclass(frozen=True)
class MetricSeries:
    """One metric of one run; the server may have thinned its points out, not its figures."""

    name: str
    run: str
    source: str  # "tensorboard" (an event file) or "log" (a pattern found it)
    count: int
    min: Optional[float]
    max: Optional[float]
    last: Optional[float]
    points: List[MetricPoint]


def _number(value: Any) -> float:
    """JSON has no NaN and no infinity: null, or a word."""
    return float("nan") if value is None else float(value)


def _figure(value: Any) -> Optional[float]:
    return None if value is None else float(value)


def series_of(doc: Dict[str, Any]) -> List[MetricSeries]:
    return [MetricSeries(str(s["name"]), str(s.get("run") or ""), str(s.get("source") or ""),
                         int(s["count"]), _figure(s.get("min")), _figure(s.get("max")),
                         _figure(s.get("last")),
                         [MetricPoint(int(p[0]), int(p[1]), _number(p[2]))
                          for p in s.get("points") or ()])
            for s in doc.get("series") or ()]
