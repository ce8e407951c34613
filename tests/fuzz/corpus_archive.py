"""The corpora of the fuzz targets as the repository has them: an archive of seeds and findings for models, one for graph texts.

A build unpacks them into its folder fuzz_corpus (tests/CMakeLists.txt).
"""

import gzip
import io
import pathlib
import tarfile

FOLDER = pathlib.Path(__file__).resolve().parent / "corpus"


def archive(target):
    return FOLDER / f"{target}.tar.gz"


def read(target):
    """{folder ("model", "found_model"): {name: bytes}}."""
    folders = {target: {}, f"found_{target}": {}}
    if archive(target).exists():
        with tarfile.open(archive(target)) as tar:
            for member in tar.getmembers():
                folder, name = member.name.split("/")
                folders[folder][name] = tar.extractfile(member).read()
    return folders


def write(target, folders):
    """The same bytes for the same files."""
    FOLDER.mkdir(exist_ok=True)
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for folder, files in sorted(folders.items()):
            for name, data in sorted(files.items()):
                member = tarfile.TarInfo(f"{folder}/{name}")
                member.size, member.mode = len(data), 0o644
                tar.addfile(member, io.BytesIO(data))
    archive(target).write_bytes(gzip.compress(content.getvalue(), 9, mtime=0))
