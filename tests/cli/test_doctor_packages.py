"""What `doctor` says of the Python packages that lie side by side: which are there, and where two lay out the same files."""

import json

import pytest
from command import roundhouse

OURS, STOCK = (
    'importlib.import_module("roundhouse").install_as_onnxruntime()',
    "from onnxruntime.capi._pybind_state import get_all_providers",
)


def install(folder, distribution, *files):
    info = folder / f"{distribution}.dist-info"
    info.mkdir(parents=True)
    (info / "RECORD").write_text("".join(f"{file},sha256=x,1\n" for file in files))


@pytest.fixture
def folder(tmp_path):
    """Site-packages with Roundhouse, numpy, and a package whose name only begins as ONNX Runtime's."""
    (tmp_path / "roundhouse").mkdir()
    (tmp_path / "roundhouse/__init__.py").write_text("")
    install(tmp_path, "roundhouse-0.1.0", "roundhouse/__init__.py")
    install(tmp_path, "numpy-2.4.6", "numpy/__init__.py")
    install(tmp_path, "onnxruntime_extensions-0.15.2", "onnxruntime_extensions/__init__.py")
    return tmp_path


def lay_out(folder, text):
    (folder / "onnxruntime").mkdir(exist_ok=True)
    (folder / "onnxruntime/__init__.py").write_text(text)


def doctor(folder, *options):
    return roundhouse("doctor", "--packages", folder, "--plugin", "none.so", *options).stdout


def examine(folder):
    return json.loads(doctor(folder, "--json"))["python"]


def test_roundhouse_alone(folder):
    found = examine(folder)
    assert found["packages"] == [{"name": "roundhouse", "version": "0.1.0", "ours": True}]
    assert (found["import_onnxruntime"], found["verdict"], found["remedy"]) == ("", "", "")


@pytest.mark.parametrize("version, text, whose", [("1.32.0+roundhouse.0.1.0", OURS, "Roundhouse"), ("1.32.0", STOCK, "ONNX Runtime")])
def test_one_package_of_the_name(folder, version, text, whose):
    install(folder, f"onnxruntime-{version}", "onnxruntime/__init__.py")
    lay_out(folder, text)
    found = examine(folder)
    assert found["packages"][0] == {"name": "onnxruntime", "version": version, "ours": whose == "Roundhouse"}
    assert (found["import_onnxruntime"], found["verdict"]) == (whose, "")
    printed = doctor(folder)
    assert f"package     onnxruntime {version}" in printed and f"`import onnxruntime` gets {whose}" in printed and "overlap" not in printed


def test_two_packages_lay_out_the_same_files(folder):
    install(folder, "onnxruntime-1.32.0+roundhouse.0.1.0", "onnxruntime/__init__.py")
    install(folder, "onnxruntime_gpu-1.32.0", "onnxruntime/__init__.py")
    lay_out(folder, STOCK)
    found = examine(folder)
    assert found["verdict"] == "onnxruntime onnxruntime-gpu lay out the same files; those of ONNX Runtime are there"
    assert found["remedy"] == "pip uninstall onnxruntime onnxruntime-gpu, then install the one that you want"
    assert "overlap" in doctor(folder)


def test_files_that_another_package_wrote_over(folder):
    """As after `pip uninstall onnxruntime-gpu`, when that was installed last."""
    install(folder, "onnxruntime-1.32.0+roundhouse.0.1.0", "onnxruntime/__init__.py")
    assert examine(folder)["verdict"] == "the files of onnxruntime are not those that it came with"
    lay_out(folder, STOCK)
    assert examine(folder)["import_onnxruntime"] == "ONNX Runtime"
    assert examine(folder)["remedy"].startswith("pip install --force-reinstall onnxruntime")


def test_a_folder_without_the_package(tmp_path):
    assert examine(tmp_path) is None
