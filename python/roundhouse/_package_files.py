"""Paths of model packages, and the hashes that name shared assets."""

import hashlib
import os
import re

ASSET = re.compile(r"(sha256:[0-9a-f]{64})(?:/(.*))?\Z", re.DOTALL)


def directory_hash(source_dir: str) -> str:
    """ "sha256:" and the hash of the names and contents of all files below a folder."""
    if not os.path.isdir(source_dir):
        raise FileNotFoundError(f"'{source_dir}' is not a directory")
    rows = []
    for folder, folders, files in os.walk(source_dir):
        for name in folders + files:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                raise ValueError(f"symlink not allowed: '{path}'")
        for name in files:
            path = os.path.join(folder, name)
            digest = hashlib.sha256()
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
            rows.append((os.fsencode(os.path.relpath(path, source_dir).replace(os.sep, "/")), digest.hexdigest().encode()))
    text = b"".join(digest + b"  " + path + b"\n" for path, digest in sorted(rows))
    return "sha256:" + hashlib.sha256(text).hexdigest()


class PathRules:
    """How texts in a package become paths: in the portable layout below its root, without "..", unless external paths are allowed."""

    def __init__(self, root: str, confined: bool, follow_symlinks: bool):
        self.root, self.confined, self.follow_symlinks = root, confined, follow_symlinks

    def resolve(self, text: str, base: str, must_exist: bool = False) -> str:
        if self.confined:
            self._check(text)
        path = os.path.normpath(os.path.join(base, text))
        if self.confined:
            self._check_place(path, text)
        if not self.follow_symlinks:
            self._check_links(path)
        if must_exist and not os.path.exists(path):
            raise FileNotFoundError(f"'{path}' does not exist")
        return path

    @staticmethod
    def _check(text: str) -> None:
        if os.path.isabs(text):
            raise ValueError(f"absolute path '{text}' is not allowed in portable layout")
        if ".." in re.split(r"[/\\]", text):
            raise ValueError(f"'..' segments are not allowed in portable layout: '{text}'")

    def _check_place(self, path: str, text: str) -> None:
        root = os.path.realpath(self.root)
        if os.path.commonpath([root, os.path.realpath(path)]) != root:
            raise ValueError(f"'{text}' leaves the package, which is not allowed in portable layout")

    def _check_links(self, path: str) -> None:
        while path != self.root and path != os.path.dirname(path):
            if os.path.islink(path):
                raise ValueError(f"'{path}' is a symlink, which this package does not follow")
            path = os.path.dirname(path)
