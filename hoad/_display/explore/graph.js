// ---- the graph, drawn -----------------------------------------------------------------------------------------------

const SANS = "system-ui, sans-serif", MONO = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';
const HALF = { x: BOX.width / 2, y: BOX.height / 2 };

class View {
  constructor() {
    this.canvas = $("canvas");
    this.context = this.canvas.getContext("2d");
    this.scale = 1; this.x = 0; this.y = 0; // a point of the layout, at the middle of the canvas
    this.width = 0; this.height = 0;
    this.pointers = new Map();
    this.pending = false;
    this.painted = 0;
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
    on("dblclick", (event) => this.twice(event));
  }

  // ---- what is in sight

  resize() {
    const box = $("graph").getBoundingClientRect();
    if (!box.width || !box.height) return;
    const fresh = !this.width;
    this.width = box.width; this.height = box.height;
    const dense = devicePixelRatio || 1;
    this.canvas.width = Math.round(box.width * dense);
    this.canvas.height = Math.round(box.height * dense);
    if (fresh) this.begin();
    else if (narrow.matches && model.chosen !== null) this.reveal(model.chosen); // with the panel, the graph is narrower
    this.draw();
  }

  get camera() { return this.width ? { x: this.x, y: this.y, scale: this.scale } : null; }
  set camera(camera) { Object.assign(this, camera); this.draw(); }

  fitScale() { return Math.min(this.width / (layout.width + 90), this.height / (layout.height + 110)); }

  fit() {
    this.scale = Math.max(0.01, Math.min(1.4, this.fitScale()));
    this.x = layout.width / 2; this.y = layout.height / 2 - 10;
    this.draw();
  }

  // All of a small graph; of a large one the beginning, at a size that can be read.
  begin() {
    if (!this.width) return;
    this.fit();
    if (this.scale < 0.45) {
      this.scale = 0.75;
      this.x = layout.frames[0].x + Math.min(layout.frames[0].width / 2, this.width / 2 / this.scale - 10);
      this.y = layout.frames[0].y + this.height / 2 / this.scale - 10;
      const [x, y] = this.toScreen(layout.x[0], layout.y[0]);
      if (x > this.width - 80 || y > this.height - 40) { this.x = layout.x[0]; this.y = layout.y[0]; }
    }
    if (model.chosen !== null) this.reveal(model.chosen);
  }

  toScreen(x, y) { return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2]; }
  fromScreen(x, y) { return [(x - this.width / 2) / this.scale + this.x, (y - this.height / 2) / this.scale + this.y]; }

  // Where an item stands on the screen; null where nothing stands for it.
  positionOf(item) {
    const u = this.near(item);
    return u < 0 ? null : this.toScreen(layout.x[u], layout.y[u]);
  }

  // The unit of an item; of a fold that is drawn node by node, its first.
  near(item) {
    const u = layout.unitOf(item);
    return u >= 0 || !model.isFold(item) || !model.members(item).length ? u : layout.unitOf(model.members(item)[0]);
  }

  zoom(factor, atX = this.width / 2, atY = this.height / 2) {
    const [x, y] = this.fromScreen(atX, atY);
    this.scale = Math.max(0.01, Math.min(4, this.scale * factor));
    this.x = x - (atX - this.width / 2) / this.scale;
    this.y = y - (atY - this.height / 2) / this.scale;
    this.draw();
  }

  // Bring an item into sight: as little as need be, to the middle if it is far away.
  reveal(item) {
    const u = this.near(item);
    if (!this.width || u < 0) return;
    if (this.scale < 0.3) this.scale = 0.75;
    const toward = (at, size, margin) => (at < -size || at > 2 * size ? at - size / 2 : Math.min(0, at - margin) + Math.max(0, at - size + margin));
    const [x, y] = this.toScreen(layout.x[u], layout.y[u]);
    this.x += toward(x, this.width, Math.min(110, this.width / 3)) / this.scale;
    this.y += toward(y, this.height, Math.min(60, this.height / 3)) / this.scale;
    this.draw();
  }

  // After another layout: an item stays where it was on the screen.
  keep(item, before) {
    const after = item === null || !before ? null : this.positionOf(item);
    if (after) {
      this.x += (after[0] - before[0]) / this.scale;
      this.y += (after[1] - before[1]) / this.scale;
    }
    this.draw();
  }

  // ---- pointers

  at(screenX, screenY) {
    const [x, y] = this.fromScreen(screenX, screenY);
    const slack = Math.max(0, 8 / this.scale - HALF.y);
    for (let u = layout.items.length - 1; u >= 0; u--) {
      if (Math.abs(layout.x[u] - x) <= HALF.x + slack && Math.abs(layout.y[u] - y) <= HALF.y + slack) return layout.items[u];
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

  // A double click opens what can be opened, else it zooms.
  twice(event) {
    if (!act(this.at(event.offsetX, event.offsetY))) this.zoom(2, event.offsetX, event.offsetY);
  }

  // ---- painting

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
    this.colour = (name) => style.getPropertyValue(`--${name}`).trim();
    c.setTransform(dense, 0, 0, dense, 0, 0);
    c.fillStyle = this.colour("back");
    c.fillRect(0, 0, this.width, this.height);
    const origin = this.toScreen(0, 0);
    c.setTransform(dense * scale, 0, 0, dense * scale, origin[0] * dense, origin[1] * dense);
    this.sight = [...this.fromScreen(0, 0), ...this.fromScreen(this.width, this.height)];
    this.thin = Math.min(3, Math.max(1, 0.8 / scale));
    this.paintFrames(c);
    this.paintEdges(c);
    for (let u = 0; u < layout.items.length; u++) this.paintUnit(c, u);
    this.painted++;
  }

  paintFrames(c) {
    for (const frame of layout.frames) {
      c.fillStyle = this.colour("frame"); c.strokeStyle = this.colour("line"); c.lineWidth = 1;
      c.beginPath(); c.roundRect(frame.x, frame.y, frame.width, frame.height, 12); c.fill(); c.stroke();
      const size = Math.min(15 / Math.min(1, this.scale), frame.width / 9);
      c.fillStyle = this.colour("quiet"); c.font = `600 ${size}px ${SANS}`; c.textBaseline = "middle"; c.textAlign = "left";
      c.fillText(frame.title, frame.x + 12, this.scale < 0.6 ? frame.y - size * 0.7 : frame.y + 17);
    }
  }

  inSight(low, high, top, bottom) {
    const [x0, y0, x1, y1] = this.sight;
    return high + HALF.x > x0 && low - HALF.x < x1 && bottom + HALF.y > y0 && top - HALF.y < y1;
  }

  get own() { return model.chosen === null ? -1 : layout.unitOf(model.chosen); }
  isDrawn({ from, to, bundled }) { return !bundled || from === this.own || to === this.own; }

  paintEdges(c) {
    const { own } = this;
    c.strokeStyle = this.colour("edge"); c.lineWidth = this.thin; c.globalAlpha = model.chosen === null ? 0.85 : 0.5;
    c.beginPath();
    const marked = [];
    for (const edge of layout.edges) {
      if (edge.bundled && edge.to !== own && edge.from !== own) continue;
      const xs = [layout.x[edge.from], layout.x[edge.to], ...edge.through.map((p) => p[0])], ys = [layout.y[edge.from], layout.y[edge.to]];
      if (!this.inSight(Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys))) continue;
      if (edge.to === own || edge.from === own) marked.push(edge);
      else this.trace(c, edge);
    }
    c.stroke();
    c.globalAlpha = 1;
    if (own < 0) return;
    for (const edge of marked) {
      const name = edge.to === own ? "operand" : "user", down = edge.flip ? -1 : 1;
      c.strokeStyle = this.colour(name); c.lineWidth = Math.max(2.2, 1.6 / this.scale);
      c.beginPath(); this.trace(c, edge); c.stroke();
      this.paintHead(c, layout.x[edge.to], layout.y[edge.to] - HALF.y * down, (down * Math.PI) / 2, name);
    }
    this.paintAcross(c, own);
  }

  trace(c, { from, to, through, flip }) {
    const down = flip ? -1 : 1;
    let x = layout.x[from], y = layout.y[from] + HALF.y * down;
    const endX = layout.x[to], endY = layout.y[to] - HALF.y * down;
    c.moveTo(x, y);
    if (this.scale < 0.12) { c.lineTo(endX, endY); return; }
    for (const [px, py] of [...through, [endX, endY]]) {
      const middle = (y + py) / 2;
      c.bezierCurveTo(x, middle, px, middle, px, py);
      x = px; y = py;
    }
  }

  // What belongs to the chosen item: edges from tape to tape, and dotted ones between adjoints and what they are of.
  paintAcross(c, own) {
    const parts = new Set(model.parts(model.chosen)), drawn = new Set([own]);
    for (const [item, name] of model.relations) {
      const u = layout.unitOf(item);
      if (u < 0 || drawn.has(u)) continue;
      const other = model.tapeOf(item) !== model.tapeOf(model.chosen);
      if ((name === "operand" || name === "user") && other) this.paintCurve(c, ...(name === "user" ? [own, u] : [u, own]), name, false);
      else if (name === "adjoint" || name === "target" || parts.has(item)) this.paintCurve(c, own, u, name, true);
      else continue;
      drawn.add(u);
    }
  }

  paintCurve(c, from, to, name, dotted) {
    c.strokeStyle = this.colour(name); c.lineWidth = Math.max(2, 1.6 / this.scale); c.setLineDash(dotted ? [2, 6] : []); c.lineCap = "round";
    const side = layout.x[to] >= layout.x[from] ? 1 : -1;
    const bend = Math.max(40, Math.abs(layout.x[to] - layout.x[from]) / 3);
    const a = [layout.x[from] + HALF.x * side, layout.y[from]], b = [layout.x[to] - HALF.x * side, layout.y[to]];
    c.beginPath(); c.moveTo(...a); c.bezierCurveTo(a[0] + bend * side, a[1], b[0] - bend * side, b[1], ...b); c.stroke();
    c.setLineDash([]);
    if (!dotted) this.paintHead(c, ...b, side > 0 ? 0 : Math.PI, name);
  }

  paintHead(c, x, y, angle, name) {
    const size = Math.max(7, 6 / this.scale);
    c.fillStyle = this.colour(name); c.beginPath(); c.moveTo(x, y);
    c.lineTo(x - size * Math.cos(angle - 0.45), y - size * Math.sin(angle - 0.45));
    c.lineTo(x - size * Math.cos(angle + 0.45), y - size * Math.sin(angle + 0.45)); c.fill();
  }

  // What a unit is to the chosen item: of a node, else what the fold is that it was drawn for.
  relationOf(item) {
    return model.relations.get(item) || (model.folds.length ? model.relations.get(model.foldOf(item)) : undefined);
  }

  paintUnit(c, u) {
    const { scale } = this, x = layout.x[u], y = layout.y[u];
    if (!this.inSight(x, x, y, y)) return;
    const item = layout.items[u], relation = this.relationOf(item), fold = model.isFold(item);
    const found = model.hitSet.has(item) || model.hitsInside.has(item);
    const ground = relation === "chosen" ? "chosen" : relation ? `${relation}-back` : model.isInput(item) ? "input" : model.isOutput(item) ? "output" : scale < 0.15 ? "box-line" : "box";
    c.fillStyle = this.colour(ground);
    c.strokeStyle = this.colour(relation === "chosen" ? "chosen-line" : relation || (found ? "focus" : "box-line"));
    c.lineWidth = relation || found ? Math.max(2.5, 2 / scale) : this.thin;
    const written = scale >= 0.35;
    const box = (grown) => {
      const [left, top, width, height] = [x - HALF.x - grown, y - HALF.y - grown, BOX.width + 2 * grown, BOX.height + 2 * grown];
      c.beginPath();
      if (written) c.roundRect(left, top, width, height, model.isGuard(item) ? HALF.y : 7); else c.rect(left, top, width, height);
    };
    if (fold || model.inner.has(item)) { box(4); c.fill(); c.stroke(); } // it can be opened
    box(0); c.fill(); c.stroke();
    if (!written) return;
    c.globalAlpha = model.chosen !== null && !relation ? 0.7 : 1;
    const [head, below] = this.words(item);
    const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
    c.textAlign = "center"; c.textBaseline = "middle";
    c.fillStyle = this.colour("text"); c.font = `600 12px ${MONO}`;
    c.fillText(cut(head, 19), x, y - 8);
    c.fillStyle = this.colour(relation ? "text" : "quiet"); c.font = `11px ${MONO}`;
    c.fillText(cut(below, 21), x, y + 9);
    if (layout.isFan[u]) {
      const flip = layout.flips[model.tapeOf(item)];
      c.fillStyle = this.colour("user"); c.font = `11px ${SANS}`;
      c.fillText(`${flip ? "▴" : "▾"} used by ${layout.down[u].length}`, x, y + (HALF.y + 11) * (flip ? -1 : 1));
    }
    c.globalAlpha = 1;
  }

  words(item) {
    const operation = model.operation(item), name = model.adjointName(item);
    if (model.isFold(item)) return [model.code(item) || model.label(item), model.value(item)];
    if (name) return [name, operation];
    return [operation === "?" ? model.label(item) : `${model.label(item)} = ${operation}`, model.value(item)];
  }
}
