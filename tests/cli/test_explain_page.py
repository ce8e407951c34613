"""The page of `explain --html`, in a headless Chromium: it draws, colours, finds, and keeps up with large graphs."""

import json
import os

import pytest
from browser import NAMES, Browser, find_browser
from command import BINARY, roundhouse, value, write_model, write_network
from onnx import helper

LIBRARIES = os.path.join(os.path.dirname(os.path.dirname(BINARY)), "lib")
PLUGIN = ["--plugin", os.path.join(LIBRARIES, "roundhouse_provider_fake_device.so")]
#: Pixels of the canvas that are not of the background, and how many colours they have.
DRAWN = """(() => {
  const g = document.getElementById("graph");
  const data = g.getContext("2d").getImageData(0, 0, g.width, g.height).data;
  const colours = new Map();
  for (let i = 0; i < data.length; i += 4) {
    const key = data[i] << 16 | data[i + 1] << 8 | data[i + 2];
    colours.set(key, (colours.get(key) ?? 0) + 1);
  }
  const [background] = [...colours].sort((a, b) => b[1] - a[1]);
  return { drawn: data.length / 4 - background[1], background: background[0], colours: [...colours].filter((c) => c[1] > 100).length };
})()"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("page")
    write_network(path / "network.onnx")
    done = roundhouse("explain", "network.onnx", *PLUGIN, "--run", "--html", "page.html", cwd=path)
    assert (done.returncode, done.stderr) == (0, "")
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not find_browser():
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed, and ROUNDHOUSE_BROWSER names none")
    with Browser(tmp_path_factory.mktemp("browser")) as started:
        yield started
        assert started.errors == []


@pytest.fixture
def page(browser, folder):
    browser.prefer("light")
    browser.open(folder / "page.html")
    browser.wait("window.explainView && explainView.frames > 0")
    return browser


def choose(page, mode):
    page.evaluate(f"(() => {{ const m = document.getElementById('mode'); m.value = '{mode}'; m.dispatchEvent(new Event('change')); }})()")


def redrawn(page):
    """What is drawn once everything asked for is on the canvas."""
    page.wait("!explainView.pending")
    return page.evaluate(DRAWN)


def text(page, element):
    return page.evaluate(f"document.getElementById('{element}').innerText")


def test_is_complete_in_itself(folder):
    source = (folder / "page.html").read_text()
    assert "http:" not in source and "https:" not in source and " src=" not in source and "/*DATA*/" not in source
    assert source.count("</script>") == 2


def test_draws_nodes_by_provider(page):
    assert redrawn(page)["drawn"] > 5000
    assert page.evaluate("explainView.count") == 24
    assert "FakeDeviceExecutionProvider" in text(page, "legend") and "CPUExecutionProvider" in text(page, "legend")
    assert page.evaluate("new Set(explainView.colours).size") >= 2
    assert text(page, "title").startswith("graph") and "24 nodes" in text(page, "title")


def test_edges_point_down_and_nodes_do_not_overlap(page):
    page.evaluate("void Object.assign(window, { v: explainView, right: (n) => v.layout.x[n] + v.nodes[n].width / 2 })")
    page.evaluate("void (window.left = (n) => v.layout.x[n] - v.nodes[n].width / 2)")
    assert page.evaluate("v.edges.every(([a, b]) => v.layout.layer[a] < v.layout.layer[b])")
    assert page.evaluate("v.layout.layers.every((list) => list.every((n, i) => i === 0 || left(n) > right(list[i - 1])))")


@pytest.mark.parametrize(("mode", "words"), [("time", "of a run"), ("bytes", "of the outputs")])
def test_colour_modes(mode, words, page):
    before = page.evaluate("explainView.colours.join()")
    choose(page, mode)
    assert words in text(page, "legend")
    assert redrawn(page)["drawn"] > 5000 and page.evaluate("explainView.colours.join()") != before
    assert page.evaluate("explainView.colours.filter((c) => c).length") > 10
    choose(page, "provider")
    assert page.evaluate("explainView.colours.join()") == before


def test_search_finds_a_node_and_shows_it(page):
    page.evaluate("document.getElementById('search').focus()")
    page.type("attent")
    assert "attention" in text(page, "results")
    page.key("Enter")
    details = text(page, "details")
    for part in ("attention", "Softmax(18)", "CPUExecutionProvider", "axis", "FakeDeviceExecutionProvider"):
        assert part in details, part
    selected = page.evaluate("(() => { const v = explainView; return [v.nodes[v.selected].sub, v.scale]; })()")
    assert selected[0] == "attention" and selected[1] >= 0.9
    page.evaluate("document.getElementById('search').value = ''")
    page.evaluate("document.getElementById('search').focus()")
    page.type("no such thing")
    assert "nothing found" in text(page, "results")


def test_a_click_tells_the_details(page):
    page.evaluate("explainView.fit()")
    page.wait("!explainView.pending")
    where = page.evaluate("""(() => {
      const v = explainView, node = v.nodes.findIndex((n) => n.sub === "conv2"), box = v.canvas.getBoundingClientRect();
      return [box.left + (v.layout.x[node] - v.left) * v.scale, box.top + (v.y(v.layout.layer[node]) - v.top) * v.scale];
    })()""")
    page.click(*where)
    details = text(page, "details")
    for part in ("conv2", "Conv(18)", "group", "float", "[8, 2, 3, 3]"):
        assert part in details, part
    page.key("Escape")
    assert page.evaluate("document.getElementById('details').hidden")


def test_zoom_and_pan(page):
    page.evaluate("explainView.fit()")
    page.wait("!explainView.pending")
    scale = page.evaluate("explainView.scale")
    page.mouse("mouseWheel", 640, 400, deltaX=0, deltaY=-400)
    page.wait(f"explainView.scale > {scale} * 1.5")
    left = page.evaluate("explainView.left")
    page.mouse("mousePressed", 600, 400, button="left", clickCount=1)
    page.mouse("mouseMoved", 500, 420, button="left", buttons=1)
    page.mouse("mouseReleased", 500, 420, button="left", clickCount=1)
    page.wait(f"explainView.left > {left}")
    assert page.evaluate("document.getElementById('details').hidden")
    page.evaluate("document.getElementById('fit').click()")
    page.wait(f"Math.abs(explainView.scale - {scale}) < 1e-6")


def test_dark(page):
    light = redrawn(page)["background"]
    page.prefer("dark")
    page.wait("document.documentElement.dataset.theme === 'dark' && !explainView.pending")
    dark = page.evaluate(DRAWN)["background"]
    assert light >> 16 > 200 and dark >> 16 < 60
    page.prefer("light")


def test_times_of_a_trace(page, folder):
    assert roundhouse("profile", "network.onnx", "-n", "2", "--trace", "trace.json", cwd=folder).returncode == 0
    done = roundhouse("explain", "network.onnx", "--profile", "trace.json", "--html", "traced.html", "--json", cwd=folder)
    nodes = {node["node"]: node for node in json.loads(done.stdout)["nodes"]}
    assert nodes["conv1"]["ms"] > 0 and nodes["conv2"]["bytes"] == 8 * 8 * 8 * 4
    page.open(folder / "traced.html")
    page.wait("window.explainView && explainView.frames > 0")
    choose(page, "time")
    assert "of a run" in text(page, "legend")


def large_network(path, count):
    """Blocks of parallel chains, one after the other."""
    nodes, value_name = [], "x"
    while len(nodes) < count:
        ends = []
        for length in (1, 2, 3):
            end = value_name
            for _ in range(length):
                nodes.append(helper.make_node("Relu" if length % 2 else "Exp", [end], [f"v{len(nodes)}"], f"block/node{len(nodes)}"))
                end = nodes[-1].output[0]
            ends.append(end)
        nodes.append(helper.make_node("Sum", ends, [f"v{len(nodes)}"], f"join{len(nodes)}"))
        value_name = nodes[-1].output[0]
    write_model(path, nodes, [value("x", [4])], [value(value_name, [4])])
    return len(nodes)


def test_large_graphs(page, tmp_path):
    """5,000 nodes are laid out and drawn; only what is in sight is."""
    count = large_network(tmp_path / "large.onnx", 5000)
    done = roundhouse("explain", "large.onnx", "--html", "large.html", "--json", cwd=tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout)["counts"]["nodes"] == count
    page.open(tmp_path / "large.html")
    page.wait("window.explainView && explainView.frames > 0")
    assert page.evaluate("explainView.count") == count
    frames = page.evaluate("explainView.frames")
    page.evaluate("""(async () => {
      for (let i = 0; i < 20; ++i) { explainView.pan(-5, -40); await new Promise(requestAnimationFrame); }
      await new Promise(requestAnimationFrame);
    })()""")
    assert page.evaluate("explainView.frames") >= frames + 20
    assert redrawn(page)["drawn"] > 1000
