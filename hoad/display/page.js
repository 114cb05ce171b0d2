"use strict";
(() => {
// Everything from the program reaches the page as text (textContent, fillText), never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const nodes = data.nodes, tapes = data.tapes;
const $ = (id) => document.getElementById(id);
const make = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};
const narrow = matchMedia("(max-width: 760px)");

// ---- what belongs to what -------------------------------------------------------------------------------------------

let first = 0;
for (const tape of tapes) {
  tape.first = first;
  first += tape.size;
}
nodes.forEach((node) => { node.p ||= []; node.of ||= []; node.users = []; node.parts = []; node.whole = []; });
tapes.forEach((tape, t) => {
  for (let k = tape.first; k < tape.first + tape.size; k++) nodes[k].tape = t;
});
nodes.forEach((node, k) => {
  for (const p of new Set(node.p)) nodes[p].users.push(k);
  for (const p of node.of) nodes[p].parts.push(k);
});
// The whole adjoint of a node, tape by tape: its last sum, or its one contribution; of inputs, what the tape gives.
nodes.forEach((node, k) => {
  for (let t = 0; t < tapes.length; t++) {
    const given = tapes[t].adjoints.find((entry) => entry[0] === k);
    const own = node.parts.filter((j) => nodes[j].tape === t);
    const sums = own.filter((j) => nodes[j].k === 0);
    if (given) node.whole.push({ node: given[1], text: given[2], tape: t });
    else if (sums.length) node.whole.push({ node: sums[sums.length - 1], tape: t });
    else if (own.length === 1 && nodes[own[0]].k !== undefined) node.whole.push({ node: own[0], tape: t });
  }
});

const RELATIONS = { chosen: "chosen", operand: "operand", user: "uses it", adjoint: "adjoint", contribution: "adds to it", target: "adjoint of" };

function relationsOf(k) {
  const found = new Map();
  if (k === null) return found;
  const node = nodes[k];
  const put = (j, name) => { if (j !== null && j !== undefined && j !== k && !found.has(j)) found.set(j, name); };
  found.set(k, "chosen");
  node.whole.forEach((entry) => put(entry.node, "adjoint"));
  node.parts.forEach((j) => put(j, "contribution"));
  node.of.forEach((j) => put(j, "target"));
  node.p.forEach((j) => put(j, "operand"));
  node.users.forEach((j) => put(j, "user"));
  node.of.forEach((target) => {
    nodes[target].parts.forEach((j) => { if (nodes[j].tape === node.tape) put(j, "contribution"); });
  });
  return found;
}

const title = (k) => (nodes[k].a ? `${nodes[k].a}, ` : "") + nodes[k].n;
const short = (k) => nodes[k].a || nodes[k].n;

// ---- state ----------------------------------------------------------------------------------------------------------

const state = { chosen: null, relations: new Map(), hits: [], hitSet: new Set(), hit: -1 };

function choose(k, from) {
  state.chosen = k;
  state.relations = relationsOf(k);
  panes.forEach((pane) => pane.reveal(from));
  showDetails();
  if (k !== null && from !== "canvas") view.reveal(k);
  view.draw();
  if (k !== null) {
    const node = nodes[k];
    $("said").textContent = `${title(k)}: ${node.t}, value ${node.v}` + (node.m ? `, ${node.m}` : "");
    history.replaceState(null, "", "#" + encodeURIComponent(node.n));
  } else {
    $("said").textContent = "Nothing chosen";
    history.replaceState(null, "", location.pathname);
  }
}

// ---- tables: only the rows in sight exist ---------------------------------------------------------------------------

const rowHeight = () => (narrow.matches ? 32 : 28);

class Pane {
  constructor(t) {
    const tape = tapes[t];
    this.tape = tape;
    this.index = t;
    this.cells = new Map();
    const own = nodes.slice(tape.first, tape.first + tape.size);
    this.equated = own.some((node) => node.a);
    this.root = make("section", "tape");
    this.root.setAttribute("aria-label", tape.name);
    const heading = make("h2", "", tape.name + " ");
    heading.append(make("small", "", tape.heading));
    this.grid = make("div", "grid");
    const set = (name, value) => this.grid.setAttribute(name, value);
    set("role", "grid"); set("tabindex", "0"); set("aria-rowcount", tape.size + 1); set("aria-label", `Nodes of ${tape.name}`);
    // Columns as wide as what stands in them, within bounds.
    const width = (key, least, most) => own.reduce((n, node) => Math.max(n, Math.min(most, (node[key] || "").length)), least);
    const number = `${width("n", 4, 18)}ch`;
    const column = (key, least) => `minmax(${width(key, 6, least)}ch, ${width(key, 8, 26)}fr)`;
    this.root.style.setProperty("--columns", [
      number, column("t", 12), ...(this.equated ? [column("e", 14)] : []), column("v", 11), "minmax(8ch, 12fr)",
    ].join(" "));
    this.root.style.setProperty("--narrow", `${number} minmax(0, 1.5fr) minmax(0, 1fr)`);
    const titles = make("div", "row titles" + (this.equated ? " equated" : ""));
    titles.setAttribute("role", "row");
    titles.setAttribute("aria-rowindex", "1");
    const heads = [["number", "node"], ["operation", "operation"], ...(this.equated ? [["adjoint-text", "adjoint"]] : []), ["value", "value"], ["mark", ""]];
    for (const [name, text] of heads) {
      const cell = make("span", name, text);
      cell.setAttribute("role", "columnheader");
      titles.append(cell);
    }
    this.rows = make("div", "rows");
    this.rows.setAttribute("role", "rowgroup");
    const top = make("div");
    top.setAttribute("role", "rowgroup");
    top.style.display = "contents";
    top.append(titles);
    this.grid.append(top, this.rows);
    this.root.append(heading, this.grid);
    this.grid.addEventListener("scroll", () => this.render(), { passive: true });
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) choose(Number(row.dataset.k), "table");
    });
    new ResizeObserver(() => this.render()).observe(this.grid);
  }

  render(again) {
    const height = rowHeight(), { first, size } = this.tape;
    this.rows.style.height = `${height * size}px`;
    const from = Math.max(0, Math.floor(this.grid.scrollTop / height) - 4);
    const to = Math.min(size, Math.ceil((this.grid.scrollTop + this.grid.clientHeight) / height) + 4);
    for (const [k, row] of this.cells) {
      if (again || k < first + from || k >= first + to) { row.remove(); this.cells.delete(k); }
    }
    const made = document.createDocumentFragment();
    for (let k = first + from; k < first + to; k++) {
      if (!this.cells.has(k)) {
        const row = this.row(k, height);
        this.cells.set(k, row);
        made.append(row);
      }
    }
    this.rows.append(made);
    const chosen = state.chosen;
    if (chosen !== null && this.cells.has(chosen)) this.grid.setAttribute("aria-activedescendant", `row-${chosen}`);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  row(k, height) {
    const node = nodes[k], relation = state.relations.get(k);
    const row = make("div", `row ${relation || ""} ${(node.e || "").includes(" = ") ? "equated" : ""} ${state.hitSet.has(k) ? "found" : ""}`);
    row.id = `row-${k}`;
    row.dataset.k = k;
    row.setAttribute("role", "row");
    row.setAttribute("aria-rowindex", k - this.tape.first + 2);
    row.setAttribute("aria-selected", relation === "chosen");
    row.style.top = `${(k - this.tape.first) * height}px`;
    const cell = (name, text) => {
      const made = make("span", name, text);
      made.setAttribute("role", "gridcell");
      if (text && text.length > 12) made.title = text;
      row.append(made);
      return made;
    };
    cell("number", node.n);
    cell("operation", node.t);
    if (this.equated) cell("adjoint-text", node.e || "");
    cell("value", node.v);
    const place = node.l === undefined ? "" : data.places[node.l][0];
    const mark = cell("mark", "");
    if (relation) mark.append(make("span", "relation", RELATIONS[relation]));
    mark.append(node.m || (relation ? "" : place.split(/[\\/]/).pop()));
    mark.title = [node.m, place].filter(Boolean).join(", ");
    return row;
  }

  // Bring the chosen node into sight, or else what belongs to it in this tape.
  reveal(from) {
    const mine = (k) => nodes[k].tape === this.index;
    const shown = [...state.relations].filter(([k]) => mine(k));
    const rank = ["chosen", "adjoint", "target", "contribution"];
    for (const name of rank) {
      const found = shown.find(([, relation]) => relation === name);
      if (found) { if (!(name === "chosen" && from === "table")) this.scrollTo(found[0]); break; }
    }
    this.render(true);
    if (state.chosen !== null && mine(state.chosen) && from !== "table") {
      const box = this.root.getBoundingClientRect(), outer = $("tables").getBoundingClientRect();
      if (box.left < outer.left - 1 || box.right > outer.right + 1) $("tables").scrollLeft += box.left - outer.left;
    }
  }

  scrollTo(k) {
    const height = rowHeight(), top = (k - this.tape.first) * height, grid = this.grid;
    const inSight = grid.clientHeight - height - 2;
    if (top < grid.scrollTop || top + height > grid.scrollTop + inSight) {
      this.rows.style.height = `${height * this.tape.size}px`;
      grid.scrollTop = Math.max(0, top - inSight / 2);
    }
  }
}

const panes = tapes.map((_, t) => new Pane(t));
$("tables").append(...panes.map((pane) => pane.root));
narrow.addEventListener("change", () => panes.forEach((pane) => pane.render(true)));

// ---- the panel of the chosen node -----------------------------------------------------------------------------------

const LISTED = 200; // nodes of one kind in the panel

function showDetails() {
  const panel = $("details"), k = state.chosen;
  panel.replaceChildren();
  panel.classList.toggle("filled", k !== null);
  if (k === null) {
    panel.append(make("p", "quiet", nodes.length ? "Choose a node, in a table or in the graph. Press ? for keys." : "No nodes."));
    return;
  }
  const node = nodes[k];
  panel.append(make("h2", "", `${node.n}${data.note ? "" : " = " + node.t}`));
  if (data.note) panel.append(make("p", "mono", node.t));
  if (node.e) panel.append(make("p", "mono", node.e));
  const line = [tapes[node.tape].name, node.m, node.d].filter(Boolean).join(" · ");
  panel.append(make("p", "quiet", line));
  panel.append(make("pre", "mono value", data.note ? node.v : `value ${node.w || node.v}`));
  if (node.l !== undefined) {
    const [where, text] = data.places[node.l];
    panel.append(make("p", "quiet where", (node.a ? `adjoint of what ${where} does` : where)));
    if (text) panel.append(make("pre", "mono line", text));
  }
  for (const guard of node.g || []) panel.append(make("p", "guard", `The function branched on this: it was ${guard}.`));
  const list = (name, words, entries) => {
    if (!entries.length) return;
    panel.append(make("h3", name, entries.length > 1 ? `${words} (${entries.length})` : words));
    const items = make("ul");
    for (const { node: j, text, value } of entries.slice(0, LISTED)) {
      const item = make("li");
      if (j === null || j === undefined) item.append(make("span", "mono", text));
      else {
        const button = make("button");
        button.type = "button";
        button.append(make("span", "", text || label(j)), make("span", "", value || nodes[j].v));
        button.addEventListener("click", () => { choose(j, "panel"); panel.focus({ preventScroll: true }); });
        item.append(button);
      }
      items.append(item);
    }
    panel.append(items);
    if (entries.length > LISTED) panel.append(make("p", "quiet", `and ${entries.length - LISTED} more`));
  };
  const label = (j) => (data.note ? nodes[j].n : nodes[j].e || `${nodes[j].n} = ${nodes[j].t}`);
  const many = tapes.filter((tape) => tape.adjoints.length).length > 1;
  const within = (t) => (many ? ` (tape ${t + 1})` : "");
  const plain = (ks) => ks.map((j) => ({ node: j }));
  list("operand", node.o ? "Operands, in order" : "Operands", plain(node.p));
  list("user", "Used by", plain(node.users));
  list("adjoint", "Its adjoint", node.whole.map((entry) => ({
    node: entry.node, text: (entry.node === null ? `${entry.text}, a constant` : label(entry.node)) + within(entry.tape),
  })));
  const differentiated = tapes.slice(node.tape + 1).some((tape) => tape.adjoint);
  if (differentiated && !data.note && !node.parts.length && !node.whole.length) {
    panel.append(make("p", "quiet", "No node of its own is its adjoint: it is zero, or another node serves, as simplification leaves it. gradient(program, simplify=False) keeps them all."));
  }
  list("contribution", data.note ? "Adjoints of its nodes" : "Contributions to its adjoint", node.parts.filter((j) => data.note || nodes[j].k !== 0)
    .map((j) => ({ node: j, text: label(j) + within(nodes[j].tape) })));
  if (node.of.length) {
    list("target", "Adjoint of", plain(node.of));
    if (!data.note) {
      const others = nodes[node.of[0]].parts.filter((j) => j !== k && nodes[j].tape === node.tape);
      list("contribution", "Beside it, for the same adjoint", plain(others));
    }
  }
  if (node.s !== undefined) list("", "Emitted by the sweep over", plain([node.s]));
}

// ---- the graph: layers by longest path, order by the mean of neighbours ---------------------------------------------

const BOX = { width: 150, height: 40, across: 26, down: 34 };
const MOST_WAYPOINTS = 1000;
const TALLEST = 60; // layers in one column
const layout = { x: new Float64Array(nodes.length), y: new Float64Array(nodes.length), frames: [], edges: [], width: 0, height: 0 };

function layers(tape) {
  const { first, size } = tape, last = first + size;
  const layer = new Int32Array(size);
  const inside = (j, k) => j >= first && j < k;
  for (let k = first; k < last; k++) {
    for (const p of nodes[k].p) if (inside(p, k)) layer[k - first] = Math.max(layer[k - first], layer[p - first] + 1);
  }
  // Then each as late as its users allow, so that what is needed late widens no early layer. Inputs stay on top.
  for (let k = last - 1; k >= first; k--) {
    if (nodes[k].i) continue;
    let latest = Infinity;
    for (const j of nodes[k].users) if (j > k && j < last) latest = Math.min(latest, layer[j - first] - 1);
    if (latest < Infinity) layer[k - first] = Math.max(layer[k - first], latest);
  }
  return layer;
}

function place(tape) {
  const { first, size } = tape, last = first + size;
  const layer = layers(tape);
  let depth = 0;
  layer.forEach((n) => { depth = Math.max(depth, n + 1); });
  // Points: nodes, then waypoints where long edges cross layers, if those are not too many.
  const points = Array.from({ length: size }, (_, i) => ({ layer: layer[i], up: [], down: [], x: 0, width: BOX.width }));
  const edges = [];
  let waypoints = 0;
  for (let k = first; k < last; k++) for (const p of new Set(nodes[k].p)) {
    if (p >= first && p < k) waypoints += Math.max(0, layer[k - first] - layer[p - first] - 1);
  }
  const most = Math.max(12, Math.ceil(1.2 * Math.sqrt(size)));
  const own = new Int32Array(depth);
  layer.forEach((n) => own[n]++);
  const winding = waypoints <= MOST_WAYPOINTS && depth <= TALLEST && own.every((n) => n <= most);
  const link = (a, b) => { points[a].down.push(b); points[b].up.push(a); };
  for (let k = first; k < last; k++) for (const p of new Set(nodes[k].p)) {
    if (p < first || p >= last) continue;
    const through = [];
    const from = p - first, to = k - first;
    if (p < k && winding) {
      let before = from;
      for (let n = layer[from] + 1; n < layer[to]; n++) {
        const i = points.push({ layer: n, up: [], down: [], x: 0, width: 6 }) - 1;
        link(before, i);
        through.push(i);
        before = i;
      }
      link(before, to);
    } else if (p < k && layer[from] < layer[to]) link(from, to);
    edges.push([from, to, through]);
  }
  const levels = Array.from({ length: depth }, () => []);
  points.forEach((point, i) => levels[point.layer].push(i));
  const mean = (list, or) => (list.length ? list.reduce((sum, i) => sum + points[i].x, 0) / list.length : or);
  const pack = (level) => {
    let x = 0;
    for (const i of level) { points[i].x = x + points[i].width / 2; x += points[i].width + BOX.across; }
    const shift = (x - BOX.across) / 2;
    for (const i of level) points[i].x -= shift;
  };
  levels.forEach(pack);
  for (let round = 0; round < 8; round++) {
    const downward = round % 2 === 0;
    for (let n = 0; n < depth; n++) {
      const level = levels[downward ? n : depth - 1 - n];
      for (const i of level) points[i].want = mean(downward ? points[i].up : points[i].down, points[i].x);
      level.sort((a, b) => points[a].want - points[b].want || a - b);
      pack(level);
    }
  }
  // A layer that is too wide goes on in further lines.
  const lines = [];
  for (const level of levels) {
    for (let m = 0; m === 0 || m < level.length; m += winding ? level.length : most) {
      const line = level.slice(m, winding ? level.length : m + most);
      pack(line);
      lines.push(line);
      if (winding) break;
    }
  }
  // Places: each as near to its neighbours as those beside it allow.
  const settle = (level, side) => {
    if (!level.length) return;
    const want = level.map((i) => mean(side === "both" ? [...points[i].up, ...points[i].down] : points[i][side], points[i].x));
    const gap = (m) => (points[level[m - 1]].width + points[level[m]].width) / 2 + BOX.across;
    const left = [...want], right = [...want];
    for (let m = 1; m < level.length; m++) left[m] = Math.max(left[m], left[m - 1] + gap(m));
    for (let m = level.length - 2; m >= 0; m--) right[m] = Math.min(right[m], right[m + 1] - gap(m + 1));
    level.forEach((i, m) => { points[i].x = (left[m] + right[m]) / 2; });
  };
  for (let round = 0; round < 6; round++) {
    for (let n = 0; n < lines.length; n++) settle(lines[n], "up");
    for (let n = lines.length - 1; n >= 0; n--) settle(lines[n], round === 5 ? "both" : "down");
  }
  // A tape that is too tall goes on in further columns.
  const step = BOX.height + BOX.down;
  const span = lines.map((line) => line.reduce(([low, high], i) => [Math.min(low, points[i].x - points[i].width / 2), Math.max(high, points[i].x + points[i].width / 2)], [Infinity, -Infinity]));
  const widths = span.map(([low, high]) => high - low).sort((a, b) => a - b);
  const typical = widths[Math.floor(0.8 * widths.length)] || BOX.width;
  const columns = lines.length > TALLEST ? Math.max(1, Math.round(Math.sqrt((lines.length * step) / (typical + 80)))) : 1;
  // Columns stand on their own, each line in the middle: neighbours may be in another one.
  if (columns > 1) lines.forEach((line, n) => {
    const middle = (span[n][0] + span[n][1]) / 2;
    for (const i of line) points[i].x -= middle;
    span[n] = [span[n][0] - middle, span[n][1] - middle];
  });
  const each = Math.ceil(lines.length / columns);
  const flip = tape.index % 2 === 1; // an adjoint runs upwards, beside what it is the adjoint of
  let left = 0, height = 0;
  for (let c = 0; c < columns; c++) {
    const part = lines.slice(c * each, (c + 1) * each), spans = span.slice(c * each, (c + 1) * each);
    const low = Math.min(...spans.map((s) => s[0])), high = Math.max(...spans.map((s) => s[1]));
    if (!part.length) continue;
    part.forEach((line, n) => {
      const y = (flip ? part.length - 1 - n : n) * step;
      for (const i of line) { points[i].x += left - low; points[i].y = y; }
      height = Math.max(height, y + BOX.height);
    });
    left += high - low + 80;
  }
  return { points, edges: columns > 1 ? edges.map(([a, b]) => [a, b, []]) : edges, width: Math.max(BOX.width, left - 80), height, flip };
}

function layOut() {
  const placed = tapes.map((tape, t) => place(Object.assign(tape, { index: t })));
  const tallest = Math.max(0, ...placed.map((one) => one.height));
  let left = 0;
  placed.forEach((one, t) => {
    const { first, size } = tapes[t];
    const top = (tallest - one.height) / 2;
    for (let i = 0; i < size; i++) {
      layout.x[first + i] = one.points[i].x + left;
      layout.y[first + i] = one.points[i].y + top + BOX.height / 2;
    }
    for (const [a, b, through] of one.edges) {
      layout.edges.push({ from: first + a, to: first + b, flip: one.flip, through: through.map((i) => [one.points[i].x + left, one.points[i].y + top + BOX.height / 2]) });
    }
    layout.frames.push({ x: left - 24, y: top - 44, width: one.width + 48, height: one.height + 68, title: tapes[t].name });
    left += one.width + 48 + 56;
  });
  layout.width = Math.max(1, left - 104);
  layout.height = tallest;
}

class View {
  constructor() {
    this.canvas = $("canvas");
    this.context = this.canvas.getContext("2d");
    this.scale = 1; this.x = 0; this.y = 0; // a point of the layout, at the middle of the canvas
    this.width = 0; this.height = 0;
    this.pointers = new Map();
    this.pending = false;
    new ResizeObserver(() => this.resize()).observe($("graph"));
    const on = (name, act, options) => this.canvas.addEventListener(name, act, options);
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.pointers.delete(event.pointerId));
    on("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) / 300), event.offsetX, event.offsetY);
    }, { passive: false });
    on("dblclick", (event) => this.zoom(2, event.offsetX, event.offsetY));
  }

  resize() {
    const box = $("graph").getBoundingClientRect();
    if (!box.width || !box.height) return;
    const fresh = !this.width;
    this.width = box.width; this.height = box.height;
    const dense = devicePixelRatio || 1;
    this.canvas.width = Math.round(box.width * dense);
    this.canvas.height = Math.round(box.height * dense);
    if (fresh) this.begin();
    this.draw();
  }

  fitScale() { return Math.min(this.width / (layout.width + 90), this.height / (layout.height + 110)); }

  fit() {
    this.scale = Math.max(0.01, Math.min(1.4, this.fitScale()));
    this.x = layout.width / 2; this.y = layout.height / 2 - 10;
    this.draw();
  }

  // All of a small graph; of a large one the beginning, at a size that can be read.
  begin() {
    this.fit();
    if (this.scale < 0.45) {
      this.scale = 0.75;
      this.x = layout.frames[0].x + Math.min(layout.frames[0].width / 2, this.width / 2 / this.scale - 10);
      this.y = layout.frames[0].y + this.height / 2 / this.scale - 10;
      const [x, y] = this.toScreen(layout.x[0], layout.y[0]);
      if (x > this.width - 80 || y > this.height - 40) { this.x = layout.x[0]; this.y = layout.y[0]; }
    }
    if (state.chosen !== null) this.reveal(state.chosen);
  }

  toScreen(x, y) { return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2]; }
  fromScreen(x, y) { return [(x - this.width / 2) / this.scale + this.x, (y - this.height / 2) / this.scale + this.y]; }

  zoom(factor, atX = this.width / 2, atY = this.height / 2) {
    const [x, y] = this.fromScreen(atX, atY);
    this.scale = Math.max(0.01, Math.min(4, this.scale * factor));
    this.x = x - (atX - this.width / 2) / this.scale;
    this.y = y - (atY - this.height / 2) / this.scale;
    this.draw();
  }

  reveal(k) {
    if (!this.width) return;
    if (this.scale < 0.3) this.scale = 0.75;
    const [x, y] = this.toScreen(layout.x[k], layout.y[k]);
    const marginX = Math.min(110, this.width / 3), marginY = Math.min(60, this.height / 3);
    if (x < marginX || y < marginY || x > this.width - marginX || y > this.height - marginY) {
      this.x = layout.x[k]; this.y = layout.y[k];
    }
    this.draw();
  }

  at(screenX, screenY) {
    const [x, y] = this.fromScreen(screenX, screenY);
    const slack = Math.max(0, 8 / this.scale - BOX.height / 2);
    for (let k = nodes.length - 1; k >= 0; k--) {
      if (Math.abs(layout.x[k] - x) <= BOX.width / 2 + slack && Math.abs(layout.y[k] - y) <= BOX.height / 2 + slack) return k;
    }
    return null;
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.pointers.size === 1) this.moved = 0;
  }

  move(event) {
    const held = this.pointers.get(event.pointerId);
    if (!held) return;
    const spread = () => {
      const [a, b] = [...this.pointers.values()];
      return [Math.hypot(a.x - b.x, a.y - b.y), (a.x + b.x) / 2, (a.y + b.y) / 2];
    };
    const before = this.pointers.size === 2 ? spread() : null;
    const dx = event.offsetX - held.x, dy = event.offsetY - held.y;
    held.x = event.offsetX; held.y = event.offsetY;
    this.moved += Math.abs(dx) + Math.abs(dy);
    const share = this.pointers.size;
    this.x -= dx / this.scale / share; this.y -= dy / this.scale / share;
    if (before) {
      const after = spread();
      this.zoom(after[0] / Math.max(1, before[0]), after[1], after[2]);
    }
    this.draw();
  }

  up(event) {
    const alone = this.pointers.size === 1;
    this.pointers.delete(event.pointerId);
    if (alone && this.moved < 6) choose(this.at(event.offsetX, event.offsetY), "canvas");
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.paint(); });
  }

  paint() {
    if (!this.width) return;
    const { context: c, scale } = this;
    const dense = this.canvas.width / this.width;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const sans = "system-ui, sans-serif", mono = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';
    c.setTransform(dense, 0, 0, dense, 0, 0);
    c.fillStyle = colour("back");
    c.fillRect(0, 0, this.width, this.height);
    const origin = this.toScreen(0, 0);
    c.setTransform(dense * scale, 0, 0, dense * scale, origin[0] * dense, origin[1] * dense);
    const [x0, y0] = this.fromScreen(0, 0), [x1, y1] = this.fromScreen(this.width, this.height);
    for (const frame of layout.frames) {
      c.fillStyle = colour("frame"); c.strokeStyle = colour("line"); c.lineWidth = 1;
      c.beginPath(); c.roundRect(frame.x, frame.y, frame.width, frame.height, 12); c.fill(); c.stroke();
      const size = Math.min(15 / Math.min(1, scale), frame.width / 9);
      c.fillStyle = colour("quiet"); c.font = `600 ${size}px ${sans}`; c.textBaseline = "middle"; c.textAlign = "left";
      c.fillText(frame.title, frame.x + 12, scale < 0.6 ? frame.y - size * 0.7 : frame.y + 17);
    }
    const half = { x: BOX.width / 2, y: BOX.height / 2 };
    const inSight = (k) => layout.x[k] + half.x > x0 && layout.x[k] - half.x < x1 && layout.y[k] + half.y > y0 && layout.y[k] - half.y < y1;
    const chosen = state.chosen, related = state.relations;
    const dim = chosen !== null;

    const path = ({ from, to, through, flip }) => {
      const down = flip ? -1 : 1;
      let x = layout.x[from], y = layout.y[from] + half.y * down;
      const endX = layout.x[to], endY = layout.y[to] - half.y * down;
      if (scale < 0.12) { c.moveTo(x, y); c.lineTo(endX, endY); return; }
      c.moveTo(x, y);
      for (const [px, py] of [...through, [endX, endY]]) {
        const middle = (y + py) / 2;
        c.bezierCurveTo(x, middle, px, middle, px, py);
        x = px; y = py;
      }
    };
    const seen = (edge) => {
      const xs = [layout.x[edge.from], layout.x[edge.to], ...edge.through.map((p) => p[0])];
      const ya = layout.y[edge.from], yb = layout.y[edge.to];
      return Math.max(...xs) + half.x > x0 && Math.min(...xs) - half.x < x1 && Math.max(ya, yb) + half.y > y0 && Math.min(ya, yb) - half.y < y1;
    };
    const thin = Math.min(3, Math.max(1, 0.8 / scale));
    c.strokeStyle = colour("edge"); c.lineWidth = thin; c.globalAlpha = dim ? 0.5 : 0.85;
    c.beginPath();
    const marked = [];
    for (const edge of layout.edges) {
      if (!seen(edge)) continue;
      if (edge.to === chosen || edge.from === chosen) marked.push(edge);
      else path(edge);
    }
    c.stroke();
    c.globalAlpha = 1;

    // What belongs to the chosen node: its edges, those across tapes, and dotted ones between adjoints and their nodes.
    const across = (from, to, name, dots) => {
      c.strokeStyle = colour(name); c.lineWidth = Math.max(2, 1.6 / scale); c.setLineDash(dots ? [2, 6] : []); c.lineCap = "round";
      const side = layout.x[to] >= layout.x[from] ? 1 : -1;
      const bend = Math.max(40, Math.abs(layout.x[to] - layout.x[from]) / 3);
      const a = [layout.x[from] + half.x * side, layout.y[from]], b = [layout.x[to] - half.x * side, layout.y[to]];
      c.beginPath(); c.moveTo(...a); c.bezierCurveTo(a[0] + bend * side, a[1], b[0] - bend * side, b[1], ...b); c.stroke();
      c.setLineDash([]);
      return [b, side];
    };
    const head = (x, y, angle, name) => {
      const size = Math.max(7, 6 / scale);
      c.fillStyle = colour(name); c.beginPath(); c.moveTo(x, y);
      c.lineTo(x - size * Math.cos(angle - 0.45), y - size * Math.sin(angle - 0.45));
      c.lineTo(x - size * Math.cos(angle + 0.45), y - size * Math.sin(angle + 0.45)); c.fill();
    };
    if (chosen !== null) {
      for (const edge of marked) {
        const name = edge.to === chosen ? "operand" : "user";
        c.strokeStyle = colour(name); c.lineWidth = Math.max(2.2, 1.6 / scale);
        c.beginPath(); path(edge); c.stroke();
        head(layout.x[edge.to], layout.y[edge.to] - half.y * (edge.flip ? -1 : 1), edge.flip ? -Math.PI / 2 : Math.PI / 2, name);
      }
      const node = nodes[chosen];
      for (const p of new Set(node.p)) if (nodes[p].tape !== node.tape) { const [b, side] = across(p, chosen, "operand"); head(...b, side > 0 ? 0 : Math.PI, "operand"); }
      for (const u of node.users) if (nodes[u].tape !== node.tape) { const [b, side] = across(chosen, u, "user"); head(...b, side > 0 ? 0 : Math.PI, "user"); }
      for (const [k, name] of related) {
        if (name === "adjoint" || name === "target") across(chosen, k, name, true);
        else if (name === "contribution" && node.parts.includes(k)) across(chosen, k, name, true);
      }
    }

    const written = scale >= 0.35;
    c.textAlign = "center"; c.textBaseline = "middle";
    for (let k = 0; k < nodes.length; k++) {
      if (!inSight(k)) continue;
      const node = nodes[k], relation = related.get(k);
      const x = layout.x[k], y = layout.y[k];
      c.fillStyle = relation === "chosen" ? colour("chosen") : relation ? colour(`${relation}-back`) : node.i ? colour("input") : node.x ? colour("output") : scale < 0.15 ? colour("box-line") : colour("box");
      c.strokeStyle = relation === "chosen" ? colour("chosen-line") : relation ? colour(relation) : state.hitSet.has(k) ? colour("focus") : colour("box-line");
      c.lineWidth = relation || state.hitSet.has(k) ? Math.max(2.5, 2 / scale) : thin;
      c.beginPath();
      if (written) c.roundRect(x - half.x, y - half.y, BOX.width, BOX.height, node.g ? 18 : 7); else c.rect(x - half.x, y - half.y, BOX.width, BOX.height);
      c.fill(); c.stroke();
      if (!written) continue;
      c.globalAlpha = dim && !relation ? 0.7 : 1;
      const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
      c.fillStyle = colour("text"); c.font = `600 12px ${mono}`;
      c.fillText(cut(node.a ? `${node.a}` : `${node.n}${data.note || node.t === "?" ? "" : " = " + node.t}`, 19), x, y - 8);
      c.fillStyle = relation ? colour("text") : colour("quiet"); c.font = `11px ${mono}`;
      c.fillText(cut(node.a ? node.t : data.note ? node.t : node.v, 21), x, y + 9);
      c.globalAlpha = 1;
    }
    c.globalAlpha = 1;
    this.painted = (this.painted || 0) + 1;
  }
}

layOut();
const view = new View();

// ---- search ---------------------------------------------------------------------------------------------------------

const searchable = nodes.map((node) => [node.n, node.t, node.e, node.v, node.m, node.l === undefined ? "" : data.places[node.l].join(" ")].join("\n").toLowerCase());

function search(text) {
  const wanted = text.trim().toLowerCase();
  const exact = wanted && !data.note ? nodes.findIndex((node) => node.n.toLowerCase() === wanted) : -1;
  state.hits = !wanted ? [] : exact >= 0 ? [exact] : searchable.flatMap((have, k) => (have.includes(wanted) ? [k] : []));
  state.hitSet = new Set(state.hits);
  state.hit = -1;
  tellFound(wanted);
  panes.forEach((pane) => pane.render(true));
  view.draw();
}

function tellFound(wanted) {
  const n = state.hits.length;
  $("found").textContent = !wanted ? "" : !n ? "none found" : state.hit >= 0 ? `${state.hit + 1} of ${n}` : n === 1 ? "1 node" : `${n} nodes`;
}

function nextHit(by) {
  if (!state.hits.length) return;
  state.hit = state.hit < 0 && by < 0 ? state.hits.length - 1 : (state.hit + by + state.hits.length) % state.hits.length;
  tellFound(true);
  choose(state.hits[state.hit], "search");
}

$("search").addEventListener("input", (event) => search(event.target.value));
$("searching").addEventListener("submit", (event) => event.preventDefault());
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") { event.preventDefault(); nextHit(event.shiftKey ? -1 : 1); }
  if (event.key === "Escape") {
    event.preventDefault(); event.stopPropagation();
    event.target.value = "";
    search("");
    event.target.blur();
  }
});

// ---- keys, buttons --------------------------------------------------------------------------------------------------

function walk(by) {
  if (!nodes.length) return;
  if (state.chosen === null) return choose(0, "keys");
  const tape = tapes[nodes[state.chosen].tape];
  choose(Math.max(tape.first, Math.min(tape.first + tape.size - 1, state.chosen + by)), "keys");
}

const go = (k) => { if (k !== undefined && k !== null) choose(k, "keys"); };
const chosenNode = () => (state.chosen === null ? null : nodes[state.chosen]);
const KEYS = {
  ArrowDown: () => walk(1),
  ArrowUp: () => walk(-1),
  PageDown: () => walk(10),
  PageUp: () => walk(-10),
  Home: () => walk(-Infinity),
  End: () => walk(Infinity),
  ArrowLeft: () => go(chosenNode()?.p[0]),
  ArrowRight: () => go(chosenNode()?.users[0]),
  a: () => { const node = chosenNode(); if (node) go(node.of.length ? node.of[0] : (node.whole.find((entry) => entry.node !== null)?.node ?? node.parts[0])); },
  "/": () => { $("search").focus(); $("search").select(); },
  Escape: () => choose(null, "keys"),
  "+": () => view.zoom(1.25),
  "=": () => view.zoom(1.25),
  "-": () => view.zoom(0.8),
  0: () => view.fit(),
  "?": () => $("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
  if (event.target.closest("input, textarea")) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

function setView(name) {
  document.body.dataset.view = name;
  document.querySelectorAll("button[data-view]").forEach((button) => {
    button.setAttribute("aria-pressed", button.dataset.view === name || (narrow.matches && name === "both" && button.dataset.view === "tables"));
  });
  panes.forEach((pane) => pane.render(true));
  view.resize();
}
document.querySelectorAll("button[data-view]").forEach((button) => button.addEventListener("click", () => setView(button.dataset.view)));
narrow.addEventListener("change", () => setView(document.body.dataset.view));

$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  view.draw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view.draw());
$("help").addEventListener("click", () => $("keys").showModal());
$("closer").addEventListener("click", () => view.zoom(1.25));
$("farther").addEventListener("click", () => view.zoom(0.8));
$("fit").addEventListener("click", () => view.fit());
$("legend").append(...data.legend.map((meaning) => make("li", "", meaning)));
if (data.note) { $("note").textContent = data.note; $("note").hidden = false; }

setView("both");
showDetails();
const asked = decodeURIComponent(location.hash.slice(1));
const start = asked ? nodes.findIndex((node) => node.n === asked) : -1;
if (start >= 0) choose(start, "address");

// For tests, and for the curious.
window.tape = {
  nodes, choose, state,
  get chosen() { return state.chosen === null ? null : nodes[state.chosen].n; },
  relations: () => Object.fromEntries([...state.relations].map(([k, name]) => [nodes[k].n, name])),
  positionOf: (number) => { const k = nodes.findIndex((node) => node.n === number); return view.toScreen(layout.x[k], layout.y[k]); },
  get painted() { return view.painted; },
};
})();
