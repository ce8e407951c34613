#!/usr/bin/env python3
"""Unpacks packages of another suite of Debian into a folder, each held to its hash, from the archive that this machine's apt uses.

unpack_debs.py LIST FOLDER [LEAVE_OUT ...]: LIST has a line "name version sha256 file" a package; LEAVE_OUT are names of libraries that are
not unpacked. Nothing of the machine changes. A package that the archive has no more ends it, with what that was.
"""

import hashlib
import io
import pathlib
import subprocess
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request


def archives():
    """Addresses of the archives that apt has, those of security updates last."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)"], capture_output=True, text=True).stdout.split()
    return sorted(set(listed), key=lambda site: "security" in site)


def fetch(sites, name, version, sha256, file):
    problem = "no archive is known"
    for site in sites:
        try:
            data = urllib.request.urlopen(f"{site.rstrip('/')}/{urllib.parse.quote(file)}", timeout=120).read()
        except urllib.error.HTTPError as error:
            problem = "it is no more in the archive" if error.code == 404 else f"the archive says {error.code}"
            continue
        except (urllib.error.URLError, TimeoutError) as error:
            problem = f"the archive cannot be reached ({getattr(error, 'reason', error)})"
            continue
        if hashlib.sha256(data).hexdigest() != sha256:
            sys.exit(f"{name} {version} is not as it was: another sha256")
        return data
    sys.exit(f"{name} {version}: {problem}")


def unpack(data, folder, leave_out):
    tar = subprocess.run(["dpkg-deb", "--fsys-tarfile", "/dev/stdin"], input=data, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        wanted = [m for m in archive if m.isfile() or m.issym() or m.islnk() or m.isdir()]
        wanted = [m for m in wanted if not m.name.startswith("./usr/share") and not m.name.rsplit("/", 1)[-1].startswith(tuple(leave_out))]
        archive.extractall(folder, members=wanted)  # held to their hashes: their names are known


def main():
    packages, folder, *leave_out = sys.argv[1:]
    sites = archives() or sys.exit("this machine has no apt")
    for line in pathlib.Path(packages).read_text().splitlines():
        if line and not line.startswith("#"):
            unpack(fetch(sites, *line.split()), folder, leave_out or ["\0"])


if __name__ == "__main__":
    main()
