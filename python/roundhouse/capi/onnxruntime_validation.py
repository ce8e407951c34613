"""Checks of the machine and the package, under the names that programs call."""

from roundhouse.capi import build_and_package_info


def check_distro_info() -> None:
    """Warns of a system that is not supported: none where this package could be installed."""


def get_package_name_and_version_info() -> tuple[str, str, str]:
    """The package's name, its version, and that of the CUDA which it was built for; none was."""
    return build_and_package_info.package_name, build_and_package_info.__version__, ""


def check_training_module() -> tuple[bool, str, str, str]:
    """Whether the package can train, which it cannot, and the three words of get_package_name_and_version_info()."""
    return False, *get_package_name_and_version_info()
