"""`doctor`: what it says of libraries that work, lack something, or go wrong when they are tried."""

import json
import os
import shutil
import time

import pytest
from command import BINARY, answer, roundhouse

LIBRARIES = os.path.join(os.path.dirname(os.path.dirname(BINARY)), "lib")


def library(name):
    return os.path.join(LIBRARIES, name + ".so")


def examine(path, code, *options, **variables):
    """The one entry of a report on a library."""
    environment = {"LD_LIBRARY_PATH": "", **variables}
    done = roundhouse("doctor", "--plugin", path, *options, "--json", env=environment)
    assert (done.returncode, done.stderr) == (code, ""), done
    [entry] = json.loads(done.stdout)["providers"]
    assert entry["ok"] == (code == 0)
    return entry


@pytest.mark.parametrize(
    ("name", "provider"),
    [("roundhouse_provider_example", "ExampleExecutionProvider"), ("roundhouse_provider_fake_device", "FakeDeviceExecutionProvider")],
)
def test_a_plugin_that_works(name, provider):
    entry = examine(library(name), 0)
    assert (entry["verdict"], entry["remedy"], entry["probe"]["verdict"]) == ("ready", "", "works")
    [found] = entry["probe"]["providers"]
    assert found["name"] == provider and found["devices"] and (found["nodes"], found["of"]) == (2, 3)
    needed = {d["name"]: d for d in entry["dependencies"]}
    libc = needed["libc.so.6"]
    assert os.path.exists(libc["path"]) and libc["version"].startswith("2.") and not any(d["problem"] for d in needed.values())


# What RH_FAULT says, the probe's verdict, and what stands in the verdict of the report.
FAULTS = [
    ("crash at load", "crashes", ["SIGSEGV", "load the library"]),
    ("crash", "crashes", ["SIGSEGV", "register it"]),
    ("exit", "crashes", ["code 7", "register it"]),
    ("throw", "fails", ["CreateEpFactories", "thrown through the interface"]),
    ("newer host", "fails", ["needs API version 1000"]),
    ("no device", "works", ["finds no device"]),
    ("crash in session", "crashes", ["SIGABRT", "make a session of UnsoundExecutionProvider"]),
    ("", "fails", ["the device is on fire", "UnsoundExecutionProvider"]),
]


@pytest.mark.parametrize(("fault", "probed", "words"), FAULTS, ids=[fault[0] or "error" for fault in FAULTS])
def test_a_plugin_that_goes_wrong(fault, probed, words):
    entry = examine(library("unsound_plugin"), 3, RH_FAULT=fault)
    assert entry["probe"]["verdict"] == probed and entry["remedy"]
    assert all(word in entry["verdict"] for word in words), entry["verdict"]
    if fault == "crash":
        assert entry["probe"]["output"] == "unsound plugin: about to start"


@pytest.mark.parametrize("fault", ["hang", "hang in session"])
def test_a_plugin_that_hangs_is_left_behind(fault):
    begin = time.monotonic()
    entry = examine(library("unsound_plugin"), 3, "--time-limit", "1", RH_FAULT=fault)  # which would wait for ever
    assert entry["probe"]["verdict"] == "hangs" and "within 1000 ms" in entry["verdict"]
    assert time.monotonic() - begin >= 1


def test_dependencies():
    plugin = library("needing_plugin")
    missing = examine(plugin, 3)
    assert missing["probe"] is None and missing["verdict"] == "librh_test_needed.so.2 is not found; needing_plugin.so needs it"
    assert "LD_LIBRARY_PATH" in missing["remedy"]
    old = examine(plugin, 3, LD_LIBRARY_PATH=os.path.join(LIBRARIES, "needed_1"))
    assert old["probe"] is None and "librh_test_needed.so.2 is too old: it lacks RH_TEST_2.0" in old["verdict"]
    right = examine(plugin, 3, LD_LIBRARY_PATH=os.path.join(LIBRARIES, "needed_2"))
    [needed] = [d for d in right["dependencies"] if d["name"] == "librh_test_needed.so.2"]
    assert (needed["path"], needed["version"], needed["problem"]) == (
        os.path.join(LIBRARIES, "needed_2", "librh_test_needed.so.2"),
        "2.0",
        "",
    )
    assert "exports no CreateEpFactories" in right["verdict"]


def test_files_that_are_no_plugins(tmp_path):
    text, cut = tmp_path / "text.so", tmp_path / "cut.so"
    text.write_text("not a library")
    whole = open(library("unsound_plugin"), "rb").read()
    for path, words in ((tmp_path / "none.so", "there is no file"), (text, "no ELF file")):
        entry = examine(path, 3)
        assert words in entry["verdict"] and entry["remedy"] and entry["probe"] is None
    for length in range(0, len(whole), max(1, len(whole) // 12)):
        cut.write_bytes(whole[:length])
        assert examine(cut, 3)["verdict"]
    other = bytearray(whole)
    other[18:20] = (243).to_bytes(2, "little")  # RISC-V
    cut.write_bytes(other)
    assert "another processor" in examine(cut, 3)["verdict"]


def test_the_whole_report(tmp_path):
    report = answer("doctor", "--time-limit", "60")
    providers = {p.get("name"): p for p in report["providers"] if p.get("name")}
    assert providers["CPUExecutionProvider"]["verdict"] == "ready"
    assert providers["CoreMLExecutionProvider"]["verdict"] == "not for this system"
    assert providers["ArmNNExecutionProvider"]["verdict"] == "gone" and "ACL" in providers["ArmNNExecutionProvider"]["remedy"]
    tensorrt = providers["TensorrtExecutionProvider"]
    assert tensorrt["verdict"] == "not installed" and "roundhouse_provider_tensorrt.so" in tensorrt["remedy"]
    assert {os.path.basename(p["library"]) for p in report["providers"] if p["library"]} >= {"roundhouse_provider_example.so"}
    assert report["hardware"][0]["type"] == "CPU"
    assert report["amx"]["used"] == (report["amx"]["reason"] == "")
    text = roundhouse("doctor").stdout
    assert "CPUExecutionProvider  ready" in text and "libc.so.6" in text and "--all" in text and "TensorRT" not in text
    assert "TensorrtExecutionProvider  not installed" in roundhouse("doctor", "--all").stdout
    # A known provider whose library is there but whose device is not.
    shutil.copy(library("roundhouse_provider_example"), tmp_path / "roundhouse_provider_tensorrt.so")
    done = roundhouse("doctor", env={"ROUNDHOUSE_PROVIDER_PATH": str(tmp_path)})
    if "10de" not in done.stdout:
        assert done.returncode == 3 and "no device that the NVIDIA driver is for" in done.stdout


class MadeUpMachine:
    """A folder with /sys, /dev and /etc."""

    def __init__(self, root):
        self.root, self.libraries = root, root / "libraries"
        self.libraries.mkdir()

    def write(self, path, text=""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def device(self, address, vendor, number, module=None):
        folder = f"sys/devices/{address}"
        self.write(f"{folder}/vendor", f"{vendor:#06x}\n")
        self.write(f"{folder}/device", f"{number:#06x}\n")
        if module:
            (self.root / folder / "driver").symlink_to(f"/sys/bus/pci/drivers/{module}")
            self.write(f"sys/module/{module}/version", "1.2.3\n")
        return self.root / folder

    def list(self, device, kind, *names):
        """In a class such as drm."""
        for name in names:
            entry = self.root / "sys/class" / kind / name
            entry.mkdir(parents=True)
            (entry / "device").symlink_to(device)

    def library(self, name):
        shutil.copy(library("unsound_plugin"), self.libraries / name)

    def examined(self):
        """The accelerators of the report."""
        done = roundhouse("doctor", "--root", self.root, "--json", "--plugin", "none.so", env={"LD_LIBRARY_PATH": str(self.libraries)})
        return json.loads(done.stdout)["accelerators"]


@pytest.fixture
def machine(tmp_path):
    return MadeUpMachine(tmp_path)


def test_a_gpu_from_the_kernel_up_to_the_libraries(machine):
    card = machine.device("pci0000:00/0000:03:00.0", 0x8086, 0x56A0)
    machine.list(card, "drm", "card0", "renderD128")

    def verdict():
        [gpu] = machine.examined()
        assert (gpu["type"], gpu["vendor_id"], gpu["device_id"], gpu["name"]) == ("GPU", 0x8086, 0x56A0, "Intel GPU driver")
        assert gpu["providers"] == ["OpenVINO", "WebGPU"] and gpu["ok"] == (gpu["verdict"] == "ready") == (not gpu["remedy"])
        return gpu["verdict"], gpu

    assert verdict()[0] == "the kernel has no driver for it"
    (card / "driver").symlink_to("/sys/bus/pci/drivers/vfio-pci")
    assert verdict()[0] == "the kernel's driver for it is vfio-pci, expected i915 or xe"
    (card / "driver").unlink()
    (card / "driver").symlink_to("/sys/bus/pci/drivers/i915")
    node = machine.root / "dev/dri/renderD128"
    assert verdict()[0] == f"there is no file '{node}'"
    machine.write("dev/dri/renderD128")
    if os.geteuid() != 0:  # to whom every file is open
        node.chmod(0)
        text, gpu = verdict()
        assert "cannot be opened: Permission denied" in text and "group" in gpu["remedy"]
        node.chmod(0o600)
    for name, remedy in (("libze_loader.so.1", "libze1"), ("libze_intel_gpu.so.1", "compute runtime"), ("libOpenCL.so.1", "ocl-icd")):
        text, gpu = verdict()
        if text == f"{name} is not found":  # it may be installed here
            assert remedy in gpu["remedy"]
            machine.library(name)
    machine.write("etc/OpenCL/vendors/intel.icd", "libigdrcl.so")
    text, gpu = verdict()
    assert text == "ready" and gpu["nodes"] == [str(node)] and gpu["icds"] == [str(machine.root / "etc/OpenCL/vendors/intel.icd")]
    assert all(entry["path"] for entry in gpu["libraries"])


def test_several_accelerators(machine):
    machine.list(machine.device("a", 0x8086, 0x7D1D, "intel_vpu"), "accel", "accel0")
    machine.list(machine.device("b", 0x10DE, 0x2330, "nvidia"), "drm", "card1", "renderD129")
    machine.list(machine.device("c", 0x1AF4, 0x1050, "virtio-pci"), "drm", "card0", "renderD128")
    machine.list(machine.device("d", 0x1022, 0x1502, "amdxdna"), "accel", "accel1")
    for file in ("nvidiactl", "nvidia0", "nvidia-modeset", "accel/accel0", "accel/accel1", "fastrpc-cdsp"):
        machine.write(f"dev/{file}")
    for name in ("libcuda.so.1", "libze_loader.so.1", "libze_intel_npu.so.1", "libxrt_coreutil.so.2", "libcdsprpc.so"):
        machine.library(name)
    found = {a["name"]: a for a in machine.examined()}
    assert {name: a["verdict"] for name, a in found.items()} == {
        "": "no provider that is known here uses it",
        "NVIDIA driver": "ready",
        "Intel NPU driver": "ready",
        "AMD XDNA driver": "ready",
        "Qualcomm FastRPC driver": "ready",
    }
    nvidia = found["NVIDIA driver"]
    assert nvidia["nodes"] == [str(machine.root / "dev" / name) for name in ("nvidiactl", "nvidia0")]
    assert (nvidia["module"], nvidia["module_version"], nvidia["device_id"]) == ("nvidia", "1.2.3", 0x2330)
    assert nvidia["libraries"][0]["path"] == str(machine.libraries / "libcuda.so.1")
    assert found["Intel NPU driver"]["type"] == "NPU" and found["Qualcomm FastRPC driver"]["vendor_id"] == 0
    text = roundhouse("doctor", "--root", machine.root, env={"LD_LIBRARY_PATH": str(machine.libraries)}).stdout
    assert (
        "GPU 10de:2330  ready\n  driver      NVIDIA driver nvidia 1.2.3" in text
        and "for         CUDA, TensorRT, NvTensorRtRtx, WebGPU" in text
    )


def test_a_machine_without_accelerators(machine):
    assert machine.examined() == []
