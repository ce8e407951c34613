#!/usr/bin/env python3
"""bindings.py LINKED OUT [NAME...]: packages of other languages that have Roundhouse's library inside, of what portable_link.py made.

node: a folder that npm installs as `onnxruntime-node`; node_windows: the same for Windows, where LINKED is build/windows; java: a jar in
the place of `onnxruntime-VERSION.jar`; nuget: a package with the native library, for `Microsoft.ML.OnnxRuntime.Managed`. What is written in
the language itself is the binding's own, fetched by its package manager.
"""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
NODE, JAVA, MANAGED = "1.30.0", "1.29.0", "1.29.0"
VERSION = "0.1.0"


def fetch_node(folder):
    subprocess.run(["npm", "pack", "--silent", f"onnxruntime-node@{NODE}"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["tar", "-xzf", *folder.glob("onnxruntime-node-*.tgz")], cwd=folder, check=True)
    return folder / "package"


def node_package(out, system, copy):
    """The binding for Node, without what is for other systems and without its step that fetches more libraries; COPY fills the folder of
    its own library."""
    with tempfile.TemporaryDirectory() as made:
        package = fetch_node(pathlib.Path(made))
        [natives] = (package / "bin").glob(f"napi-v*/{system}/x64")
        target = out / ("onnxruntime-node" if system == "linux" else f"onnxruntime-node-{system}")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(package, target, ignore=lambda folder, names: ["bin", "script"] if pathlib.Path(folder) == package else [])
        inside = target / natives.relative_to(package)
        inside.mkdir(parents=True)
        shutil.copy(natives / "onnxruntime_binding.node", inside)
    copy(inside)
    described = json.loads((target / "package.json").read_text())
    described["version"] += f"+roundhouse.{VERSION}"
    described["description"] += ", on Roundhouse's library"
    described["os"], described["cpu"] = [system], ["x64"]
    described.pop("scripts", None)
    described.pop("devDependencies", None)
    (target / "package.json").write_text(json.dumps(described, indent=2) + "\n")
    return target


def node(linked, out):
    return node_package(out, "linux", lambda folder: copy_libraries(linked, folder, "libonnxruntime.so.1"))


def node_windows(built, out):
    """Of a build of the preset windows."""

    def copy(folder):
        for library in ("onnxruntime.dll", "roundhouse_provider_openvino.dll", "roundhouse_provider_cuda.dll"):
            shutil.copy(built / "lib" / library, folder)

    return node_package(out, "win32", copy)


def copy_libraries(linked, folder, name):
    """The library under the name that a binding looks for, and what it loads from beside it."""
    shutil.copy(linked / "names/libonnxruntime.so.1", folder / name)
    for library in (
        "libroundhouse_regex.so",
        "libroundhouse_images.so",
        "roundhouse_provider_openvino.so",
        "roundhouse_provider_migraphx.so",
        "roundhouse_provider_cuda.so",
        "roundhouse_provider_rocm.so",
    ):
        shutil.copy(linked / "roundhouse" / library, folder)


def java(linked, out):
    """The binding for Java, its library for this system exchanged and those for others left out."""
    artifact = f"com.microsoft.onnxruntime:onnxruntime:{JAVA}:jar"
    with tempfile.TemporaryDirectory() as made:
        fetch = ["mvn", "-q", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={made}", "-Dmdep.overWriteReleases=true"]
        subprocess.run(fetch, cwd=made, check=True, stdout=subprocess.DEVNULL)
        [stock] = pathlib.Path(made).glob("*.jar")
        target = out / f"onnxruntime-{JAVA}-roundhouse.{VERSION}.jar"
        with zipfile.ZipFile(stock) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as jar:
            for entry in source.infolist():
                native = entry.filename.startswith("ai/onnxruntime/native/")
                if native and not entry.filename.startswith("ai/onnxruntime/native/linux-x64/"):
                    continue
                content = source.read(entry)
                if entry.filename.endswith("linux-x64/libonnxruntime.so"):
                    content = (linked / "names/libonnxruntime.so.1").read_bytes()
                jar.writestr(entry, content)
    return target


NUSPEC = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">
  <metadata>
    <id>Roundhouse.OnnxRuntime</id>
    <version>{version}</version>
    <authors>Roundhouse</authors>
    <license type="expression">Apache-2.0</license>
    <description>Roundhouse's library under the name that Microsoft.ML.OnnxRuntime.Managed opens</description>
    <dependencies>
      <group targetFramework=".NETStandard2.0">
        <dependency id="Microsoft.ML.OnnxRuntime.Managed" version="{managed}" />
      </group>
    </dependencies>
  </metadata>
</package>
"""
TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />
  <Default Extension="nuspec" ContentType="application/octet" />
  <Default Extension="so" ContentType="application/octet" />
  <Default Extension="txt" ContentType="text/plain" />
</Types>
"""
RELATIONS = """<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/Roundhouse.OnnxRuntime.nuspec" Id="R1" />
</Relationships>
"""


def write_entry(package, name, content):
    """Of a fixed time, so that the same files give the same bytes."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    package.writestr(entry, content)


def nuget(linked, out):
    """Programs in C# find the library by the name that it has in runtimes/linux-x64/native."""
    target = out / f"Roundhouse.OnnxRuntime.{VERSION}.nupkg"
    with tempfile.TemporaryDirectory() as made, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as package:
        copy_libraries(linked, pathlib.Path(made), "libonnxruntime.so")
        write = functools.partial(write_entry, package)
        write("[Content_Types].xml", TYPES)
        write("_rels/.rels", RELATIONS)
        write("Roundhouse.OnnxRuntime.nuspec", NUSPEC.format(version=VERSION, managed=MANAGED))
        write("LICENSE.txt", (ROOT / "LICENSE").read_bytes())
        write("lib/netstandard2.0/_._", "")
        for library in sorted(os.listdir(made)):
            write(f"runtimes/linux-x64/native/{library}", pathlib.Path(made, library).read_bytes())
    return target


def main():
    linked, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3:] or ["node", "java", "nuget"]:
        print({"node": node, "java": java, "nuget": nuget, "node_windows": node_windows}[name](linked, out))


if __name__ == "__main__":
    main()
