// ---- the graph: layers by longest path, order by the mean of neighbours ---------------------------------------------

const BOX = { width: 150, height: 40, across: 26, down: 34 };
const MOST_WAYPOINTS = 1000;
const TALLEST = 60; // layers in one column
const DRAWN = 1500; // nodes of open folds that are drawn one by one
const BUNDLE = 12; // edges between a box and nodes, or from a node to those that use it
const BESIDE = 40; // nodes that are drawn beside the box of an open fold with more nodes than that

// Where the units of the graph stand. A unit is a node, or a fold that is not drawn node by node: because it is closed, or
// because it is too large; of the latter the nodes that belong to the chosen one are drawn beside its box.
class Layout {
  constructor() {
    this.items = []; // of each unit, which item it is
    this.unit = new Int32Array(model.count).fill(-1); // of each item, which unit it is
    this.room = DRAWN;
    this.follows = false; // whether units depend on what is chosen
    this.ranges = model.tapes.map((tape) => {
      const first = this.items.length, drawn = this.drawn(tape);
      drawn.forEach((item, k) => { this.unit[item] = first + k; this.items.push(item); });
      return { first, size: drawn.length };
    });
    this.up = this.items.map(() => []); // the units of the same tape that each uses
    this.down = this.items.map(() => []);
    this.bundled = [];
    this.link();
    this.isFan = this.down.map((users) => users.length > BUNDLE); // its edges are drawn for what is chosen alone
    this.flips = [];
    this.x = new Float64Array(this.items.length);
    this.y = new Float64Array(this.items.length);
    this.frames = []; this.edges = [];
    this.assemble();
  }

  // The items of a tape that are units, each after what it uses, as far as folds allow.
  drawn(tape) {
    const items = [];
    for (let k = tape.first; !tape.folds && k < tape.first + tape.size; k++) items.push(k);
    for (let fold = tape.firstFold; fold < tape.firstFold + tape.folds; fold++) {
      const members = model.members(fold), open = model.open.has(fold);
      if (open && members.length === model.row(fold).size && members.length <= this.room) {
        this.room -= members.length;
        for (const k of members) items.push(k);
        continue;
      }
      items.push(fold);
      if (!open) continue;
      this.follows = true;
      let left = BESIDE;
      for (const item of model.relations.keys()) {
        if (!left) break;
        if (!model.isFold(item) && model.foldOf(item) === fold) { items.push(item); left--; }
      }
    }
    return tape.folds ? items.sort((a, b) => model.number(a) - model.number(b) || b - a) : items;
  }

  // The unit that an item is, or that it is in.
  unitOf(item) {
    if (this.unit[item] >= 0) return this.unit[item];
    const fold = model.foldOf(item);
    return fold === null ? -1 : this.unit[fold];
  }

  // The edges within tapes. A box that is connected to many nodes would pull them all together, and a bundle of edges tells
  // nothing: such edges count for no place, and are drawn for the chosen item alone.
  link() {
    const seen = new Set(), count = this.items.length, pairs = [], hanging = new Int32Array(count);
    const put = (a, b) => {
      if (a < 0 || a === b || b < 0 || model.tapeOf(this.items[a]) !== model.tapeOf(this.items[b]) || seen.has(a * count + b)) return;
      seen.add(a * count + b);
      pairs.push([a, b]);
      if (this.isMixed(a, b)) { hanging[a]++; hanging[b]++; }
    };
    this.items.forEach((item, u) => {
      for (const j of model.operands(item)) put(this.unitOf(j), u);
      for (const j of model.users(item)) put(u, this.unitOf(j));
    });
    for (const [a, b] of pairs) {
      if (this.isMixed(a, b) && Math.max(hanging[a], hanging[b]) > BUNDLE) this.bundled.push([a, b]);
      else { this.up[b].push(a); this.down[a].push(b); }
    }
  }

  isMixed(a, b) { return model.isFold(this.items[a]) !== model.isFold(this.items[b]); }

  assemble() {
    const placed = model.tapes.map((_, t) => this.place(t));
    const tallest = Math.max(0, ...placed.map((one) => one.height));
    let left = 0;
    placed.forEach((one, t) => {
      const { first, size } = this.ranges[t];
      const top = (tallest - one.height) / 2;
      for (let i = 0; i < size; i++) {
        this.x[first + i] = one.points[i].x + left;
        this.y[first + i] = one.points[i].y + top + BOX.height / 2;
      }
      for (const [a, b, through] of one.edges) {
        this.edges.push({ from: first + a, to: first + b, flip: one.flip, bundled: this.isFan[first + a], through: through.map((i) => [one.points[i].x + left, one.points[i].y + top + BOX.height / 2]) });
      }
      this.frames.push({ x: left - 24, y: top - 44, width: one.width + 48, height: one.height + 68, title: model.tapes[t].name });
      left += one.width + 48 + 56;
    });
    for (const [from, to] of this.bundled) this.edges.push({ from, to, flip: placed[model.tapeOf(this.items[from])].flip, through: [], bundled: true });
    this.width = Math.max(1, left - 104);
    this.height = tallest;
  }

  layers({ first, size }) {
    const layer = new Int32Array(size);
    for (let u = 0; u < size; u++) {
      for (const p of this.up[first + u]) if (p < first + u) layer[u] = Math.max(layer[u], layer[p - first] + 1);
    }
    // Then each as late as its users allow, so that what is needed late widens no early layer. Inputs stay on top.
    for (let u = size - 1; u >= 0; u--) {
      if (model.isInput(this.items[first + u])) continue;
      let latest = Infinity;
      for (const v of this.down[first + u]) if (v > first + u) latest = Math.min(latest, layer[v - first] - 1);
      if (latest < Infinity) layer[u] = Math.max(layer[u], latest);
    }
    return layer;
  }

  place(t) {
    const { first, size } = this.ranges[t];
    const layer = this.layers(this.ranges[t]);
    let depth = 0;
    layer.forEach((n) => { depth = Math.max(depth, n + 1); });
    // Points: units, then waypoints where long edges cross layers, if those are not too many.
    const points = Array.from({ length: size }, (_, i) => ({ layer: layer[i], up: [], down: [], x: 0, width: BOX.width }));
    const edges = [];
    let waypoints = 0;
    for (let to = 0; to < size; to++) for (const p of this.up[first + to]) {
      if (p < first + to && !this.isFan[p]) waypoints += Math.max(0, layer[to] - layer[p - first] - 1);
    }
    const most = Math.max(12, Math.ceil(1.2 * Math.sqrt(size)));
    const own = new Int32Array(depth);
    layer.forEach((n) => own[n]++);
    const winding = waypoints <= MOST_WAYPOINTS && depth <= TALLEST && own.every((n) => n <= most);
    const link = (a, b) => { points[a].down.push(b); points[b].up.push(a); };
    for (let to = 0; to < size; to++) for (const p of this.up[first + to]) {
      const through = [], from = p - first;
      if (this.isFan[p]) { edges.push([from, to, through]); continue; }
      if (from < to && winding) {
        let before = from;
        for (let n = layer[from] + 1; n < layer[to]; n++) {
          const i = points.push({ layer: n, up: [], down: [], x: 0, width: 6 }) - 1;
          link(before, i);
          through.push(i);
          before = i;
        }
        link(before, to);
      } else if (from < to && layer[from] < layer[to]) link(from, to);
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
    // An adjoint runs against what it is the adjoint of, beside it; a tangent runs along.
    const flip = this.flips[t] = t > 0 && (model.tapes[t].kind === "adjoint") !== this.flips[t - 1];
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
}
