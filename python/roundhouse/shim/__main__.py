"""``python -E FOLDER PROGRAM...`` runs the program with this folder on the path of modules: -E and -I leave PYTHONPATH out."""

import roundhouse_program

roundhouse_program.run()
