#!/usr/bin/env python3
"""release_index.py FOLDER VERSION: writes what stands beside released files: index.md (sizes, sha256), sbom.cdx.json (what is inside)."""

import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import uuid

# What is compiled into the libraries, the module and the command, by the package that it comes from.
DEBIAN = {
    "libprotozero-dev": ("protozero", "BSD-2-Clause"),
    "libhwy-dev": ("Highway", "Apache-2.0"),
    "libfmt-dev": ("fmt", "MIT"),
    "nlohmann-json3-dev": ("nlohmann-json", "MIT"),
    "libcli11-dev": ("CLI11", "BSD-3-Clause"),
    "libstb-dev": ("stb", "MIT"),
    "libre2-dev": ("RE2", "BSD-3-Clause"),
    "libjpeg-dev": ("libjpeg-turbo", "IJG"),
    "libopenjp2-7-dev": ("OpenJPEG", "BSD-2-Clause"),
    "libtiff-dev": ("libtiff", "libtiff"),
    "libwebp-dev": ("libwebp", "BSD-3-Clause"),
    "liblzma-dev": ("XZ Utils", "0BSD"),
    "libzstd-dev": ("Zstandard", "BSD-3-Clause"),
    "libdeflate-dev": ("libdeflate", "MIT"),
    "liblerc-dev": ("LERC", "Apache-2.0"),
    "zlib1g-dev": ("zlib", "Zlib"),
    "g++": ("libstdc++", "GPL-3.0-with-GCC-exception"),
}
PYTHON = {"nanobind": ("nanobind", "BSD-3-Clause")}


def debian_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{package} is not installed: it is compiled into what is released, and its version belongs into the list")
    return done.stdout


def component(name, version, licence, purl):
    return {
        "type": "library",
        "name": name,
        "version": version,
        "licenses": [{"license": {"name": licence}}],
        "purl": purl,
        "bom-ref": purl,
    }


def components():
    for package, (name, licence) in DEBIAN.items():
        version = debian_version(package)
        yield component(name, version, licence, f"pkg:deb/debian/{package}@{version}")
    for package, (name, licence) in PYTHON.items():
        import importlib.metadata

        version = importlib.metadata.version(package)
        yield component(name, version, licence, f"pkg:pypi/{package}@{version}")


def bill_of_materials(version):
    when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.UTC)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, commit)}",
        "version": 1,
        "metadata": {
            "timestamp": when.isoformat(),
            "component": {
                "type": "library",
                "name": "roundhouse",
                "version": version,
                "bom-ref": "roundhouse",
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
        },
        "components": list(components()),
    }


def main():
    folder, version = pathlib.Path(sys.argv[1]), sys.argv[2]
    (folder / "sbom.cdx.json").write_text(json.dumps(bill_of_materials(version), indent=1) + "\n")
    rows = [f"# Roundhouse {version}", "", "| file | MB | sha256 |", "| --- | --- | --- |"]
    for path in sorted(folder.iterdir()):
        if path.name != "index.md":
            rows.append(f"| {path.name} | {path.stat().st_size / 1e6:.2f} | {hashlib.sha256(path.read_bytes()).hexdigest()} |")
    (folder / "index.md").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
