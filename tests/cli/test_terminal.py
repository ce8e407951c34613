"""What the command does on a terminal: colour, a progress bar, tables that fit."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios

import pytest
from command import BINARY, stock_library, write_network

COLUMNS = 80


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("terminal")
    write_network(path / "network.onnx")
    return path


def on_terminal(*arguments, cwd, **environment):
    """What a terminal of 80 columns gets from standard output and error together."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    env = {key: text for key, text in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"} | environment
    child = subprocess.Popen([BINARY, *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=env)
    os.close(theirs)
    text = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            got = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not got:
            break
        text += got
    os.close(ours)
    assert child.wait(timeout=60) == 0
    return text.decode()


def test_a_bar_where_work_takes_longer_than_a_second(folder):
    text = on_terminal("bench", "network.onnx", "--seconds", "1.6", cwd=folder)
    assert re.search("measuring █+░* +[0-9]+ %", text)
    assert "\r\x1b[K" in text.split("load  ")[0], "the bar is gone before the report"
    assert "measuring" not in on_terminal("bench", "network.onnx", "-n", "3", cwd=folder)


def test_colour(folder):
    assert "\x1b[1m" in on_terminal("profile", "network.onnx", "-n", "1", cwd=folder)
    for arguments, environment in (([], {"NO_COLOR": "1"}), (["--color", "never"], {}), ([], {"TERM": "dumb"})):
        assert "\x1b" not in on_terminal("profile", "network.onnx", "-n", "1", *arguments, cwd=folder, **environment)


@pytest.mark.parametrize("command", [["profile", "-n", "1"], ["compare"], ["bench", "-n", "3", "--peer", stock_library()]])
def test_lines_fit(command, folder):
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", on_terminal(*command, "network.onnx", cwd=folder))
    assert max(map(len, plain.splitlines())) <= COLUMNS
