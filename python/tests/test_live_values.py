"""What programs do with values beside running them: attributes of their own, weak references, copies."""

import copy
import gc
import subprocess
import sys
import weakref

import models
import numpy as np
import pytest

import roundhouse


def value():
    return roundhouse.OrtValue.ortvalue_from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))


@pytest.mark.parametrize("make", [value, roundhouse.AdapterFormat], ids=["value", "adapter"])
def test_attributes_of_its_own(make):
    made = make()
    assert vars(made) == {}
    made.tag = 1
    assert vars(made) == {"tag": 1}


@pytest.mark.parametrize(
    "make",
    [
        value,
        roundhouse.AdapterFormat,
        roundhouse.LoraAdapter,
        roundhouse.SessionOptions,
        roundhouse.RunOptions,
        lambda: roundhouse.InferenceSession(models.add()).get_inputs()[0],
        lambda: roundhouse.InferenceSession(models.add()).get_modelmeta(),
    ],
)
def test_weak_references(make):
    made = make()
    reference = weakref.ref(made)
    assert reference() is made
    del made
    gc.collect()
    assert reference() is None


def test_a_copy_is_over_the_same_memory():
    made = value()
    copied = copy.copy(made)
    assert copied is not made and copied.data_ptr() == made.data_ptr()
    expected = made.numpy()
    del made
    gc.collect()
    np.testing.assert_array_equal(copied.numpy(), expected)
    words = roundhouse.OrtValue.ortvalue_from_numpy(np.array(["a", "b"], object))
    assert copy.copy(words).numpy().tolist() == ["a", "b"]


NAMES = """
import sys
sys.modules["onnxruntime"] = None  # as where it is not installed
import roundhouse
del sys.modules["onnxruntime"]
roundhouse.install_as_onnxruntime()
import onnxruntime
import onnxruntime.capi._ld_preload
import onnxruntime.capi.build_and_package_info as info
from onnxruntime.capi.onnxruntime_validation import check_distro_info, check_training_module, get_package_name_and_version_info
check_distro_info()
assert info is onnxruntime.capi.build_and_package_info
print(info.package_name, info.__version__ == onnxruntime.__version__, get_package_name_and_version_info()[0], check_training_module()[0])
"""


def test_small_modules_of_the_package_are_there():
    done = subprocess.run([sys.executable, "-c", NAMES], capture_output=True, text=True)
    assert done.stdout == "roundhouse True roundhouse False\n", done.stderr
