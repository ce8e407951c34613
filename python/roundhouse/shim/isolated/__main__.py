"""``python -E FOLDER PROGRAM...`` runs the program with the folder above on the path of modules: -E and -I leave PYTHONPATH out.

The folder is one of its own: a program's folder that has no module __main__ must not find this one on the path.
"""

import os
import sys

sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import roundhouse_children  # noqa: E402
import roundhouse_program  # noqa: E402

sys.addaudithook(roundhouse_children.watch)
roundhouse_program.run()
