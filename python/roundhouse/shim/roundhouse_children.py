"""Which interpreters have this folder on their path of modules. Each imports this file when it starts."""

import itertools
import os
import re
import shlex
import sys
import warnings

FOLDER = os.path.dirname(os.path.abspath(__file__))
_WITH_VALUE = {"W", "X"}
_ENDS_OPTIONS = {"c", "m"}
_SHELLS = {"bash", "dash", "ksh", "sh", "zsh"}
#: Words of a shell, and programs, behind which a command follows.
_BEFORE_COMMANDS = {
    *("!", "{", "do", "else", "if", "then", "until", "while"),
    *("chrt", "command", "exec", "ionice", "nice", "nohup", "setsid", "stdbuf", "taskset", "time", "timeout", "xargs"),
}


def environment(given) -> dict[str, str]:
    """A copy of these variables in which PYTHONPATH begins with this folder."""
    text = given.get("PYTHONPATH", "")
    others = [entry for entry in text.split(os.pathsep) if entry != FOLDER] if text else []  # an empty entry is the working folder
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


def _problem_of_python(words, variables) -> str | None:
    letters = options(words[1:])[1]
    if ignores_environment(letters):
        return f"its option -{'I' if 'I' in letters else 'E'} leaves PYTHONPATH out"
    path = variables.get("PYTHONPATH", "")
    if FOLDER not in path.split(os.pathsep):
        return f"PYTHONPATH of its environment is '{path}', expected {FOLDER} in it"
    return None


def _with_assignments(words, variables):
    """The words behind those that are NAME=VALUE, and the variables with these."""
    at, variables = 0, dict(variables)
    while at < len(words) and (found := re.fullmatch(r"([A-Za-z_]\w*)=(.*)", words[at], re.DOTALL)):
        part = lambda use: f"{os.pathsep}{variables.get(use[1] or use[2], '')}{os.pathsep}"  # noqa: B023, E731
        variables[found[1]] = re.sub(r"\$(?:(\w+)|\{(\w+)[^}]*\})", part, found[2])
        at += 1
    return words[at:], variables


def _without(variables, *names) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name not in names}


def _words_of(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an open quotation
        return []


def _problem_behind_env(words, variables) -> str | None:
    """Of a command of the programs env and sudo."""
    at = 1
    if os.path.basename(words[0]) == "sudo" and not {"-E", "--preserve-env"} & set(words):
        variables = {}
    while at < len(words) and words[at].startswith("-"):
        word, value = words[at], words[at + 1] if at + 1 < len(words) else ""
        if found := re.fullmatch(r"(?:-S|--split-string=)(.+)", word, re.DOTALL):
            words = [*words[:at], *_words_of(found[1]), *words[at + 1 :]]
            continue
        if word in ("-S", "--split-string"):
            words = [*words[:at], *_words_of(value), *words[at + 2 :]]
            continue
        if word in ("-i", "-", "--ignore-environment"):
            variables = {}
        elif found := re.fullmatch(r"(?:-u|--unset=)(.+)", word):
            variables = _without(variables, found[1])
        elif word in ("-u", "--unset"):
            variables = _without(variables, value)
            at += 1
        at += 1
    return _problem_of_command(*_with_assignments(words[at:], variables))


def _problem_of_text(text: str, variables) -> str | None:
    """Of the commands in what a shell is given. What only the shell knows is not seen: what outputs of commands are, functions, scripts."""
    if "'" in text and ("$(" in text or "`" in text):
        return None
    inner = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
    while found := inner.search(text):
        if problem := _problem_of_text(found[1] or found[2] or "", variables):
            return problem
        text = text[: found.start()] + "_" + text[found.end() :]
    lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        tokens = [*lexer, ";"]
    except ValueError:  # an open quotation
        return None
    words: list[str] = []
    for token in tokens:
        if not set(token) <= set("();&|"):
            words.append(token)
            continue
        command, own = _with_assignments(words, variables)
        if not command or command[0] == "export":
            _, variables = _with_assignments(words[bool(command) :], variables)
        elif command[0] == "unset":
            variables = _without(variables, *command)
        elif problem := _problem_of_command(command, own):
            return problem
        words = []
    return None


def _problem_of_command(words, variables) -> str | None:
    """Why an interpreter that a command starts would not find this folder."""
    if not words:
        return None
    name = os.path.basename(words[0])
    if name == os.path.basename(sys.executable) or re.fullmatch(r"python[0-9.]*", name):
        return _problem_of_python(words, variables)
    if name in ("env", "sudo"):
        return _problem_behind_env(words, variables)
    if name in _BEFORE_COMMANDS:
        at = 1
        while at < len(words) and re.fullmatch(r"-.*|[\d.][\w.,-]*", words[at]):  # options, times, sets of processors
            at += 1
        return _problem_of_command(words[at:], variables)
    if name in _SHELLS:
        for option, text in itertools.pairwise(words[1:]):
            if re.fullmatch(r"-\w*c\w*", option):
                return _problem_of_text(text, variables)
    return None


def _problem(executable, arguments, variables) -> str | None:
    """Why an interpreter that a child is, or starts as a shell, would not find this folder."""
    words = [os.fsdecode(arguments)] if isinstance(arguments, (str, bytes, os.PathLike)) else [os.fsdecode(word) for word in arguments]
    if executable and words:
        words[0] = os.fsdecode(executable)
    variables = {os.fsdecode(name): os.fsdecode(value) for name, value in (os.environ if variables is None else variables).items()}
    return _problem_of_command(words, variables)


def watch(event: str, details: tuple) -> None:
    """An audit hook: warns of children in which the name onnxruntime is another runtime's."""
    if event == "subprocess.Popen":
        executable, arguments, _, variables = details
        problem = _problem(executable, arguments, variables)
    elif event in ("os.exec", "os.posix_spawn"):
        executable, arguments, variables = details
        problem = _problem(executable, arguments, variables)
    elif event == "os.system":
        problem = _problem_of_text(os.fsdecode(details[0]), dict(os.environ))
        executable = " ".join(os.fsdecode(details[0]).split())
    else:
        return
    if problem:
        frame = sys._getframe(1)  # of what starts the child, or of its caller
        frame = frame.f_back or frame
        message = f"the child {executable} does not run on Roundhouse: {problem}"
        # Without a registry each child is told of, not the first one of a place alone.
        warnings.warn_explicit(message, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno)
