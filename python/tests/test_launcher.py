"""``python -m roundhouse.as_onnxruntime`` and ``python`` do the same with every kind of program, but for the runtime."""

import os
import pathlib
import py_compile
import signal
import subprocess
import sys
import zipfile

import models
import pytest

import roundhouse

PACKAGE = pathlib.Path(roundhouse.__file__).resolve().parent
#: Without an empty entry, which would be the working folder.
PATH = os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]))
LAUNCHER = ["-m", "roundhouse.as_onnxruntime"]

# What a program sees of how it was started.
STATE = """
import os, sys
import helper
main = sys.modules["__main__"]
print(sys.argv, __name__, getattr(main, "__file__", None), main.__spec__ and main.__spec__.name)
print(main.__package__, type(main.__loader__).__name__, main.__doc__, sorted(k for k in vars(main) if k[0] != "_"))
print([entry for entry in sys.path if not entry.endswith("shim")][:2], helper.WORD)
print(sys.flags, sys.warnoptions, sys._xoptions, __debug__)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app" / "package").mkdir(parents=True)
    (tmp_path / "app" / "helper.py").write_text("WORD = 'found'\n")
    (tmp_path / "app" / "program.py").write_text(STATE)
    (tmp_path / "app" / "reader.py").write_text("import beside; print(beside.WORD)\n")
    (tmp_path / "app" / "__main__.py").write_text(STATE)
    (tmp_path / "app" / "package" / "__init__.py").write_text("")
    (tmp_path / "app" / "package" / "__main__.py").write_text(STATE)
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.write(tmp_path / "app" / "program.py", "__main__.py")
        archive.write(tmp_path / "app" / "helper.py", "helper.py")
    (tmp_path / "identity.onnx").write_bytes(models.identity())
    return tmp_path


def start(arguments, folder, given=None, **variables):
    env = os.environ | {"PYTHONPATH": PATH} | variables
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, timeout=120, cwd=folder, input=given)


def outcome(done):
    return done.returncode, done.stdout, done.stderr


def check_same(arguments, folder, given=None, **variables):
    plain = outcome(start(arguments, folder, given, **variables))
    assert outcome(start([*LAUNCHER, *arguments], folder, given, **variables)) == plain
    return plain


@pytest.mark.parametrize(
    "flags", ["", "-O", "-OO -B", "-W error -W ignore::UserWarning", "-X dev", "-X utf8 -b", "-u", "-s", "-q", "-E", "-P", "-E -P"]
)
@pytest.mark.parametrize("way", ["app/program.py a -b", "app", "app.zip x", "-m program -O", "-m package"])
def test_what_a_program_sees(folder, flags, way):
    module = way.startswith("-m")
    if module and "-P" in flags:
        pytest.skip("the interpreter itself finds no module in the working folder then")
    status, _, _ = check_same([*flags.split(), *way.split()], folder / "app" if module else folder)
    assert status == (0 if "-P" not in flags or way.startswith("app.zip") or way == "app" else 1)


def test_options_before_the_launcher_count(folder):
    plain = outcome(start(["-O", "-W", "error", "-X", "utf8", "app/program.py"], folder))
    for before in (["-O", "-W", "error", "-X", "utf8", *LAUNCHER], ["-OWerror", "-Xutf8", "-mroundhouse.as_onnxruntime"]):
        assert outcome(start([*before, "app/program.py"], folder)) == plain


def test_an_empty_entry_of_the_path_is_the_working_folder(folder):
    (folder / "beside.py").write_text("WORD = 'beside'\n")
    path = PATH
    for given in (":" + path, path + ":"):
        assert check_same(["app/reader.py"], folder, PYTHONPATH=given)[1] == "beside\n"


def test_modules_of_the_working_folder_are_not_run(folder):
    """A program of another folder does not see them."""
    for name in ("datetime", "inspect", "numbers", "random", "selectors", "shlex", "signal"):
        (folder / f"{name}.py").write_text("raise SystemExit('run by mistake')\n")
    assert check_same(["app/program.py"], folder)[0] == 0


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors(folder, closed):
    (folder / "program.py").write_text(
        "import sys; open('said', 'a').write(f'{sys.stdin is None} {sys.stdout is None} {sys.stderr is None}\\n')\n"
    )
    env = os.environ | {"PYTHONPATH": PATH}
    for launcher in ("", " ".join(LAUNCHER)):
        command = f"{sys.executable} {launcher} program.py {closed}"
        assert subprocess.run(command, shell=True, env=env, cwd=folder, timeout=120).returncode == 0
    plain, launched = (folder / "said").read_text().splitlines()
    assert launched == plain


COMMAND = "import sys; print(sys.argv, __name__, sys.path[0], sorted(k for k in globals() if k[0] != '_')); x = 1"


@pytest.mark.parametrize("flags", [[], ["-E"], ["-O"]])
def test_commands_and_standard_input(folder, flags):
    check_same([*flags, "-c", COMMAND, "a", "-b"], folder)
    check_same([*flags, f"-c{COMMAND}", "a"], folder)
    check_same([*flags, "-Bc", COMMAND, "a"], folder)
    check_same([*flags, f"-EBc{COMMAND}", "a"], folder)
    check_same([*flags, "-Im", "platform"], folder)
    check_same([*flags, "-", "a"], folder, COMMAND)
    check_same(flags, folder, COMMAND)


@pytest.mark.parametrize("flags", [[], ["-E"]])
@pytest.mark.parametrize(
    "end",
    [
        "sys.exit(7)",
        "sys.exit('a word')",
        "raise SystemExit",
        "os._exit(3)",
        "1 / 0",
        "os.kill(os.getpid(), signal.SIGTERM)",
        "os.abort()",
        "def (",
        "raise KeyboardInterrupt",
        "sys.excepthook = lambda *of: print(of[0], of[2].tb_lineno); 1 / 0",
    ],
)
def test_ends(folder, flags, end):
    (folder / "end.py").write_text(f"import os, signal, sys\nprint('before', flush=True)\n{end}\n")
    check_same([*flags, "end.py"], folder)


@pytest.mark.parametrize("flags", [[], ["-E"], ["-E", "-O"]])
def test_compiled_programs_and_lines_to_skip(folder, flags):
    py_compile.compile(str(folder / "app" / "program.py"), str(folder / "app" / "compiled.pyc"))
    assert check_same([*flags, "app/compiled.pyc", "a"], folder)[0] == 0
    (folder / "skips.py").write_text("not Python\nimport sys; print(sys.argv, sys._getframe().f_lineno)\n")
    assert check_same([*flags, "-x", "skips.py", "a"], folder)[0] == 0
    assert check_same([*flags, "skips.py"], folder)[0] == 1


def test_a_program_that_is_not_there(folder):
    for flags in ([], ["-E"]):
        assert check_same([*flags, "nowhere.py"], folder)[0] == 2
        assert check_same([*flags, "-m", "nowhere"], folder)[0] == 1
    (folder / "empty").mkdir()
    for flags in ([], ["-E"], ["-B"]):
        assert "can't find '__main__' module" in check_same([*flags, "empty"], folder, "print('standard input')")[2]
    assert check_same(["--version"], folder)[0] == 0
    assert check_same(["-Z"], folder)[0] == 2


def test_a_signal_reaches_the_program(folder):
    (folder / "waits.py").write_text(
        "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\nprint('ready', flush=True)\ntime.sleep(60)\n"
    )
    env = os.environ | {"PYTHONPATH": PATH}
    with subprocess.Popen([sys.executable, *LAUNCHER, str(folder / "waits.py")], stdout=subprocess.PIPE, text=True, env=env) as child:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 9


WORKERS = """
import multiprocessing, os, pickle, subprocess, sys, threading, time
import numpy as np
import onnxruntime


class Item:
    pass


def work(path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return onnxruntime.__name__, session.run(None, {"x": np.array([1, 2], np.float32)})[0].tolist()


def late():
    time.sleep(0.2)
    print(type(pickle.loads(pickle.dumps(Item()))).__name__)


if __name__ == "__main__":
    print("parent", work(sys.argv[1]))
    for way in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(way).Pool(1) as pool:
            print(way, pool.apply_async(work, sys.argv[1:]).get(60))
    for command in (["-c", "import onnxruntime; print('child', onnxruntime.__name__)"], ["-O", "child.py"]):
        subprocess.run([sys.executable, *command], check=True, env={**os.environ, "MORE": "1"}, stdout=sys.stdout)
    threading.Thread(target=late).start()
"""


@pytest.mark.parametrize("flags", [[], ["-E"], ["-I"]])
@pytest.mark.parametrize("way", [["program.py"], ["-m", "program"]])
def test_children_run_on_roundhouse(folder, flags, way):
    if flags == ["-I"] and way[0] == "-m":
        pytest.skip("the interpreter itself finds no module in the working folder then")
    (folder / "program.py").write_text(WORKERS)
    (folder / "child.py").write_text("import onnxruntime\nprint('child', onnxruntime.__name__)\n")
    done = start([*LAUNCHER, "-u", *flags, *way, "identity.onnx"], folder)
    value = "('roundhouse', [1.0, 2.0])"
    lines = [f"{child} {value}" for child in ("parent", "fork", "spawn", "forkserver")] + ["child roundhouse"] * 2 + ["Item"]
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (0, lines, "")


CHILD_OF_ANOTHER_RUNTIME = """
import os, subprocess, sys
for options, env in ([], None), (["-I"], None), ([], {"PATH": os.environ["PATH"]}):
    subprocess.run([sys.executable, *options, "-c", "pass"], env=env)
    subprocess.run(["true"], env={})
"""


def test_a_child_without_roundhouse_is_told_of(folder):
    (folder / "program.py").write_text(CHILD_OF_ANOTHER_RUNTIME)
    done = start([*LAUNCHER, "-W", "always", "program.py"], folder)
    warnings = [line for line in done.stderr.splitlines() if "RuntimeWarning" in line]
    assert (done.returncode, len(warnings)) == (0, 2), done.stderr
    assert "its option -I leaves PYTHONPATH out" in warnings[0]
    assert "PYTHONPATH of its environment is ''" in warnings[1]


CHILD_BY_ANOTHER_PROGRAM = """
import os, subprocess, sys
way, command = sys.argv[1:]
def start_in_child():
    child = os.fork()
    if child == 0:
        os.execl("/bin/sh", "sh", "-c", command)
    os.waitpid(child, 0)
{
    "os.system": lambda: os.system(command),
    "popen": lambda: os.popen(command).close(),
    "run": lambda: subprocess.run(command, shell=True),
    "words": lambda: subprocess.run(["/bin/sh", "-ec", command]),
    "exec": start_in_child,
    "spawn": lambda: os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", command], os.environ), 0),
}[way]()
"""

#: What a shell is given, and why what it starts is another runtime's; PYTHON is the interpreter.
COMMANDS = {
    "PYTHON -c 'pass'": "",
    "true; PYTHON -I -c 'pass' | cat": "its option -I leaves PYTHONPATH out",
    "if true; then nice -n 1 PYTHON -BE -c pass; fi": "its option -E leaves PYTHONPATH out",
    "env -i PYTHON -c pass": "PYTHONPATH of its environment is ''",
    "env -u PYTHONPATH A=1 PYTHON -c pass": "PYTHONPATH of its environment is ''",
    "false && sudo -n -u nobody PYTHON -c pass; true": "PYTHONPATH of its environment is ''",
    "PYTHONPATH= PYTHON -c pass": "PYTHONPATH of its environment is ''",
    "export PYTHONPATH=/tmp && PYTHON -c pass": "PYTHONPATH of its environment is '/tmp'",
    "unset PYTHONPATH\nsh -c 'PYTHON -c pass'": "PYTHONPATH of its environment is ''",
    'PYTHONPATH="/tmp${PYTHONPATH:+:$PYTHONPATH}" PYTHON -c pass': "",
    "A=$(PYTHON -c pass) PYTHON -c pass": "",
    "echo $(true; PYTHON -I -c pass)": "its option -I leaves PYTHONPATH out",
    "A=`PYTHON -c pass`; echo '$(PYTHON -I -c pass)'": "",
    "env -S 'A=1 PYTHON -E -c pass'": "its option -E leaves PYTHONPATH out",
    "env --unset=PYTHONPATH PYTHON -c pass": "PYTHONPATH of its environment is ''",
    "timeout 0.5m stdbuf -o0 taskset -c 0 PYTHON -I -c pass": "its option -I leaves PYTHONPATH out",
    "echo a | xargs -n 1 PYTHON -c pass": "",
    "echo PYTHON -I": "",
    "PYTHON -c pass -I": "",
    "echo 'open": "",
}


def warned_of(folder, way, command):
    (folder / "program.py").write_text(CHILD_BY_ANOTHER_PROGRAM)
    done = start([*LAUNCHER, "-W", "always", "program.py", way, command.replace("PYTHON ", f"{sys.executable} ")], folder)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.splitlines() if "RuntimeWarning" in line]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_child_of_a_shell_without_roundhouse_is_told_of(folder, command):
    warnings = warned_of(folder, "os.system", command)
    assert len(warnings) == bool(COMMANDS[command]), warnings
    assert not warnings or COMMANDS[command] in warnings[0]


@pytest.mark.parametrize("way", ["popen", "run", "words", "exec", "spawn"])
def test_every_way_to_a_shell_is_watched(folder, way):
    [warning] = warned_of(folder, way, "PYTHON -I -c pass")
    assert "does not run on Roundhouse: its option -I leaves PYTHONPATH out" in warning
    assert not warned_of(folder, way, "PYTHON -c pass")


ISOLATED = """
import os, subprocess, sys
for options in (["-I"], ["-E"], ["-Is"], ["-B", "-E"], ["-S"], ["-s"], ["-P"]):
    print(options, flush=True)
    subprocess.run([sys.executable, *options, "-c", sys.argv[1]])
"""


def test_children_are_told_of_just_where_they_import_another_runtime(folder):
    """Under -S, too, the child finds Roundhouse: PYTHONPATH counts there."""
    (folder / "program.py").write_text(ISOLATED)
    child = f"import importlib.util as u; s = u.find_spec('onnxruntime'); print(bool(s) and s.origin.startswith({str(PACKAGE)!r}))"
    done = start([*LAUNCHER, "-W", "always", "program.py", child], folder)
    assert done.stdout.splitlines()[1::2] == ["False"] * 4 + ["True"] * 3, done.stdout
    warnings = [line.split(": ")[-1] for line in done.stderr.splitlines() if "RuntimeWarning" in line]
    assert warnings == [f"its option -{letter} leaves PYTHONPATH out" for letter in "IEIE"], done.stderr


def test_the_next_sitecustomize_runs(folder):
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text("import sys\nsys.customized = __file__\n")
    command = ["-c", "import sys, sitecustomize; print(sys.customized, sitecustomize.__file__)"]
    path = os.pathsep.join([str(folder / "site"), str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    assert check_same(command, folder, PYTHONPATH=path)[0] == 0


def test_the_package_need_not_be_on_the_path(folder):
    """It is found beside the folder that stands there."""
    done = start(["-c", "import onnxruntime; print(onnxruntime.__name__)"], folder, PYTHONPATH=roundhouse.onnxruntime_path())
    assert outcome(done) == (0, "roundhouse\n", "")
