import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / folder) for folder in ("tests/kit", "tests/vendors", "python/roundhouse")]
