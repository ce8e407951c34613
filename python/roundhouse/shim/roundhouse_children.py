"""Which interpreters have this folder on their path of modules. Each imports this file when it starts."""

import os
import re
import sys
import warnings

FOLDER = os.path.dirname(os.path.abspath(__file__))
_WITH_VALUE = {"W", "X"}
_ENDS_OPTIONS = {"c", "m"}


def environment(given) -> dict[str, str]:
    """A copy of these variables in which PYTHONPATH begins with this folder."""
    others = [entry for entry in given.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != FOLDER]
    return {**given, "PYTHONPATH": os.pathsep.join([FOLDER, *others])}


def options(arguments) -> tuple[int, set[str]]:
    """How many of the interpreter's arguments are its own options, and the letters of these. What -c, -m or a program begins is none."""
    count, letters, _ = _read_options(arguments)
    return count, letters


def with_last_option_apart(arguments) -> list[str]:
    """The arguments, where -c or -m stands in a word of its own: -Ec CODE is -E -c CODE."""
    count, _, place = _read_options(arguments)
    if place <= 1:
        return list(arguments)
    word = arguments[count]
    return [*arguments[:count], word[:place], "-" + word[place:], *arguments[count + 1 :]]


def _read_options(arguments) -> tuple[int, set[str], int]:
    """What options() gives, and where in the next word the letter that ends the options stands; 0 without one."""
    letters: set[str] = set()
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word.startswith("--"):
            at += 2 if word == "--check-hash-based-pycs" else 1
            continue
        if not word.startswith("-") or word == "-":
            break
        for place, letter in enumerate(word[1:], start=1):
            if letter in _ENDS_OPTIONS:
                return at, letters, place
            letters.add(letter)
            if letter in _WITH_VALUE:
                at += place + 1 == len(word)
                break
        at += 1
    return min(at, len(arguments)), letters, 0


def ignores_environment(letters: set[str]) -> bool:
    return bool(letters & {"E", "I"})


def _problem(executable, arguments, variables) -> str | None:
    """Why a child that is an interpreter would not find this folder."""
    words = [os.fsdecode(word) for word in arguments]
    name = os.path.basename(os.fsdecode(executable or words[0]))
    if name != os.path.basename(sys.executable) and not re.fullmatch(r"python[0-9.]*", name):
        return None
    letters = options(words[1:])[1]
    if ignores_environment(letters):
        return f"its option -{'I' if 'I' in letters else 'E'} leaves PYTHONPATH out"
    variables = {os.fsdecode(name): os.fsdecode(value) for name, value in (os.environ if variables is None else variables).items()}
    path = variables.get("PYTHONPATH", "")
    if FOLDER not in path.split(os.pathsep):
        return f"PYTHONPATH of its environment is '{path}', expected {FOLDER} in it"
    return None


def watch(event: str, details: tuple) -> None:
    """An audit hook: warns of children in which the name onnxruntime is another runtime's."""
    if event == "subprocess.Popen":
        executable, arguments, _, variables = details
    elif event in ("os.exec", "os.posix_spawn"):
        executable, arguments, variables = details
    else:
        return
    problem = _problem(executable, arguments, variables)
    if problem:
        warnings.warn(f"the child {executable} does not run on Roundhouse: {problem}", RuntimeWarning, stacklevel=3)
