#!/usr/bin/env python3
"""windows_wheel.py BUILT OUT: the wheel of `roundhouse` for Windows on x86-64 and CPython 3.12 and newer, of a build of the preset windows.

The same files give the same bytes, as portable_wheels.py has it.
"""

import pathlib
import sys
import tomllib

from portable_wheels import ROOT, folder_content, write_wheel

NATIVE = ("roundhouse.dll", "roundhouse.exe", "roundhouse_provider_openvino.dll", "roundhouse_provider_cuda.dll")


def main():
    built, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    project["requires-python"] = ">=3.12"
    project["classifiers"] = [*project["classifiers"][:-1], "Operating System :: Microsoft :: Windows"]
    sources = folder_content(ROOT / "python/roundhouse").items()
    files = {f"roundhouse/{path}": content for path, content in sources if path.endswith((".py", ".pyi", "py.typed"))}
    for name in NATIVE:  # Windows looks for a library beside the module and the program that need it
        files[f"roundhouse/{name}"] = (built / "lib" / name).read_bytes()
    files["roundhouse/_native.pyd"] = (built / "python_modules/abi3/_native.pyd").read_bytes()
    write_wheel(out, project, "cp312-abi3-win_amd64", files, pure=False)


if __name__ == "__main__":
    main()
