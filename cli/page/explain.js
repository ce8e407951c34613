// The page around the graph: colours, legend, search, details.
"use strict";

(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const rows = report.nodes;
  const { values, nodes: wiring } = report.graph;
  const element = (id) => document.getElementById(id);

  // --- the graph: rows that are drawn, numbered anew
  const drawn = rows.map((_, r) => r).filter((r) => wiring[r]);
  const placeOf = new Map(drawn.map((r, v) => [r, v]));
  const producer = new Map();
  const consumers = new Map();
  for (const r of drawn) {
    for (const value of wiring[r].outputs) producer.set(value, r);
    for (const value of wiring[r].inputs) (consumers.get(value) ?? consumers.set(value, []).get(value)).push(r);
  }

  function listEdges() {
    const edges = [];
    const seen = new Set();
    const add = (value, to, dashed) => {
      const from = producer.get(value);
      const key = from * rows.length + to;
      if (from === undefined || from === to || seen.has(key)) return;
      seen.add(key);
      edges.push([placeOf.get(from), placeOf.get(to), dashed]);
    };
    for (const r of drawn) {
      for (const value of wiring[r].inputs) add(value, r, false);
      for (const body of wiring[r].bodies ?? []) for (const value of body.outputs) add(value, r, true);
    }
    return edges;
  }

  const shorten = (text, most) => (text.length > most ? text.slice(0, most / 2 - 1) + "…" + text.slice(1 - most / 2) : text);
  const boxes = drawn.map((r) => {
    const label = shorten(rows[r].op_type, 26);
    const sub = shorten(rows[r].node, 30);
    return { label, sub, width: Math.max(64, Math.ceil(Math.max(label.length * 7.6, sub.length * 5.4)) + 20) };
  });

  // --- colours
  const PALETTE = ["#4f83cc", "#e8954a", "#57a773", "#b06fc4", "#d8605f", "#3fb0b5", "#c9a227", "#8d7b68"];
  const providers = report.providers;
  const providerColour = (name) => (name ? PALETTE[(providers.length - 1 - providers.indexOf(name)) % PALETTE.length] : "");
  const RAMP = { light: ["#f1e7d0", "#f2b15c", "#d9542b", "#7d1033"], dark: ["#37343a", "#8a5a35", "#e0703a", "#ffd9a0"] };

  function ramp(t) {
    const stops = RAMP[document.documentElement.dataset.theme];
    const at = Math.min(0.9999, Math.max(0, t)) * (stops.length - 1);
    const channel = (stop, k) => parseInt(stops[stop].slice(1 + 2 * k, 3 + 2 * k), 16);
    const part = (k) => Math.round(channel(at | 0, k) + (channel((at | 0) + 1, k) - channel(at | 0, k)) * (at % 1));
    return "#" + [0, 1, 2].map((k) => part(k).toString(16).padStart(2, "0")).join("");
  }

  const time = (ms) => (ms >= 1 ? ms.toFixed(2) + " ms" : (ms * 1000).toFixed(1) + " µs");
  const bytes = (n) => {
    const unit = n < 1024 ? 0 : n < 1 << 20 ? 1 : n < 1 << 30 ? 2 : 3;
    return (n / 1024 ** unit).toFixed(unit ? 1 : 0) + " " + ["B", "KiB", "MiB", "GiB"][unit];
  };
  const MEASURES = {
    time: { of: (row) => row.ms, text: time, about: report.costs?.times ? "of a run, by the node that was run" : "" },
    bytes: { of: (row) => row.bytes, text: bytes, about: "of the outputs" },
  };
  let mode = "provider";
  let only = null; // the provider that the legend singles out

  function recolour() {
    const measure = MEASURES[mode];
    if (measure) {
      const numbers = drawn.map((r) => measure.of(rows[r])).filter((n) => n > 0);
      const low = Math.log(numbers.reduce((a, b) => Math.min(a, b), Infinity));
      const high = Math.log(numbers.reduce((a, b) => Math.max(a, b), 0));
      view.colours = drawn.map((r) => {
        const n = measure.of(rows[r]);
        return n > 0 ? ramp(high > low ? (Math.log(n) - low) / (high - low) : 1) : "";
      });
      showScale(measure, numbers, low, high);
    } else {
      view.colours = drawn.map((r) => providerColour(rows[r].provider));
      showProviders();
    }
    view.faded = only === null ? null : Uint8Array.from(drawn, (r) => (rows[r].provider === only ? 0 : 1));
    view.request();
  }

  // --- legend
  function tag(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function showProviders() {
    const { counts } = report;
    const entries = providers.map((name) => [name, counts.providers[name] ?? 0, name]);
    const others = counts.removed + counts.divided + counts.unassigned;
    if (others) entries.push([counts.unassigned ? "removed by passes, or not taken" : "removed by passes", others, ""]);
    const list = entries.map(([text, count, name]) => {
      const swatch = tag("i");
      swatch.style.background = providerColour(name) || "none";
      if (!name) swatch.style.border = "1px dashed var(--gone)";
      const button = tag("button", {}, swatch, text, tag("b", {}, String(count)));
      button.setAttribute("aria-pressed", String(only === name));
      button.onclick = () => {
        only = only === name ? null : name;
        recolour();
      };
      return button;
    });
    element("legend").replaceChildren(...list);
  }

  function showScale(measure, numbers, low, high) {
    if (!numbers.length) {
      const text = mode === "time" ? "No times were given: explain with --run or --profile has them." : "No sizes are known: dimensions are symbols. explain with --run or --profile has them.";
      element("legend").replaceChildren(tag("p", {}, text));
      return;
    }
    const scale = tag("div", { className: "scale" });
    scale.style.background = `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map(ramp).join(", ")})`;
    const ends = tag("div", { className: "ends" }, tag("span", {}, measure.text(Math.exp(low))), tag("span", {}, measure.text(Math.exp(high))));
    element("legend").replaceChildren(scale, ends, tag("p", {}, measure.about));
  }

  // --- details
  const typeText = (value) => values[value].type + (values[value].kind === "weight" ? " weight" : "");
  const link = (r) => tag("a", { onclick: () => pick(r) }, rows[r].node);

  function valueItem(value, others) {
    if (value < 0) return tag("li", {}, tag("small", {}, "left out"));
    const item = tag("li", {}, tag("code", {}, values[value].name || "?"), " ", tag("small", {}, typeText(value)));
    others.forEach((r, i) => item.append(i ? ", " : tag("br"), link(r)));
    return item;
  }

  function facts(pairs) {
    const list = tag("dl");
    for (const [name, ...content] of pairs) {
      if (content.every((c) => c === "" || c === undefined)) continue;
      list.append(tag("dt", {}, name), tag("dd", {}, ...content));
    }
    return list;
  }

  function section(title, items) {
    return items.length ? [tag("h3", {}, title), tag("ul", {}, ...items)] : [];
  }

  function showDetails(r) {
    const panel = element("details");
    panel.hidden = r < 0;
    if (r < 0) return;
    const row = rows[r];
    const wires = wiring[r] ?? { inputs: [], outputs: [], attributes: {} };
    const close = tag("button", { className: "close", onclick: () => pick(-1) }, "✕");
    close.setAttribute("aria-label", "Close");
    const cost = report.costs?.times ? (row.ms === undefined ? "" : time(row.ms) + (row.fused_from.length ? " with what it is fused with" : "")) : "";
    const children = [
      close,
      tag("h2", {}, row.node),
      facts([
        ["operator", (row.domain ? row.domain + "::" : "") + row.op_type + "(" + row.opset + ")"],
        ["provider", row.provider || row.reason],
        ["runs as", row.runs_as === row.node ? "" : row.runs_as],
        ["computed by", row.kernel],
        ["variant", row.variant ?? ""],
        ["unit", row.unit],
        ["time", cost],
        ["outputs", row.bytes > 0 ? bytes(row.bytes) : ""],
        ["function", row.function],
        ["inside of", wires.inside ?? ""],
      ]),
      ...section("not on", row.refusals.map((f) => tag("li", {}, tag("b", {}, f.provider), " ", tag("small", {}, f.code), tag("br"), f.reason))),
      ...section("inputs", wires.inputs.map((v) => valueItem(v, producer.has(v) ? [producer.get(v)] : []))),
      ...section("outputs", wires.outputs.map((v) => valueItem(v, consumers.get(v) ?? []))),
      ...section("attributes", Object.entries(wires.attributes).map(([name, text]) => tag("li", {}, name + " ", tag("code", {}, text)))),
      ...section("stands for", row.fused_from.map((name) => tag("li", {}, tag("code", {}, name)))),
    ];
    panel.replaceChildren(...children);
    panel.scrollTop = 0;
  }

  function pick(r) {
    showDetails(r);
    if (r >= 0 && placeOf.has(r)) view.show(placeOf.get(r));
    else view.select(-1);
  }

  // --- search
  const haystack = drawn.map((r) => {
    const names = [...wiring[r].inputs, ...wiring[r].outputs].map((v) => (v < 0 ? "" : values[v].name));
    return [rows[r].node + "\n" + rows[r].op_type, names.join("\n")].map((text) => text.toLowerCase());
  });
  let found = [];
  let current = 0;

  function search(text) {
    const wanted = text.trim().toLowerCase();
    const matches = (part) => drawn.filter((_, v) => haystack[v][part].includes(wanted));
    found = wanted ? [...new Set([...matches(0), ...matches(1)])] : [];
    const exact = found.findIndex((r) => rows[r].node.toLowerCase() === wanted);
    if (exact > 0) found.unshift(...found.splice(exact, 1));
    current = 0;
    showResults(wanted !== "");
  }

  function showResults(open) {
    const list = element("results");
    list.hidden = !open;
    const items = found.slice(0, 50).map((r, i) => {
      const item = tag("li", { onmousedown: () => choose(i) }, rows[r].node, tag("small", {}, rows[r].op_type + " · " + (rows[r].provider || rows[r].reason)));
      item.setAttribute("aria-selected", String(i === current));
      return item;
    });
    if (found.length > 50) items.push(tag("li", {}, tag("small", {}, `and ${found.length - 50} more`)));
    if (!found.length) items.push(tag("li", {}, tag("small", {}, "nothing found")));
    list.replaceChildren(...items);
  }

  function choose(i) {
    if (!found[i]) return;
    element("results").hidden = true;
    pick(found[i]);
  }

  function searchKey(event) {
    if (event.key === "Enter") choose(current);
    else if (event.key === "Escape") event.target.blur();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      current = Math.max(0, Math.min(Math.min(found.length, 50) - 1, current + (event.key === "ArrowDown" ? 1 : -1)));
      showResults(true);
      event.preventDefault();
    }
  }

  // --- the frame around
  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    view.themeChanged();
    recolour();
  }

  function key(event) {
    if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 80;
    const actions = {
      "/": () => element("search").focus(),
      "+": () => view.zoom(1.25),
      "=": () => view.zoom(1.25),
      "-": () => view.zoom(0.8),
      0: () => view.fit(),
      Escape: () => pick(-1),
      ArrowLeft: () => view.pan(step, 0),
      ArrowRight: () => view.pan(-step, 0),
      ArrowUp: () => view.pan(0, step),
      ArrowDown: () => view.pan(0, -step),
    };
    if (!actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
  }

  const heading = element("title");
  heading.append(report.name, tag("small", {}, `${report.counts.nodes} nodes`));
  heading.title = report.model;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  const view = new View(element("graph"), boxes, listEdges(), (v) => pick(v < 0 ? -1 : drawn[v]));
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  element("mode").onchange = (event) => {
    mode = event.target.value;
    only = null;
    recolour();
  };
  element("search").oninput = (event) => search(event.target.value);
  element("search").onkeydown = searchKey;
  element("search").onblur = () => (element("results").hidden = true);
  element("in").onclick = () => view.zoom(1.25);
  element("out").onclick = () => view.zoom(0.8);
  element("fit").onclick = () => view.fit();
  element("theme").onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  document.addEventListener("keydown", key);
  recolour();
  window.explainView = view; // for tests and curious people
})();
