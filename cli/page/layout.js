// Layers of a directed graph: every edge points down, crossings are few, straight lines are many.
"use strict";

const Layout = (() => {
  const ROW = 76; // from one layer to the next
  const GAP = 22; // between neighbours of a layer
  const LONGEST = 48; // an edge over more layers is drawn without places of its own
  const MOST_BENDS = 60000;

  function topologicalOrder(count, edges, successors) {
    const waiting = new Int32Array(count);
    for (const [, to] of edges) ++waiting[to];
    const order = [];
    for (let v = 0; v < count; ++v) if (waiting[v] === 0) order.push(v);
    for (let i = 0; i < order.length; ++i) for (const to of successors[order[i]]) if (--waiting[to] === 0) order.push(to);
    for (let v = 0; order.length < count && v < count; ++v) if (waiting[v] > 0) order.push(v); // of cycles, which models have not
    return order;
  }

  // As early as it may be; what nothing comes before stands right above its first use.
  function assignLayers(count, edges, successors, predecessors) {
    const layer = new Int32Array(count);
    const order = topologicalOrder(count, edges, successors);
    for (const v of order) for (const to of successors[v]) layer[to] = Math.max(layer[to], layer[v] + 1);
    for (let i = order.length - 1; i >= 0; --i) {
      const v = order[i];
      if (predecessors[v].length === 0 && successors[v].length > 0) layer[v] = Math.min(...successors[v].map((to) => layer[to])) - 1;
    }
    return layer;
  }

  // Vertices of the layers: nodes, and bends of edges that go over several layers.
  function addBends(widths, edges, layer) {
    const vertices = widths.map((width, v) => ({ layer: layer[v], width, up: [], down: [], bend: false, x: 0, order: 0 }));
    const paths = [];
    let bends = 0;
    for (const [from, to] of edges) {
      const span = layer[to] - layer[from];
      const path = [from];
      if (span > 1 && span <= LONGEST && bends + span <= MOST_BENDS) {
        for (let l = layer[from] + 1; l < layer[to]; ++l, ++bends) {
          path.push(vertices.length);
          vertices.push({ layer: l, width: 6, up: [], down: [], bend: true, x: 0, order: 0 });
        }
      }
      path.push(to);
      paths.push(path);
      if (span > LONGEST) continue;
      for (let i = 0; i + 1 < path.length; ++i) {
        vertices[path[i]].down.push(path[i + 1]);
        vertices[path[i + 1]].up.push(path[i]);
      }
    }
    return { vertices, paths };
  }

  function makeLayers(vertices) {
    const layers = [];
    // Depth first: what belongs together starts side by side.
    const seen = new Uint8Array(vertices.length);
    for (let root = 0; root < vertices.length; ++root) {
      const stack = [root];
      while (stack.length) {
        const v = stack.pop();
        if (seen[v]) continue;
        seen[v] = 1;
        (layers[vertices[v].layer] ||= []).push(v);
        for (let i = vertices[v].down.length - 1; i >= 0; --i) stack.push(vertices[v].down[i]);
      }
    }
    for (let l = 0; l < layers.length; ++l) (layers[l] ||= []).forEach((v, i) => (vertices[v].order = i));
    return layers;
  }

  function reduceCrossings(vertices, layers) {
    const sweep = (list, side) => {
      for (const v of list) {
        const near = vertices[v][side];
        let sum = 0;
        for (const other of near) sum += vertices[other].order / Math.max(1, layers[vertices[other].layer].length - 1);
        vertices[v].key = near.length ? sum / near.length : vertices[v].order / Math.max(1, list.length - 1);
      }
      list.sort((a, b) => vertices[a].key - vertices[b].key || vertices[a].order - vertices[b].order);
      list.forEach((v, i) => (vertices[v].order = i));
    };
    for (let round = 0; round < 6; ++round) {
      for (let l = 1; l < layers.length; ++l) sweep(layers[l], "up");
      for (let l = layers.length - 2; l >= 0; --l) sweep(layers[l], "down");
    }
  }

  // The places nearest to `wanted` (weighted squares) that keep order and distances: blocks that collide are pooled.
  function place(list, vertices, wanted, weights) {
    const blocks = [];
    let offset = 0;
    list.forEach((v, i) => {
      if (i > 0) offset += (vertices[list[i - 1]].width + vertices[v].width) / 2 + GAP;
      let block = { sum: (wanted[i] - offset) * weights[i], weight: weights[i], count: 1 };
      while (blocks.length && blocks.at(-1).sum / blocks.at(-1).weight > block.sum / block.weight) {
        const before = blocks.pop();
        block = { sum: before.sum + block.sum, weight: before.weight + block.weight, count: before.count + block.count };
      }
      blocks.push(block);
    });
    let i = 0;
    offset = 0;
    for (const block of blocks) {
      for (let k = 0; k < block.count; ++k, ++i) {
        if (i > 0) offset += (vertices[list[i - 1]].width + vertices[list[i]].width) / 2 + GAP;
        vertices[list[i]].x = block.sum / block.weight + offset;
      }
    }
  }

  function assignPlaces(vertices, layers) {
    for (const list of layers) {
      let x = 0;
      for (const v of list) {
        vertices[v].x = x + vertices[v].width / 2;
        x += vertices[v].width + GAP;
      }
      for (const v of list) vertices[v].x -= x / 2;
    }
    const align = (list, sides) => {
      const wanted = [];
      const weights = [];
      for (const v of list) {
        let sum = 0;
        let weight = 0;
        for (const side of sides) {
          for (const other of vertices[v][side]) {
            const strength = vertices[v].bend && vertices[other].bend ? 8 : vertices[v].bend || vertices[other].bend ? 2 : 1;
            sum += vertices[other].x * strength;
            weight += strength;
          }
        }
        wanted.push(weight ? sum / weight : vertices[v].x);
        weights.push(weight || 0.1);
      }
      place(list, vertices, wanted, weights);
    };
    for (let round = 0; round < 8; ++round) {
      for (const list of layers) align(list, ["up"]);
      for (let l = layers.length - 1; l >= 0; --l) align(layers[l], ["down"]);
    }
    for (const list of layers) align(list, ["up", "down"]);
  }

  /// widths: of the nodes; edges: [from, to] pairs. Gives {x, layer} of each node, the nodes of each layer from left to right, and the
  /// points of each edge.
  function run(widths, edges) {
    const successors = widths.map(() => []);
    const predecessors = widths.map(() => []);
    for (const [from, to] of edges) {
      successors[from].push(to);
      predecessors[to].push(from);
    }
    const layer = assignLayers(widths.length, edges, successors, predecessors);
    const { vertices, paths } = addBends(widths, edges, layer);
    const layers = makeLayers(vertices);
    reduceCrossings(vertices, layers);
    assignPlaces(vertices, layers);
    return {
      row: ROW,
      x: Float64Array.from({ length: widths.length }, (_, v) => vertices[v].x),
      layer,
      layers: layers.map((list) => list.filter((v) => v < widths.length)),
      paths: paths.map((path) => path.map((v) => [vertices[v].x, vertices[v].layer])),
    };
  }

  return { run };
})();
