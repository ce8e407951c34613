"""What the package says of itself, under the names that programs read."""

from roundhouse._info import get_version_string

package_name = "roundhouse"
__version__ = get_version_string()
