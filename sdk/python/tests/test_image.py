# SPDX-License-Identifier: Apache-2.0
"""The catalogue as Python sees it, and boards."""
import pytest

from trainyard import Estimator, TensorboardLimitExceeded, image
from trainyard.image import ImageScope, list_images, retrieve
from trainyard.tensorboard import TensorBoard

SMALL = {"cpu": "0.1", "memory": "64Mi"}


@pytest.fixture(scope="module")
def catalogue(yard):
    from trainyard.session import Session
    with Session(yard.url) as s:
        for name, version, chip, use in (("fw-a", "2.9.1", "CPU", ["training"]),
                                         ("fw-b", "2.10.0", "CPU", ["training", "develop"]),
                                         ("fw-c", "2.10.0", "GPU", ["training"]),
                                         ("fw-d", "3.0", "CPU", ["inference"])):
            s._http.json("PUT", "/images/" + name, value={
                "framework": "Frame", "version": version, "accelerator": chip, "python": "3.11",
                "use": use, "runs": "host"})


def test_images_are_listed_newest_first(catalogue, yard):
    assert [i.image_name for i in list_images("frame")] == ["fw-b", "fw-c", "fw-a"]
    assert [i.image_name for i in list_images("Frame", ImageScope.INFERENCE)] == ["fw-d"]
    assert len(list_images("Frame", None)) == 4
    assert {i.framework_name for i in list_images()} >= {"Frame"}
    with pytest.raises(ValueError, match="image_scope"):
        list_images("Frame", "cooking")


def test_one_is_found_by_version_and_accelerator(catalogue, yard):
    info = retrieve("FRAME")
    assert (info.image_name, info.framework_version, info.accelerator_type) == \
        ("fw-b", "2.10.0", "CPU")
    assert info.python_version == "3.11" and info.image_scope == "training"
    assert retrieve("Frame", "latest", "gpu").image_name == "fw-c"
    assert retrieve("Frame", "2.9").image_name == "fw-a"
    assert retrieve("Frame", "2.10.0").image_uri == str(retrieve("Frame"))
    with pytest.raises(RuntimeError, match="no Frame 1.0 for CPU; it has: 2.10.0 CPU, 2.10.0 GPU"):
        retrieve("Frame", "1.0")
    with pytest.raises(RuntimeError, match="no training image of Nothing; it has: .*Frame"):
        retrieve("Nothing")


def test_versions_are_ordered_as_people_mean_them():
    order = ["1.9", "1.10", "2.0rc1", "2.0", "2.0.1", "10.0"]
    assert sorted(order[::-1], key=image._version_key) == order


def test_an_image_of_the_catalogue_runs(catalogue, yard):
    est = Estimator(image_uri=retrieve("Frame").image_uri, command="echo ran", instance_spec=SMALL)
    est.fit(show_logs=False)
    assert est.logs() == ["ran"]


def test_kinds_of_machine_become_resources(yard):
    from trainyard.session import get_default_session
    s = get_default_session()
    s._http.json("PUT", "/instance-types/tiny", value={"cpu_milli": 150, "memory_bytes": 64 << 20})
    s._http.json("PUT", "/instance-types/vast", value={"cpu_milli": 1000000,
                                                       "memory_bytes": 1 << 45})
    job = Estimator(command="true", instance_type="tiny").fit(show_logs=False)
    resources = job.spec["roles"][0]["resources"]
    assert (resources["cpu"], resources["memory"]) == (0.15, "64Mi")
    with pytest.raises(ValueError, match="as large as 'vast', the largest that fits is "):
        Estimator(command="true", instance_type="vast").fit()


def test_a_sixth_board_is_refused_and_the_five_are_named(yard):
    ests = [Estimator(command="true", instance_spec=SMALL) for _ in range(6)]
    for e in ests:
        e.fit(show_logs=False)
    boards = [e.tensorboard() for e in ests[:5]]
    assert ests[0].tensorboard().id == boards[0].id, "a job's board is found again"
    with pytest.raises(TensorboardLimitExceeded) as limit:
        ests[5].tensorboard()
    assert all(b.id in str(limit.value) for b in boards)
    assert {b.id for b in TensorBoard.list()} >= {b.id for b in boards}
    assert boards[0].app_uri and boards[0].app_uri.startswith("http")
    boards[0].delete()
    assert boards[0].status == "ended", "also while its task still ends"
    assert boards[0].app_uri is None
    another = ests[0].tensorboard()
    assert another.id != boards[0].id
    another.delete()
    sixth = ests[5].tensorboard()
    sixth.stop()
    again = sixth.start()
    assert again.status == "running"
    for b in boards[1:] + [again]:
        b.delete()
