"""Runs what the interpreter's command line names as the interpreter does, in the module __main__."""

import builtins
import importlib.machinery
import importlib.util
import io
import os
import pkgutil
import runpy
import sys

import roundhouse_children


def _clear_main(**attributes) -> dict:
    """The dict of the module __main__, which has these attributes and those of a new module alone."""
    main = sys.modules["__main__"]
    main.__dict__.clear()
    empty = {"__doc__": None, "__package__": None, "__loader__": None, "__spec__": None, "__annotations__": {}, "__builtins__": builtins}
    main.__dict__.update({"__name__": "__main__"} | empty | attributes)
    return main.__dict__


def _text(source: str, name: str, first_argument: str, rest: list[str]) -> None:
    sys.argv = [first_argument, *rest]
    if not sys.flags.safe_path:
        sys.path.insert(0, "")
    exec(compile(source, name, "exec", dont_inherit=True), _clear_main(__loader__=importlib.machinery.BuiltinImporter))


def _module(name: str, rest: list[str]) -> None:
    sys.argv = ["-m", *rest]
    if not sys.flags.safe_path:
        sys.path.insert(0, os.getcwd())
    _clear_main()
    runpy._run_module_as_main(name)


def _file(path: str, rest: list[str]) -> None:
    sys.argv = [path, *rest]
    path = os.path.abspath(path)
    if pkgutil.get_importer(path) is not None:  # a folder or an archive
        sys.path.insert(0, path)
        _clear_main()
        runpy._run_module_as_main("__main__", alter_argv=False)
        return
    if not sys.flags.safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    with io.open_code(path) as file:
        source = file.read()
    if path.endswith(".pyc") or source.startswith(importlib.util.MAGIC_NUMBER):
        compiled = importlib.machinery.SourcelessFileLoader("__main__", path)
        exec(compiled.get_code("__main__"), _clear_main(__file__=path, __loader__=compiled, __cached__=None))
        return
    if "x" in roundhouse_children.options(sys.orig_argv[1:])[1]:  # the first line is for another program
        source = b"\n" + source.partition(b"\n")[2]
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    exec(compile(source, path, "exec", dont_inherit=True), _clear_main(__file__=path, __loader__=loader, __cached__=None))


def _start(arguments: list[str]) -> None:
    first, rest = (arguments[0], arguments[1:]) if arguments else ("-", [])
    option = first[:2]
    if option in ("-c", "-m"):
        value, rest = (first[2:], rest) if first[2:] else (rest[0], rest[1:])
        _text(value, "<string>", "-c", rest) if option == "-c" else _module(value, rest)
    elif first == "-":
        _text(sys.stdin.read(), "<stdin>", "-" if arguments else "", rest)
    elif not os.path.exists(first):
        number = 2
        sys.stderr.write(f"{sys.executable}: can't open file {os.path.abspath(first)!r}: [Errno {number}] {os.strerror(number)}\n")
        raise SystemExit(number)
    else:
        _file(first, rest)


def run() -> None:
    """What is not caught is shown without the frames of this file, and ends the process as the interpreter ends it."""
    try:
        _start(sys.argv[1:])
    except SystemExit:
        raise
    except BaseException as problem:
        trace = problem.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        shown = sys.excepthook

        def show(kind, value, _):
            sys.last_traceback = trace
            shown(kind, value.with_traceback(trace), trace)

        sys.excepthook = show
        raise
