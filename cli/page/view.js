// The graph on a canvas: only what can be seen is drawn, and only as much of it as can be read.
"use strict";

class View {
  static HEIGHT = 36;

  /// nodes: {label, sub, width}; edges: [from, to, dashed]. `onPick(node or -1)` is called for clicks.
  constructor(canvas, nodes, edges, onPick) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.nodes = nodes;
    this.edges = edges;
    this.onPick = onPick;
    this.layout = Layout.run(nodes.map((n) => n.width), edges);
    this.colours = nodes.map(() => "#888");
    this.faded = null; // Uint8Array: nodes that are out of the question
    this.selected = -1;
    this.scale = 1;
    this.left = 0; // of the graph, at the canvas's left edge
    this.top = 0;
    this.pending = false;
    this.frames = 0;
    this.prepareEdges();
    this.measure();
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.listen();
  }

  get count() {
    return this.nodes.length;
  }
  y(layer) {
    return layer * this.layout.row;
  }

  // Segments by the layer that they begin in; those without bends, over many layers, apart.
  prepareEdges() {
    const { paths, layers } = this.layout;
    this.segments = layers.map(() => []);
    this.long = [];
    paths.forEach((path, e) => {
      for (let i = 0; i + 1 < path.length; ++i) {
        const [x0, l0] = path[i];
        const [x1, l1] = path[i + 1];
        const down = i === 0 ? View.HEIGHT / 2 : 0;
        const up = i + 2 === path.length ? View.HEIGHT / 2 : 0;
        const segment = [x0, this.y(l0) + down, x1, this.y(l1) - up, e];
        if (l1 - l0 > 1) this.long.push(segment);
        else this.segments[l0].push(segment);
      }
    });
  }

  measure() {
    let left = Infinity;
    let right = -Infinity;
    for (let v = 0; v < this.count; ++v) {
      left = Math.min(left, this.layout.x[v] - this.nodes[v].width / 2);
      right = Math.max(right, this.layout.x[v] + this.nodes[v].width / 2);
    }
    if (left > right) left = right = 0;
    this.bounds = { left, right, top: -View.HEIGHT, bottom: this.y(Math.max(0, this.layout.layers.length - 1)) + View.HEIGHT };
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    const first = !this.width;
    this.width = clientWidth;
    this.height = clientHeight;
    this.ratio = ratio;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    if (first) this.start();
    else this.draw();
  }

  // Small graphs whole; of large ones the beginning, at a size that can be read.
  start() {
    this.fit();
    if (this.scale >= 0.35) return;
    this.scale = 0.8;
    const first = this.layout.layers[0]?.[0] ?? 0;
    this.left = (this.count ? this.layout.x[first] : 0) - this.width / 2 / this.scale;
    this.top = this.bounds.top - 24 / this.scale;
    this.draw();
  }

  fit() {
    const { left, right, top, bottom } = this.bounds;
    const margin = 32;
    this.scale = Math.min(1.25, (this.width - margin * 2) / (right - left || 1), (this.height - margin * 2) / (bottom - top || 1));
    this.scale = Math.max(this.scale, 0.001);
    this.left = (left + right) / 2 - this.width / 2 / this.scale;
    this.top = (top + bottom) / 2 - this.height / 2 / this.scale;
    this.request();
  }

  pan(dx, dy) {
    this.left -= dx / this.scale;
    this.top -= dy / this.scale;
    this.request();
  }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const scale = Math.min(4, Math.max(0.001, this.scale * factor));
    this.left += px / this.scale - px / scale;
    this.top += py / this.scale - py / scale;
    this.scale = scale;
    this.request();
  }

  show(node) {
    this.scale = Math.max(this.scale, 0.9);
    this.left = this.layout.x[node] - this.width / 2 / this.scale;
    this.top = this.y(this.layout.layer[node]) - this.height / 2 / this.scale;
    this.select(node);
  }

  select(node) {
    this.selected = node;
    this.request();
  }

  request() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  themeChanged() {
    const style = getComputedStyle(document.documentElement);
    this.theme = Object.fromEntries(["page", "panel", "text", "dim", "edge", "accent", "gone"].map((name) => [name, style.getPropertyValue("--" + name).trim()]));
    this.request();
  }

  draw() {
    if (!this.width) return;
    if (!this.theme) this.themeChanged();
    const g = this.context;
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.fillStyle = this.theme.page;
    g.fillRect(0, 0, this.width, this.height);
    const s = this.scale * this.ratio;
    g.setTransform(s, 0, 0, s, -this.left * s, -this.top * s);
    const seen = { left: this.left, right: this.left + this.width / this.scale, top: this.top, bottom: this.top + this.height / this.scale };
    const last = this.layout.layers.length - 1;
    const from = Math.max(0, Math.floor((seen.top - View.HEIGHT) / this.layout.row));
    const to = Math.min(last, Math.ceil((seen.bottom + View.HEIGHT) / this.layout.row));
    this.drawEdges(g, seen, from, to);
    this.drawNodes(g, seen, from, to);
    ++this.frames;
  }

  drawEdges(g, seen, from, to) {
    const curved = this.scale > 0.3;
    const add = ([x0, y0, x1, y1]) => {
      if (Math.max(x0, x1) < seen.left || Math.min(x0, x1) > seen.right || y1 < seen.top || y0 > seen.bottom) return;
      g.moveTo(x0, y0);
      if (curved && x0 !== x1) {
        const middle = (y0 + y1) / 2;
        g.bezierCurveTo(x0, middle, x1, middle, x1, y1);
      } else {
        g.lineTo(x1, y1);
      }
    };
    const pass = (wanted) => {
      g.beginPath();
      for (let l = Math.max(0, from - 1); l <= to; ++l) for (const segment of this.segments[l]) if (wanted(segment[4])) add(segment);
      for (const segment of this.long) if (wanted(segment[4])) add(segment);
    };
    const touches = (e) => this.edges[e][0] === this.selected || this.edges[e][1] === this.selected;
    g.lineWidth = Math.max(1.1, 0.6 / this.scale);
    g.strokeStyle = this.theme.edge;
    g.globalAlpha = this.scale < 0.12 ? 0.45 : 0.8;
    pass((e) => !this.edges[e][2] && !touches(e));
    g.stroke();
    g.setLineDash([5, 4]);
    pass((e) => this.edges[e][2] && !touches(e));
    g.stroke();
    g.setLineDash([]);
    g.globalAlpha = 1;
    if (this.selected < 0) return;
    g.strokeStyle = this.theme.accent;
    g.lineWidth = Math.max(2, 1.2 / this.scale);
    pass(touches);
    g.stroke();
  }

  drawNodes(g, seen, from, to) {
    const { x, layers } = this.layout;
    const h = View.HEIGHT;
    const visible = [];
    for (let l = from; l <= to; ++l) {
      for (const v of layers[l]) {
        const half = this.nodes[v].width / 2;
        if (x[v] + half >= seen.left && x[v] - half <= seen.right) visible.push(v);
      }
    }
    const round = this.scale > 0.3;
    const box = (v) => {
      const w = this.nodes[v].width;
      const y = this.y(this.layout.layer[v]) - h / 2;
      if (round) g.roundRect(x[v] - w / 2, y, w, h, 7);
      else g.rect(x[v] - w / 2, y, w, h);
    };
    const groups = new Map();
    for (const v of visible) {
      const key = (this.faded?.[v] ? "-" : "+") + (this.colours[v] ?? "");
      (groups.get(key) ?? groups.set(key, []).get(key)).push(v);
    }
    for (const [key, list] of groups) {
      const colour = key.slice(1);
      g.globalAlpha = key[0] === "-" ? 0.18 : 1;
      g.beginPath();
      list.forEach(box);
      g.fillStyle = colour || this.theme.panel;
      g.fill();
      if (colour) continue;
      g.lineWidth = Math.max(1, 0.6 / this.scale);
      g.setLineDash(round ? [4, 3] : []);
      g.strokeStyle = this.theme.gone;
      g.stroke();
      g.setLineDash([]);
    }
    g.globalAlpha = 1;
    if (this.scale > 0.34) this.drawLabels(g, visible);
    if (this.selected < 0) return;
    g.beginPath();
    box(this.selected);
    g.lineWidth = Math.max(2.5, 2 / this.scale);
    g.strokeStyle = this.theme.accent;
    g.stroke();
  }

  drawLabels(g, visible) {
    const both = this.scale > 0.6;
    g.textAlign = "center";
    g.textBaseline = "middle";
    const row = (font, pick, shift) => {
      g.font = font;
      for (const v of visible) {
        g.globalAlpha = this.faded?.[v] ? 0.25 : shift > 0 ? 0.75 : 1;
        g.fillStyle = this.colours[v] ? View.ink(this.colours[v]) : this.theme.dim;
        g.fillText(pick(this.nodes[v]), this.layout.x[v], this.y(this.layout.layer[v]) + shift);
      }
    };
    row("600 12.5px system-ui, sans-serif", (n) => n.label, both ? -7 : 0);
    if (both) row("10px system-ui, sans-serif", (n) => n.sub, 8.5);
    g.globalAlpha = 1;
  }

  /// Black or white, whichever reads better on "#rrggbb".
  static ink(colour) {
    const value = parseInt(colour.slice(1), 16);
    const luma = 0.299 * (value >> 16) + 0.587 * ((value >> 8) & 255) + 0.114 * (value & 255);
    return luma > 150 ? "#14171a" : "#ffffff";
  }

  nodeAt(px, py) {
    const gx = this.left + px / this.scale;
    const gy = this.top + py / this.scale;
    const slack = Math.max(View.HEIGHT / 2, 5 / this.scale);
    const layer = Math.round(gy / this.layout.row);
    if (Math.abs(gy - this.y(layer)) > slack) return -1;
    for (const v of this.layout.layers[layer] ?? []) if (Math.abs(this.layout.x[v] - gx) <= this.nodes[v].width / 2) return v;
    return -1;
  }

  listen() {
    const pointers = new Map();
    let moved = 0;
    const at = (event) => [event.offsetX, event.offsetY];
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at(event));
      moved = 0;
      this.canvas.classList.add("dragging");
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const now = at(event);
      if (pointers.size === 2) {
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
        const distance = ([x, y]) => Math.hypot(x - other[0], y - other[1]);
        this.zoom(distance(now) / Math.max(1, distance(before)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      } else {
        this.pan(now[0] - before[0], now[1] - before[1]);
      }
      moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
      pointers.set(event.pointerId, now);
    });
    const release = (event) => {
      if (!pointers.delete(event.pointerId)) return;
      this.canvas.classList.remove("dragging");
      if (event.type === "pointerup" && moved < 5) this.onPick(this.nodeAt(...at(event)));
    };
    this.canvas.addEventListener("pointerup", release);
    this.canvas.addEventListener("pointercancel", release);
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        if (event.shiftKey) this.pan(-event.deltaY, 0);
        else this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.offsetX, event.offsetY);
      },
      { passive: false },
    );
  }
}
