"""What `import roundhouse` does: little, and nothing that others would notice."""

import re
import shutil

import pytest
from support import WHEELS, environment, libraries, run

VERSION = "3.11"
TIMED = """
import time
import numpy
began = time.process_time()
import roundhouse
print(time.process_time() - began)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    [wheel] = WHEELS.glob("roundhouse-*cp311*.whl")
    return environment(tmp_path_factory.mktemp("environment") / "venv", VERSION, wheel)


def test_its_time(python, tmp_path):
    """The processor's, beside numpy's, which every program with arrays has spent."""
    times = [float(run([python, "-c", TIMED], tmp_path, **libraries(VERSION)).stdout) for _ in range(7)]
    assert min(times) <= 0.1, times


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_what_it_asks_of_the_system(python, tmp_path):
    """No socket, nothing written but the compiled forms of its own files, and no vendor's library looked for."""
    run([python, "-c", "import roundhouse"], tmp_path, **libraries(VERSION))  # writes __pycache__
    trace = tmp_path / "trace"
    run(["strace", "-f", "-o", trace, python, "-c", "import roundhouse"], tmp_path, **libraries(VERSION))
    calls = trace.read_text()
    assert not re.findall(r"\b(?:socket|connect|bind|sendto)\(.*", calls)
    opened = re.findall(r'open(?:at)?\((?:AT_FDCWD, )?"([^"]+)", ([A-Z_|]+)', calls)
    assert len(opened) > 50 and [path for path, flags in opened if re.search("WRONLY|RDWR|CREAT", flags)] == []
    assert not re.findall(r"\b(?:mkdir|unlink|rename|symlink)(?:at)?\(.*", calls)
    vendors = re.compile(r"openvino|libcuda|libcudart|libnvinfer|libcudnn|libamdhip|libhip|libOpenCL|libze_|libvulkan|libQnn|provider_")
    assert [path for path, _ in opened if vendors.search(path)] == []
