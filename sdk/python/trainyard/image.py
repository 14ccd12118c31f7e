# SPDX-License-Identifier: Apache-2.0
"""The yard's catalogue of images.

    >>> from trainyard.image import list_images, retrieve
    >>> retrieve("PyTorch", accelerator_type="GPU").image_uri
"""
from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .session import Session, session_or_default

__all__ = ["ImageInfo", "ImageScope", "list_images", "retrieve"]


class ImageScope:
    """What an image is for."""

    TRAINING = "training"
    INFERENCE = "inference"
    DEVELOP = "develop"

    @classmethod
    def to_list(cls) -> List[str]:
        return [cls.TRAINING, cls.INFERENCE, cls.DEVELOP]


class ImageInfo(NamedTuple):
    image_name: str
    image_uri: str
    framework_name: str
    framework_version: str
    image_scope: str
    accelerator_type: str  # CPU, GPU or NPU
    python_version: str
    os: str = ""
    runs: str = ""  # "host", or the container image
    description: str = ""

    def __str__(self) -> str:
        return self.image_uri


def _check_scope(scope: Optional[str]) -> None:
    if scope is not None and scope.lower() not in ImageScope.to_list():
        raise ValueError("image_scope: '%s' is none of %s"
                         % (scope, ", ".join(ImageScope.to_list())))


def _info(doc: Dict[str, Any], scope: Optional[str]) -> ImageInfo:
    use = [str(u) for u in doc.get("use") or ()]
    return ImageInfo(str(doc["name"]), str(doc["uri"]), str(doc.get("framework") or ""),
                     str(doc.get("version") or ""),
                     (scope or "").lower() or (use[0] if use else ""),
                     str(doc.get("accelerator") or ""), str(doc.get("python") or ""),
                     str(doc.get("os") or ""), str(doc.get("runs") or ""),
                     str(doc.get("description") or ""))


def _version_key(text: str) -> Tuple[Tuple[int, str], ...]:
    """2.10 is higher than 2.9, and 2.0 than 2.0rc1."""
    parts = re.findall(r"\d+|[a-z]+", text.lower())
    return tuple((int(p), "") if p.isdigit() else (-1, p) for p in parts) + ((0, ""),)


def list_images(framework_name: Optional[str] = None,
                image_scope: Optional[str] = ImageScope.TRAINING,
                session: Optional[Session] = None) -> List[ImageInfo]:
    """Images of the catalogue, by framework (in small letters or capitals) and version, the
    newest first.  image_scope=None: whatever they are for."""
    _check_scope(image_scope)
    s = session_or_default(session)
    found = []
    for doc in s._http.json("GET", "/images")["images"]:
        framework = str(doc.get("framework") or "")
        if framework_name and framework.lower() != framework_name.lower():
            continue
        if image_scope and image_scope.lower() not in (doc.get("use") or [ImageScope.TRAINING]):
            continue
        found.append(_info(doc, image_scope))
    found.sort(key=lambda i: (i.framework_name.lower(), i.image_name))
    found.sort(key=lambda i: _version_key(i.framework_version), reverse=True)
    found.sort(key=lambda i: i.framework_name.lower())
    return found


def retrieve(framework_name: str, framework_version: str = "latest", accelerator_type: str = "CPU",
             image_scope: str = ImageScope.TRAINING, session: Optional[Session] = None
             ) -> ImageInfo:
    """The image of a framework: of exactly this version (``2.3`` also means the newest 2.3.x), or
    the newest with ``latest``.  Raises RuntimeError that says which there are."""
    images = list_images(framework_name, image_scope, session)
    if not images:
        every = sorted({i.framework_name for i in list_images(None, image_scope, session)} - {""})
        raise RuntimeError("the catalogue has no %s image of %s; it has: %s"
                           % (image_scope, framework_name, ", ".join(every) or "none"))
    fit = [i for i in images if i.accelerator_type.upper() == accelerator_type.upper()]
    if framework_version and framework_version != "latest":
        fit = [i for i in fit if i.framework_version == framework_version] or \
            [i for i in fit if i.framework_version.startswith(framework_version + ".")]
    if not fit:
        have = ", ".join("%s %s" % (i.framework_version, i.accelerator_type) for i in images)
        raise RuntimeError("the catalogue has no %s %s for %s; it has: %s"
                           % (framework_name, framework_version, accelerator_type, have))
    return fit[0]
