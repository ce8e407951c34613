"""The arguments that name providers."""

import collections.abc
import warnings

from roundhouse import _native
from roundhouse._info import get_all_providers


def _pair(entry) -> tuple[str, dict]:
    """(name, options) from a name or such a pair."""
    if isinstance(entry, str):
        return entry, {}
    if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str) and isinstance(entry[1], dict):
        return entry
    raise ValueError(f"an entry of providers is {entry!r}, expected a name or a tuple of a name and a dict of options")


CPU_NAMES = ("CPUExecutionProvider", "CPU")

#: What a provider that cannot be had means where the session options do not say: programs that run ``import onnxruntime`` know a warning.
default_fallback = "error"


def fallback_of(options) -> str:
    """What a provider that cannot be had means under these session options, or under none."""
    return default_fallback if options is None else options._config_or("roundhouse.fallback", default_fallback)


def pairs_of(providers, provider_options) -> list[tuple[str, dict]]:
    """(name, options) of each entry; ValueError where the arguments contradict each other."""
    if providers is None:
        return []
    if not isinstance(providers, collections.abc.Sequence) or isinstance(providers, str):
        raise ValueError(f"providers is a {type(providers).__name__}, expected a sequence of names or (name, options) pairs")
    if provider_options is None:
        return [_pair(entry) for entry in providers]
    if not isinstance(provider_options, collections.abc.Sequence):
        raise ValueError(f"provider_options is a {type(provider_options).__name__}, expected a sequence of dicts")
    if len(providers) != len(provider_options):
        raise ValueError(f"{len(provider_options)} provider_options are given for {len(providers)} providers")
    if not all(isinstance(name, str) for name in providers):
        raise ValueError("providers must be names where provider_options is given")
    if not all(isinstance(options, dict) for options in provider_options):
        raise ValueError("an entry of provider_options is no dict")
    return list(zip(providers, provider_options, strict=True))


def as_text(options: dict) -> dict[str, str]:
    return {str(key): str(value) for key, value in options.items()}


def is_fallback_written(options) -> bool:
    """Whether the options themselves say what a provider that cannot be had means."""
    return options is not None and bool(options._config_or("roundhouse.fallback", ""))


def provider_list(providers, provider_options, fallback, may_fall_back) -> list[tuple[str, dict[str, str]]]:
    """Names with options as text, duplicates left out; ValueError where the arguments contradict each other."""
    result: dict[str, dict[str, str]] = {}
    for name, options in pairs_of(providers, provider_options):
        if fallback == "warn" and (problem := _native.provider_problem(name)):
            if not may_fall_back and name not in get_all_providers():
                raise RuntimeError(problem)
            warnings.warn(problem, stacklevel=5)
        elif name in result:
            warnings.warn(f"provider '{name}' is named twice; the first one counts", stacklevel=5)
        else:
            result[name] = as_text(options)
    return list(result.items())
