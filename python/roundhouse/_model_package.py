"""Model packages: folders with a manifest, components with variants for several providers, and assets that they share."""

import copy
import json
import os
import shutil
from enum import IntEnum

from roundhouse import _package_schema as schema
from roundhouse._package_files import ASSET, PathRules, directory_hash

__all__ = ["ModelPackage", "ModelPackageWriteMode"]


class ModelPackageWriteMode(IntEnum):
    """Whether external components stay in files of their own when a package is written, or become part of the manifest."""

    PRESERVE = 0
    DENSE = 1


class _Component:
    """A component's body and where it comes from: the manifest (no path), or a file."""

    def __init__(self, body: dict, directory: str, path: str | None = None, file: str | None = None):
        self.body, self.directory, self.path, self.file = body, directory, path, file


class ModelPackage:
    """A model package that is read, changed and written. Arguments and results that are JSON are texts."""

    def __init__(self):
        self._manifest = {"schema_version": "1.0", "components": {}}
        self._version = (0, 0)
        self._root = None
        self._components: dict[str, _Component] = {}
        self._assets: dict[str, str] = {}
        self._staged: dict[str, str] = {}
        self._orphans: list[str] = []
        self._allow_external = self._closed = False
        self._follow_symlinks = self._strict = True

    @staticmethod
    def open(
        package_root: str, allow_external_paths: bool = False, follow_symlinks: bool = True, strict_unknown_fields: bool = True
    ) -> "ModelPackage":
        """Reads the package in a folder."""
        root = os.path.abspath(os.fspath(package_root))
        if not os.path.isdir(root):
            raise OSError(f"package_root '{root}' is not a directory")
        package = ModelPackage()
        package._root, package._allow_external = root, allow_external_paths
        package._follow_symlinks, package._strict = follow_symlinks, strict_unknown_fields
        package._read()
        return package

    # Reading

    def _read(self) -> None:
        with open(os.path.join(self._root, "manifest.json"), encoding="utf-8") as file:
            self._manifest = schema.parse(file.read(), "manifest")
        self._version = schema.check_manifest(self._manifest, self._strict)
        self._strict = self._strict and self._version[1] <= schema.KNOWN_MINOR
        for name, value in self._manifest["components"].items():
            self._components[name] = self._component(name, value)
            for variant in self._components[name].body["variants"]:
                self._check_variant_paths(name, variant)
        self._assets = self._find_assets()

    def _rules(self) -> PathRules:
        confined = self._manifest.get("layout", "portable") == "portable" and not self._allow_external
        return PathRules(self._root or "", confined, self._follow_symlinks)

    def _resolve(self, text: str, base: str | None, must_exist: bool = False) -> str:
        return self._rules().resolve(text, base if base is not None else self._root or "", must_exist)

    def _component(self, name: str, value) -> _Component:
        if not isinstance(value, str):
            return _Component(schema.check_component(value, name, self._strict), self._root or "")
        path = self._resolve(value, None)
        file = os.path.join(path, "component.json") if os.path.isdir(path) else path
        if not os.path.isfile(file):
            raise FileNotFoundError(f"component '{name}': '{file}' does not exist")
        with open(file, encoding="utf-8") as text:
            body = schema.parse(text.read(), f"component '{name}'")
        return _Component(schema.check_component(body, name, self._strict), os.path.dirname(file), value, file)

    def _find_assets(self) -> dict[str, str]:
        found = {uri: self._resolve(path, None) for uri, path in self._manifest.get("shared_assets", {}).items()}
        folder = os.path.join(self._root, "shared_assets")
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            uri = name.replace("-", ":", 1)
            if ASSET.match(uri) and os.path.isdir(os.path.join(folder, name)):
                found.setdefault(uri, os.path.join(folder, name))
        return found

    def _variant_directory(self, component: str, variant: str) -> str | None:
        """The folder of a variant; None where it is not named and there is none of the variant's name."""
        place, body = self._components[component], self._variant(component, variant)
        named = "variant_directory" in body
        path = self._resolve(body.get("variant_directory", variant), place.directory, named and self._root is not None)
        return path if named or os.path.isdir(path) else None

    def _check_variant_paths(self, component: str, variant: str) -> None:
        directory = self._variant_directory(component, variant)
        for info in self._variant(component, variant).get("executor_info", {}).values():
            if isinstance(info, str):
                self._resolve(info, directory or self._components[component].directory, must_exist=True)

    def _executor_info_text(self, component: str, variant: str, info) -> str:
        if not isinstance(info, str):
            return schema.compact(info)
        path = self._resolve(info, self._variant_directory(component, variant) or self._components[component].directory)
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    def _open(self) -> None:
        if self._closed:
            raise ValueError("Model package is closed.")

    def _found(self, component: str) -> _Component:
        self._open()
        if component not in self._components:
            raise FileNotFoundError(f"component '{component}' not found.")
        return self._components[component]

    def _variant(self, component: str, variant: str) -> dict:
        variants = self._found(component).body["variants"]
        if variant not in variants:
            raise FileNotFoundError(f"variant '{variant}' not found in component '{component}'.")
        return variants[variant]

    # Questions

    def get_info(self) -> dict:
        """Metadata, components, variants and shared assets."""
        self._open()
        info = dict(zip(("schema_version_major", "schema_version_minor"), self._version))
        info |= {key: self._manifest.get(key) for key in ("package_name", "package_version", "description")}
        info |= {"layout": self._manifest.get("layout", "portable"), "additional_metadata_json": self._metadata(self._manifest)}
        info["components"] = [
            {
                "name": name,
                "additional_metadata_json": self._metadata(c.body),
                "variants": [self._variant_info(name, v) for v in c.body["variants"]],
            }
            for name, c in self._components.items()
        ]
        info["shared_assets"] = [{"uri": uri, "resolved_path": path} for uri, path in (self._assets | self._staged).items()]
        return info

    @staticmethod
    def _metadata(body: dict) -> str | None:
        return schema.compact(body["additional_metadata"]) if "additional_metadata" in body else None

    def _variant_info(self, component: str, name: str) -> dict:
        body = self._variant(component, name)
        info = {"name": name, "variant_directory": self._variant_directory(component, name)}
        info |= {key: body.get(key) for key in ("ep", "device", "compatibility_string")}
        info["additional_metadata_json"] = self._metadata(body)
        infos = body.get("executor_info", {})
        info["executor_info"] = {key: self._executor_info_text(component, name, infos[key]) for key in sorted(infos)}
        return info

    def get_component_json(self, component_name: str) -> str:
        """What the package says of a model, as JSON."""
        return schema.compact(self._found(component_name).body)

    def get_variant_json(self, component_name: str, variant_name: str) -> str:
        """What the package says of a variant, as JSON."""
        return schema.compact(self._variant(component_name, variant_name))

    def resolve_asset_uri(self, uri: str) -> str:
        """The folder of a shared asset."""
        self._open()
        known = self._assets | self._staged
        if uri not in known:
            raise FileNotFoundError(f"Asset URI not declared in this package: '{uri}'.")
        return known[uri]

    def resolve_string_ref(self, string_ref: str, base_dir: str | None = None, must_exist: bool = False) -> str:
        """The path that a text means: a shared asset or something in it, or a path below base_dir (the package's root)."""
        self._open()
        asset = ASSET.match(string_ref)
        if not asset:
            return self._resolve(string_ref, base_dir, must_exist)
        folder, below = self.resolve_asset_uri(asset[1]), asset[2]
        path = PathRules(folder, True, self._follow_symlinks).resolve(below, folder) if below else folder
        if must_exist and not os.path.exists(path):
            raise FileNotFoundError(f"'{path}' does not exist")
        return path

    @staticmethod
    def compute_directory_hash(source_dir: str) -> str:
        """The URI of a shared asset with the contents of a folder."""
        return directory_hash(os.fspath(source_dir))

    # Changes

    def set_metadata(self, name: str | None = None, version: str | None = None, description: str | None = None) -> None:
        """What is None stays as it is."""
        self._open()
        for key, value in (("package_name", name), ("package_version", version), ("description", description)):
            if value is not None:
                self._manifest[key] = value

    def set_layout(self, layout: str) -> None:
        """ "portable", whose paths stay in the package, or "local". Raises ValueError for another word."""
        self._open()
        self._manifest["layout"] = schema.check_layout(layout)

    def set_additional_metadata_json(
        self, scope: str, component_name: str | None = None, variant_name: str | None = None, json: str | None = None
    ) -> None:
        """Of the scope 'manifest', 'component' or 'variant'; None takes it away."""
        self._open()
        if scope not in ("manifest", "component", "variant"):
            raise ValueError(f"scope is {scope!r}, expected 'manifest', 'component' or 'variant'")
        if scope != "manifest" and component_name is None or scope == "variant" and variant_name is None:
            raise ValueError(f"the scope '{scope}' needs the name of what it is about")
        body = self._manifest
        if scope != "manifest":
            body = self._found(component_name).body if scope == "component" else self._variant(component_name, variant_name)
        if json is None:
            body.pop("additional_metadata", None)
        else:
            body["additional_metadata"] = schema.parse(json, "additional_metadata")

    def set_component_inline(self, name: str, component_json: str) -> None:
        """A component in the manifest."""
        self._open()
        body = schema.check_component(schema.parse(component_json, f"component '{name}'"), name, self._strict)
        self._components[name] = _Component(body, self._root or "")

    def set_component_external(self, name: str, path: str) -> None:
        """A component in a file, or a folder's component.json; an empty one where there is none yet."""
        self._open()
        if self._root is None:
            raise RuntimeError("the package has no root, to which the path of a component could be relative")
        resolved = self._resolve(path, None)
        exists = os.path.isfile(resolved) or os.path.isfile(os.path.join(resolved, "component.json"))
        file = os.path.join(resolved, "component.json") if os.path.isdir(resolved) else resolved
        self._components[name] = self._component(name, path) if exists else _Component({"variants": {}}, os.path.dirname(file), path, file)

    def remove_component(self, name: str) -> None:
        """Nothing where there is none of the name."""
        self._open()
        place = self._components.get(name)
        if place is None:
            return
        self._orphans += [self._variant_directory(name, variant) for variant in place.body["variants"]]
        if place.path is not None and os.path.isdir(os.path.join(self._root, place.path)):
            self._orphans.append(os.path.join(self._root, place.path))
        del self._components[name]

    def set_variant(self, component_name: str, variant_name: str, variant_json: str) -> None:
        """A variant from JSON, in the place of one of its name. Raises ValueError where the JSON is none."""
        variants = self._found(component_name).body["variants"]
        before = variants.get(variant_name)
        old = self._variant_directory(component_name, variant_name) if before is not None else None
        variants[variant_name] = schema.check_variant(schema.parse(variant_json, f"variant '{variant_name}'"), variant_name, self._strict)
        try:
            new = self._variant_directory(component_name, variant_name)
        except (ValueError, OSError):
            variants.pop(variant_name) if before is None else variants.__setitem__(variant_name, before)
            raise
        if old is not None and old != new:
            self._orphans.append(old)

    def remove_variant(self, component_name: str, variant_name: str) -> None:
        """Nothing where there is none of the name."""
        self._open()
        place = self._components.get(component_name)
        if place is None or variant_name not in place.body["variants"]:
            return
        self._orphans.append(self._variant_directory(component_name, variant_name))
        del place.body["variants"][variant_name]

    def set_variant_executor_info_inline(self, component_name: str, variant_name: str, namespace_key: str, info_json: str) -> None:
        """What an executor is told about a variant, as a JSON object."""
        info = schema.parse(info_json, "executor_info inline value")
        if not isinstance(info, dict):
            raise ValueError("executor_info inline value: expected a JSON object.")
        self._variant(component_name, variant_name).setdefault("executor_info", {})[namespace_key] = info

    def set_variant_executor_info_external(self, component_name: str, variant_name: str, namespace_key: str, path: str) -> None:
        """The path of a JSON file below the variant's folder."""
        body = self._variant(component_name, variant_name)
        self._resolve(path, self._variant_directory(component_name, variant_name))
        body.setdefault("executor_info", {})[namespace_key] = path

    def remove_variant_executor_info(self, component_name: str, variant_name: str, namespace_key: str) -> None:
        """Nothing where an executor is told nothing."""
        self._variant(component_name, variant_name).get("executor_info", {}).pop(namespace_key, None)

    def add_shared_asset(self, source_dir: str, expected_uri: str | None = None, copy_in: bool = True) -> str:
        """Copied when the package is committed, or referred to where it lies. Its files must stay until then."""
        self._open()
        uri = directory_hash(source_dir)
        if expected_uri is not None and expected_uri != uri:
            raise RuntimeError(f"hash mismatch: computed {uri}, expected {expected_uri}.")
        if copy_in:
            self._staged[uri] = os.path.abspath(source_dir)
            return uri
        if self._manifest.get("layout", "portable") == "portable":
            raise RuntimeError("copy_in=False is not possible in portable layout: the path would lead out of the package.")
        self._manifest.setdefault("shared_assets", {})[uri] = self._assets[uri] = os.path.abspath(source_dir)
        return uri

    def remove_shared_asset(self, uri: str) -> None:
        """Also deletes its folder where that is the package's own."""
        folder = self.resolve_asset_uri(uri)
        own = self._root is not None and os.path.dirname(folder) == os.path.join(self._root, "shared_assets")
        if uri in self._assets and own:
            shutil.rmtree(folder)
        for known in (self._staged, self._assets, self._manifest.get("shared_assets", {})):
            known.pop(uri, None)

    # Writing

    def commit(self, dest_root: str | None = None, mode: ModelPackageWriteMode = ModelPackageWriteMode.PRESERVE) -> None:
        """Writes the package where it is, or as a whole to an empty folder, which then is its root."""
        self._open()
        if dest_root is None and self._root is None:
            raise RuntimeError("the package has no root: give commit() a destination.")
        dense = mode == ModelPackageWriteMode.DENSE
        if dense:
            self._check_dense()
        root = self._root if dest_root is None else os.path.abspath(os.fspath(dest_root))
        if dest_root is not None:
            if os.path.exists(root) and (not os.path.isdir(root) or os.listdir(root)):
                raise RuntimeError(f"the destination '{root}' is not an empty folder.")
            os.makedirs(root, exist_ok=True)
            if self._root is not None:
                self._copy_variants(root)
        self._write_assets(root)
        self._write_bodies(root, dense)
        package = ModelPackage.open(root, self._allow_external, self._follow_symlinks, self._strict)
        orphans = self._orphans if dest_root is None else []
        self.__dict__.update(package.__dict__ | {"_orphans": orphans})

    def _check_dense(self) -> None:
        for name, component in self._components.items():
            for variant, body in component.body["variants"].items():
                for key, info in body.get("executor_info", {}).items():
                    if component.path is not None and isinstance(info, str):
                        raise RuntimeError(
                            f"component '{name}' variant '{variant}' has external executor_info '{key}': make it inline before"
                            " a dense commit."
                        )

    def _copy_variants(self, root: str) -> None:
        for name, component in self._components.items():
            for variant in component.body["variants"]:
                folder = self._variant_directory(name, variant)
                if folder is not None:
                    shutil.copytree(folder, os.path.join(root, os.path.relpath(folder, self._root)), dirs_exist_ok=True)
        for folder in self._assets.values():
            if os.path.isdir(folder) and os.path.commonpath([self._root, folder]) == self._root:
                shutil.copytree(folder, os.path.join(root, os.path.relpath(folder, self._root)), dirs_exist_ok=True)

    def _write_assets(self, root: str) -> None:
        for uri, source in self._staged.items():
            folder = os.path.join(root, "shared_assets", uri.replace(":", "-", 1))
            if not os.path.isdir(folder):
                part = f"{folder}.tmp.{os.getpid()}"
                shutil.copytree(source, part)
                os.replace(part, folder)

    def _write_bodies(self, root: str, dense: bool) -> None:
        manifest = copy.deepcopy(self._manifest)
        manifest["components"] = {}
        for name, component in self._components.items():
            body = copy.deepcopy(component.body)
            if component.path is None:
                manifest["components"][name] = body
            elif dense:
                for variant, inner in body["variants"].items():
                    folder = self._variant_directory(name, variant)
                    if folder is not None:
                        inner["variant_directory"] = os.path.relpath(folder, self._root).replace(os.sep, "/")
                manifest["components"][name] = body
            else:
                manifest["components"][name] = component.path
                self._write(os.path.join(root, os.path.relpath(component.file, self._root)), body)
        self._write(os.path.join(root, "manifest.json"), manifest)

    @staticmethod
    def _write(path: str, value: dict) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        part = f"{path}.tmp.{os.getpid()}"
        with open(part, "w", encoding="utf-8") as file:
            file.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
        os.replace(part, path)

    def prune(self) -> None:
        """Deletes the folders of variants and components that were taken away, those below the root that nothing refers to."""
        self._open()
        used = {self._variant_directory(name, v) for name, c in self._components.items() for v in c.body["variants"]}
        for folder in filter(None, self._orphans):
            inside = self._root is not None and folder != self._root and os.path.commonpath([self._root, folder]) == self._root
            if inside and not any(u and os.path.commonpath([u, folder]) == folder for u in used):
                shutil.rmtree(folder, ignore_errors=True)
        self._orphans = []

    def close(self) -> None:
        """From now on the package is of no use; what was not committed is lost."""
        self._closed = True

    def __enter__(self) -> "ModelPackage":
        self._open()
        return self

    def __exit__(self, *_) -> None:
        self.close()
