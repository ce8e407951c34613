"""The wheels of `scripts/wheel manylinux`: what systems they are for, their sizes, and programs on each Python."""

import calendar
import re
import sys
import zipfile

import pytest
from support import PROGRAM, ROOT, TOOLS, VERSIONS, WHEELS, environment, libraries, required, run, write_models

LIBRARIES = {
    "libroundhouse.so.1",
    "roundhouse_provider_cuda.so",
    "roundhouse_provider_migraphx.so",
    "roundhouse_provider_openvino.so",
    "roundhouse_provider_rocm.so",
    "libroundhouse_regex.so",
    "libroundhouse_images.so",
}
OF_EVERY_SYSTEM = {"libgcc_s.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}


def wheels():
    return sorted(WHEELS.glob("*.whl"))


def newest_glibc(path):
    asked = re.findall(r"GLIBC_([0-9.]+)", run(["objdump", "-T", path]).stdout)
    return max((tuple(map(int, version.split("."))) for version in asked), default=(0,))


def needed(path):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run(["readelf", "-d", path]).stdout))


def test_there_is_one_for_each_python_and_name():
    assert [re.sub(r"-[0-9][^-]*-", " ", wheel.name, count=1) for wheel in wheels()] == [
        "onnxruntime py3-none-manylinux_2_28_x86_64.whl",
        "onnxruntime_openvino py3-none-manylinux_2_28_x86_64.whl",
        "roundhouse cp310-cp310-manylinux_2_28_x86_64.whl",
        "roundhouse cp311-cp311-manylinux_2_28_x86_64.whl",
        "roundhouse cp312-abi3-manylinux_2_28_x86_64.whl",
    ]


@pytest.mark.parametrize("name", ["onnxruntime-*", "onnxruntime_openvino-*", "*cp310*", "*cp311*", "*abi3*"])
def test_auditwheel_knows_it_for_glibc_2_28(name):
    [wheel] = WHEELS.glob(f"{name}.whl")
    said = " ".join(run([TOOLS / "auditwheel", "show", wheel]).stdout.split())
    found = re.search(r'platform tag: "manylinux_2_(\d+)_x86_64"', said)
    assert found and int(found[1]) <= 28, said


def test_what_is_inside(tmp_path):
    """The core is no larger than that of the build it was linked from; every library asks for an old C library and nothing else."""
    [wheel] = WHEELS.glob("roundhouse-*abi3*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path)
    package = tmp_path / "roundhouse"
    assert LIBRARIES | {"py.typed", "_native.pyi"} <= {path.name for path in package.iterdir()}
    built = tmp_path / "built.so"
    run(["strip", ROOT / "build/release/lib/libroundhouse.so.1", "-o", built])
    assert (package / "libroundhouse.so.1").stat().st_size <= built.stat().st_size
    for path in [*package.glob("*.so*"), package / "bin/roundhouse"]:
        assert newest_glibc(path) <= (2, 28), path.name
        assert needed(path) <= OF_EVERY_SYSTEM | {"libroundhouse.so.1"}, path.name
    for wheel in wheels():
        assert wheel.stat().st_size <= 14e6, wheel.name


def test_what_the_libraries_export(tmp_path):
    """Nothing of the libraries that they carry inside, which a process may have in another version."""
    [wheel] = WHEELS.glob("roundhouse-*abi3*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path)

    def exported(name):
        lines = run(["nm", "-D", "--defined-only", tmp_path / "roundhouse" / name]).stdout.splitlines()
        return {line.split()[-1] for line in lines}

    assert exported("libroundhouse.so.1") == set(re.findall(r"^ +(\w+);", (ROOT / "src/capi/exports.map").read_text(), re.M))
    assert exported("libroundhouse_images.so") == {"roundhouse_images"}
    assert exported("libroundhouse_regex.so") == {"roundhouse_regex"}
    assert exported("roundhouse_provider_openvino.so") == {"CreateEpFactories", "ReleaseEpFactory", "RhEpGetPasses", "RhEpGetRefusals"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_program(tmp_path, version):
    """Of a user who asked for the name onnxruntime alone: roundhouse and numpy come along."""
    write_models(tmp_path)
    python = environment(tmp_path / "venv", version, required())
    run([python, "-m", "pip", "check", "--disable-pip-version-check"], **libraries(version))
    said = run([python, "program.py", tmp_path], tmp_path, **libraries(version))
    assert said.stdout == f"ran {version.replace('.', ' ')}\n" and PROGRAM


def test_pip_takes_none_for_another_python(tmp_path):
    [wheel] = WHEELS.glob("*cp310*.whl")
    python = environment(tmp_path / "venv", "3.11")
    done = run([python, "-m", "pip", "install", "--no-deps", "--no-index", wheel], ok=False, **libraries("3.11"))
    assert done.returncode != 0 and "not a supported wheel" in done.stderr


def wheels_again(folder, *names):
    written = zipfile.ZipFile(wheels()[0]).infolist()[0].date_time  # of the commit that the wheels were made at
    variables = {"SOURCE_DATE_EPOCH": str(calendar.timegm((*written, 0, 0, 0)))}
    stubs = ROOT / "build/glibc-2.28"
    made = [TOOLS / "python", ROOT / "scripts/portable_wheels.py", ROOT / "build/portable", stubs, "manylinux_2_28_x86_64", folder, *names]
    return run(made, ROOT, ok=False, **variables)


def test_packing_again_gives_the_same_bytes(tmp_path):
    wheels_again(tmp_path, "onnxruntime", "onnxruntime-openvino")
    for wheel in wheels():
        assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes(), wheel.name


def test_linking_again_gives_the_same_bytes(tmp_path):
    build, stubs = ROOT / "build/release", ROOT / "build/glibc-2.28"
    run([sys.executable, ROOT / "scripts/portable_link.py", build, stubs, tmp_path, "python_abi3"], ROOT)
    linked = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert len(linked) >= 10
    for path in linked:
        assert (tmp_path / path).read_bytes() == (ROOT / "build/portable" / path).read_bytes(), path


def test_no_name_without_its_provider(tmp_path):
    done = wheels_again(tmp_path, "onnxruntime-gpu")
    assert done.returncode == 1 and "no package of the name 'onnxruntime-gpu': there is no provider for it yet" in done.stderr
