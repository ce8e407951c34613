"""Sessions of models in model packages: the variant that fits the providers of the session options is chosen."""

import json
import os

from roundhouse import _native
from roundhouse._model_package import ModelPackage
from roundhouse._native import SessionOptions, get_ep_devices
from roundhouse._session import InferenceSession

__all__ = ["ModelPackageComponentContext", "ModelPackageContext", "ModelPackageOptions"]

_CPU = "CPUExecutionProvider"
# Options whose values are paths in the package; files that a session would write are not for packages to name.
_PATHS = ("session.model_external_initializers_file_folder_path", "ep.context_file_path")
_FORBIDDEN = (
    "session.debug_layout_transformation",
    "session.collect_node_memory_stats_to_file",
    "session.enable_profiling",
    "session.optimized_model_filepath",
)
#: By the answer of a provider's factory: not applicable, optimal, better compiled anew; None where it is not supported.
_SCORES = (0, 100, 50, None)


class ModelPackageOptions:
    """The provider for which variants are chosen: the first one of the session options, else the CPU."""

    def __init__(self, sess_options: SessionOptions):
        self._providers = sess_options._providers() or [(_CPU, {})]
        devices = [device for device in get_ep_devices() if device.ep_name == self._providers[0][0]]
        self._devices = sess_options._devices(self._providers[0][0]) or devices

    def _score(self, variant: dict) -> int | None:
        """None where the variant is for others."""
        if variant["ep"] != self._providers[0][0] or not self._has_device(variant["device"]):
            return None
        if variant["compatibility_string"] is None or not self._devices or variant["ep"] == _CPU:
            return 0
        return _SCORES[_native.get_model_compatibility_for_ep_devices(self._devices, variant["compatibility_string"])]

    def _has_device(self, kind: str | None) -> bool:
        if kind is None:
            return True
        kinds = {device.device.type.name.lower() for device in self._devices}
        return kind in kinds or kind == "cpu" and self._providers[0][0] == _CPU


class ModelPackageContext:
    """A model package that is there."""

    def __init__(self, package_root: str):
        try:
            self._package = ModelPackage.open(package_root)
            self._components = {c["name"]: {v["name"]: v for v in c["variants"]} for c in self._package.get_info()["components"]}
            self._info = {n: {v: self._ort_info(n, v) for v in variants} for n, variants in self._components.items()}
        except (OSError, ValueError) as error:
            raise RuntimeError(f"Failed to open model package at '{package_root}': {error}") from None

    def _ort_info(self, component: str, variant: str) -> dict:
        """What the package says about sessions, with paths in place of references."""
        facts = self._components[component][variant]
        info = json.loads(facts["executor_info"].get("ort") or "{}")
        what = f"component '{component}' variant '{variant}': executor_info 'ort'"
        options, provider_options = info.get("session_options", {}), info.get("provider_options", {})
        for name, value in (("session_options", options), ("provider_options", provider_options)):
            if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
                raise ValueError(f"{what}: '{name}' must map names to strings")
        for key in _FORBIDDEN:
            if key in options:
                raise ValueError(f"{what}: the session option '{key}' is not for a package to set")
        folder = facts["variant_directory"]
        resolve = lambda text: self._package.resolve_string_ref(text, folder)  # noqa: E731
        model = resolve(info["model_file"]) if "model_file" in info else None
        return {
            "model": model,
            "session_options": {key: resolve(text) if key in _PATHS else text for key, text in options.items()},
            "provider_options": provider_options,
        }

    def _variants(self, component: str) -> dict:
        if component not in self._components:
            raise RuntimeError(f"Component model not found: {component}")
        return self._components[component]

    def get_schema_version(self) -> int:
        """The major version of the package's form."""
        return self._package.get_info()["schema_version_major"]

    def get_component_count(self) -> int:
        """How many models the package has."""
        return len(self._components)

    def get_component_names(self) -> list[str]:
        """The names of its models."""
        return list(self._components)

    def get_variant_count(self, component_name: str) -> int:
        """How many variants a model has. Raises RuntimeError where the package has no such model."""
        return len(self._variants(component_name))

    def get_variant_names(self, component_name: str) -> list[str]:
        """The names of a model's variants."""
        return list(self._variants(component_name))

    def get_variant_ep_name(self, component_name: str, variant_name: str) -> str | None:
        """The provider for which a variant was made; None: any."""
        variants = self._variants(component_name)
        if variant_name not in variants:
            raise RuntimeError(f"Variant '{variant_name}' not found in component '{component_name}'.")
        return variants[variant_name]["ep"]

    def resolve_string_ref(self, string_ref: str, base_dir: str | None = None, must_exist: bool = False) -> str:
        """The path that a text in the package means."""
        return self._package.resolve_string_ref(string_ref, base_dir, must_exist)

    def select_component(self, component_name: str, options: ModelPackageOptions) -> "ModelPackageComponentContext":
        """The variant with the best answer of its provider; of equals the first."""
        best, best_score = None, -1
        for name, variant in self._variants(component_name).items():
            score = options._score(variant)
            if score is not None and score > best_score:
                best, best_score = name, score
        if best is None:
            raise RuntimeError("No suitable model variant found for the configured execution providers.")
        return ModelPackageComponentContext._of(self._components[component_name][best], self._info[component_name][best], options)


class ModelPackageComponentContext:
    """The variant of a component that was chosen."""

    def __init__(self):
        raise TypeError("ModelPackageContext.select_component() makes them")

    @classmethod
    def _of(cls, variant: dict, info: dict, options: ModelPackageOptions) -> "ModelPackageComponentContext":
        made = cls.__new__(cls)
        made._variant, made._info, made._options = variant, info, options
        return made

    def get_selected_variant_name(self) -> str:
        """The name of the variant that was chosen."""
        return self._variant["name"]

    def get_selected_variant_folder_path(self) -> str:
        """Its folder; empty where it has none."""
        return self._variant["variant_directory"] or ""

    def create_session(self, sess_options: SessionOptions | None = None) -> InferenceSession:
        """With the options of the package, or with the caller's, to which only paths of the package are added."""
        if self._info["model"] is None:
            raise RuntimeError(f"Variant '{self._variant['name']}' names no model_file in executor_info 'ort'.")
        if not os.path.isfile(self._info["model"]):
            raise RuntimeError(f"The model '{self._info['model']}' of variant '{self._variant['name']}' does not exist.")
        options, given = sess_options or SessionOptions(), self._info["session_options"]
        if sess_options is None:
            for key, text in given.items():
                options.add_session_config_entry(key, text)
        else:
            missing = {key: given[key] for key in _PATHS if key in given and not options._config_or(key, "")}
            if missing:
                options = options._copy()
                for key, text in missing.items():
                    options.add_session_config_entry(key, text)
        if options.has_providers():
            return InferenceSession(self._info["model"], options)
        name, own = self._options._providers[0]
        overrides = self._info["provider_options"] if sess_options is None else {}
        return InferenceSession(self._info["model"], options, providers=[(name, {**own, **overrides})])
