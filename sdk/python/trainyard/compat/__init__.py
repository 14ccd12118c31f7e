# SPDX-License-Identifier: Apache-2.0
"""``pai.…`` where the vendor's package is not installed.

After ``import trainyard.compat`` these work unchanged, in this process:

    from pai.estimator import Estimator
    from pai.image import retrieve, list_images, ImageScope
    from pai.session import setup_default_session

and ``python -m trainyard.compat SCRIPT [ARGS]`` runs a script so, without a line changed in it.
Where the vendor's package is installed nothing is done: its modules are what ``pai`` means.
"""
from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Callable, Dict, Optional, Sequence

__all__ = ["active", "install"]


def _estimator() -> Dict[str, Any]:
    from .. import estimator
    return {"Estimator": estimator.Estimator}


def _image() -> Dict[str, Any]:
    from .. import image
    return {name: getattr(image, name) for name in image.__all__}


def _session() -> Dict[str, Any]:
    from .. import session
    return {name: getattr(session, name) for name in session.__all__}


def _job() -> Dict[str, Any]:
    from .. import job
    return {name: getattr(job, name) for name in job.__all__}


def _tensorboard() -> Dict[str, Any]:
    from .. import tensorboard
    return {"TensorBoard": tensorboard.TensorBoard}


def _exception() -> Dict[str, Any]:
    from .. import errors
    return {"PAIException": errors.YardError,
            "UnexpectedStatusException": errors.UnexpectedStatusException,
            "TensorboardLimitExceeded": errors.TensorboardLimitExceeded}


def _oss_utils() -> Dict[str, Any]:
    from .. import storage

    def upload(source_path: str, oss_path: str, bucket: Any = None, **_: Any) -> str:
        """To ``pfs:OSS_PATH``, below one's home; there are no buckets."""
        del bucket
        return storage.upload(source_path, oss_path)

    def download(oss_path: str, local_path: str, bucket: Any = None, **_: Any) -> str:
        del bucket
        return storage.download(oss_path, local_path)

    return {"upload": upload, "download": download}


def _file_system() -> Dict[str, Any]:
    from .. import inputs
    return {"FileSystemInput": inputs.FileSystemInput}


_MODULES: Dict[str, Callable[[], Dict[str, Any]]] = {
    "pai": dict,
    "pai.common": dict,
    "pai.common.oss_utils": _oss_utils,
    "pai.estimator": _estimator,
    "pai.exception": _exception,
    "pai.image": _image,
    "pai.job": _job,
    "pai.session": _session,
    "pai.tensorboard": _tensorboard,
    "pai.common.consts": dict,
    "pai.input": _file_system,
}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname: str, path: Optional[Sequence[str]],
                  target: Optional[ModuleType] = None
                  ) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname not in _MODULES:
            return None
        package = any(name.startswith(fullname + ".") for name in _MODULES)
        return importlib.machinery.ModuleSpec(fullname, self, origin="trainyard.compat",
                                              is_package=package)

    def exec_module(self, module: ModuleType) -> None:
        found = _MODULES[module.__name__]()
        module.__doc__ = "%s, as Trainyard's SDK provides it (trainyard.compat)." % module.__name__
        module.__dict__.update(found)
        module.__dict__["__all__"] = sorted(found)


def active() -> bool:
    """Whether ``pai`` is ours in this process."""
    return any(isinstance(f, _Finder) for f in sys.meta_path)


def install() -> bool:
    """Makes ``pai`` ours, unless the vendor's is here; gives whether it is."""
    if not active() and ("pai" in sys.modules or importlib.util.find_spec("pai") is not None):
        return False
    if not active():
        sys.meta_path.append(_Finder())
    return True


install()
