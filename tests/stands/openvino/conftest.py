import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "kit"))
