#!/usr/bin/env python3
"""portable_wheels.py LINKED STUBS PLATFORM OUT [NAME...]: wheels of what portable_link.py made, for interpreters that need not be here.

One of `roundhouse` for each module in LINKED/python_modules, and one of each NAME (`onnxruntime`, `onnxruntime-openvino`), which gives
programs ONNX Runtime's names. The same files give the same bytes: files are in order, and of the time SOURCE_DATE_EPOCH.
"""

import base64
import copy
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile

from pyproject_metadata import StandardMetadata

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXTRAS = {"openvino"}  # names such as onnxruntime-openvino bring in roundhouse[openvino]


def entry(name, mode=0o644):
    """Earlier than 1980 a zip file cannot say."""
    seconds = max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800)
    info = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
    info.external_attr = (0o100000 | mode) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def write_wheel(out, project, tag, files, *, pure):
    """FILES: what the wheel holds, by its path there."""
    metadata = StandardMetadata.from_pyproject({"project": project}, ROOT)
    name = re.sub(r"[-_.]+", "_", metadata.name)
    info = f"{name}-{metadata.version}.dist-info"
    files = dict(files)
    files[f"{info}/METADATA"] = bytes(metadata.as_rfc822())
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: roundhouse\nRoot-Is-Purelib: {str(pure).lower()}\nTag: {tag}\n".encode()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    scripts = "".join(f"{command} = {function}\n" for command, function in metadata.scripts.items())
    if scripts:
        files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}".encode()
    record = ""
    path = out / f"{name}-{metadata.version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for inside, content in sorted(files.items(), key=lambda item: (".dist-info/" in item[0], item[0])):
            program = ".so" in pathlib.PurePath(inside).name or "/bin/" in inside
            archive.writestr(entry(inside, 0o755 if program else 0o644), content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{inside},sha256={digest},{len(content)}\n"
        archive.writestr(entry(f"{info}/RECORD"), record + f"{info}/RECORD,,\n")
    print(path.name)


def folder_content(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def roundhouse(linked, platform, out):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    common = {f"roundhouse/{path}": content for path, content in folder_content(linked / "roundhouse").items()}
    sources = folder_content(ROOT / "python/roundhouse").items()
    common.update({f"roundhouse/{path}": content for path, content in sources if path.endswith((".py", ".pyi", "py.typed"))})
    for module in sorted((linked / "python_modules").glob("*/_native.so")):
        tag = module.parent.name
        suffix = "abi3" if tag == "abi3" else f"cpython-{tag[2:]}-x86_64-linux-gnu"
        interpreter = "cp312-abi3" if tag == "abi3" else f"{tag}-{tag}"
        files = {**common, f"roundhouse/_native.{suffix}.so": module.read_bytes()}
        own = copy.deepcopy(project)
        own["requires-python"] = ">=3.12" if tag == "abi3" else f"=={tag[2]}.{tag[3:]}.*"
        write_wheel(out, own, f"{interpreter}-{platform}", files, pure=False)


def interface_version():
    header = (ROOT / "include/roundhouse/onnxruntime_c_api.h").read_text()
    return f"1.{re.search(r'#define ORT_API_VERSION ([0-9]+)', header)[1]}.0"


def forwarder(source, soname, stubs):
    """A library that hands on to Roundhouse's, for systems with an older C library."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, soname)
        command = ["cc", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", source, "-o", made, "-nodefaultlibs", f"-Wl,-soname,{soname}"]
        command += ["-Wl,-rpath,$ORIGIN/../../roundhouse", "-Wl,-s", "-Wl,-z,defs", "-Wl,--as-needed", *sorted(stubs.glob("lib*.so.*"))]
        subprocess.run([*command, stubs / "libc_nonshared.a"], check=True)
        return made.read_bytes()


def onnxruntime(name, stubs, platform, out):
    source = ROOT / "python/onnxruntime_wheel"
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    extra = name.removeprefix("onnxruntime").removeprefix("-")
    if extra and extra not in EXTRAS:
        names = ["onnxruntime", *(f"onnxruntime-{known}" for known in sorted(EXTRAS))]
        sys.exit(f"no package of the name '{name}': there is no provider for it yet; there are {', '.join(names)}")
    if extra:
        project["dependencies"] = [wanted.replace("roundhouse", f"roundhouse[{extra}]", 1) for wanted in project["dependencies"]]
    project["name"] = name
    files = {}
    for library, soname in (
        (f"libonnxruntime.so.{interface_version()}", "libonnxruntime.so.1"),
        ("libonnxruntime_providers_shared.so",) * 2,
    ):
        content = forwarder(source / f"{library.split('.')[0].removeprefix('lib')}.c", soname, stubs)
        files[f"onnxruntime/capi/{library}"] = content
    files.update(
        {f"onnxruntime/{path}": content for path, content in folder_content(source / "onnxruntime").items() if "__pycache__" not in path}
    )
    write_wheel(out, project, f"py3-none-{platform}", files, pure=False)


def main():
    linked, stubs, platform, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], pathlib.Path(sys.argv[4])
    out.mkdir(parents=True, exist_ok=True)
    roundhouse(linked, platform, out)
    for name in sys.argv[5:]:
        onnxruntime(name, stubs, platform, out)


if __name__ == "__main__":
    main()
