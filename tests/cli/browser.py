"""A page in a headless Chromium, driven over a pipe by the browser's own protocol; nothing beside the browser is needed."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

#: Names under which Debian, Ubuntu and others have it.
NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_browser():
    return os.environ.get("ROUNDHOUSE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """Use as a context manager. Errors of pages are kept in ``errors``."""

    def __init__(self, folder, width=1280, height=800, limit_s=120):
        self.limit_s = limit_s
        self.errors = []
        self._next = 0
        self._text = b""
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run"]
        arguments += ["--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder}"]
        arguments += [f"--window-size={width},{height}", "--remote-debugging-pipe", "about:blank"]

        def give_descriptors():  # the browser speaks on 3 and 4
            high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]
            for number, end in zip((3, 4), high, strict=True):
                os.dup2(end, number)
                os.close(end)

        null = subprocess.DEVNULL
        self._process = subprocess.Popen(
            [find_browser(), *arguments], preexec_fn=give_descriptors, close_fds=False, stdin=null, stdout=null, stderr=null
        )
        os.close(to_read)
        os.close(to_write)
        target = self._send("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = None
        self._session = self._send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._send(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._send("Emulation.setDeviceMetricsOverride", size)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def open(self, path):
        self._send("Page.navigate", {"url": f"file://{path}"})
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression):
        """The value of a JavaScript expression; promises are waited for."""
        answer = self._send("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression):
        end = time.monotonic() + self.limit_s
        while not self.evaluate(expression):
            assert time.monotonic() < end, f"never: {expression}"
            time.sleep(0.02)

    def mouse(self, kind, x, y, **more):
        self._send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def type(self, text):
        self._send("Input.insertText", {"text": text})

    def key(self, name):
        codes = {"Enter": 13, "Escape": 27}
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": codes[name]}
            self._send("Input.dispatchKeyEvent", event | ({"text": "\r"} if kind == "keyDown" and name == "Enter" else {}))

    def prefer(self, scheme):
        """ "light" or "dark", as the system would say."""
        self._send("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self._send("Page.captureScreenshot", {"format": "png"})["data"]))

    def _send(self, method, parameters=None):
        self._next += 1
        number = self._next
        message = {"id": number, "method": method, "params": parameters or {}}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != number:
            self._note(answer)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _note(self, event):
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(event["params"]["exceptionDetails"])
        elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            self.errors.append(event["params"]["entry"]["text"])

    def _receive(self):
        end = time.monotonic() + self.limit_s
        while b"\0" not in self._text:
            ready, _, _ = select.select([self._from], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self._from, 1 << 16)
            assert piece, "the browser has ended"
            self._text += piece
        text, self._text = self._text.split(b"\0", 1)
        return json.loads(text)
