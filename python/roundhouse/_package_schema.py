"""What the JSON files of a model package may hold."""

import json

SUPPORTED_MAJOR, KNOWN_MINOR = 1, 0
_MANIFEST = {
    "schema_version",
    "package_name",
    "package_version",
    "description",
    "layout",
    "components",
    "shared_assets",
    "additional_metadata",
}
_COMPONENT = {"component_name", "variants", "additional_metadata"}
_VARIANT = {"variant_directory", "ep", "device", "compatibility_string", "executor_info", "additional_metadata"}


def parse(text: str, what: str):
    """The value of a JSON text."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{what}: JSON parse error: {error}") from None


def compact(value) -> str:
    """A value as JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _object(value, what: str, known: set[str], strict: bool) -> dict:
    if not isinstance(value, dict):
        raise ValueError(f"{what}: expected a JSON object")
    for key in value:
        if strict and key not in known:
            raise ValueError(f"{what}: unknown field '{key}'")
    return value


def _strings(value: dict, keys: tuple[str, ...], what: str) -> None:
    for key in keys:
        if key in value and not isinstance(value[key], str):
            raise ValueError(f"{what}: '{key}' must be a string")


def check_executor_info(value, what: str) -> None:
    """Of one consumer: a path or an object."""
    if not isinstance(value, (str, dict)):
        raise ValueError(f"{what}: expected a path or a JSON object")


def check_variant(body, name: str, strict: bool) -> dict:
    what = f"variant '{name}'"
    _object(body, what, _VARIANT, strict)
    _strings(body, ("variant_directory", "ep", "device", "compatibility_string"), what)
    infos = body.get("executor_info", {})
    if not isinstance(infos, dict):
        raise ValueError(f"{what}: 'executor_info' must be an object")
    for key, info in infos.items():
        check_executor_info(info, f"{what}: executor_info '{key}'")
    return body


def check_component(body, name: str, strict: bool) -> dict:
    what = f"component '{name}'"
    _object(body, what, _COMPONENT, strict)
    _strings(body, ("component_name",), what)
    if not isinstance(body.get("variants"), dict):
        raise ValueError(f"{what}: missing required 'variants' object")
    for variant, inner in body["variants"].items():
        check_variant(inner, variant, strict)
    return body


def version_of(manifest: dict) -> tuple[int, int]:
    """Major and minor of schema_version: "1.0", or 1 for "1.0"."""
    version = manifest.get("schema_version")
    if version is None:
        raise ValueError("manifest: missing required 'schema_version'")
    parts = str(version).split(".") if isinstance(version, (str, int)) and not isinstance(version, bool) else []
    if len(parts) not in (1, 2) or not all(part.isdecimal() for part in parts):
        raise ValueError(f"manifest: 'schema_version' is {version!r}, expected \"<major>.<minor>\"")
    major, minor = int(parts[0]), int(parts[1]) if len(parts) == 2 else 0
    if major != SUPPORTED_MAJOR:
        raise ValueError(f"manifest: schema_version major {major} is not supported (this build supports major {SUPPORTED_MAJOR})")
    return major, minor


def check_manifest(manifest, strict: bool) -> tuple[int, int]:
    """The version, after what stands at the top was checked; components are checked when they are read."""
    if not isinstance(manifest, dict):
        raise ValueError("manifest: expected a JSON object")
    version = version_of(manifest)
    _object(manifest, "manifest", _MANIFEST, strict and version[1] <= KNOWN_MINOR)
    _strings(manifest, ("package_name", "package_version", "description"), "manifest")
    check_layout(manifest.get("layout", "portable"))
    for key in ("components", "shared_assets"):
        if not isinstance(manifest.get(key, {}), dict):
            raise ValueError(f"manifest: '{key}' must be an object")
    if "components" not in manifest:
        raise ValueError("manifest: missing required 'components' object")
    return version


def check_layout(layout) -> str:
    if layout not in ("portable", "installed"):
        raise ValueError(f"layout is {layout!r}, expected 'portable' or 'installed'")
    return layout
