// Everything from the program reaches the page as text (textContent, fillText), never as markup.
const $ = (id) => document.getElementById(id);
const make = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};
const narrow = matchMedia("(max-width: 640px)");

// The data of the page: JSON, compressed, in base64.
async function unpack() {
  const text = atob($("data").textContent);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}
const data = await unpack();

// ---- what belongs to what -------------------------------------------------------------------------------------------

const RELATIONS = { chosen: "chosen", operand: "operand", user: "uses it", adjoint: "adjoint", contribution: "adds to it", target: "adjoint of" };
const OF_TANGENTS = { adjoint: "tangent", target: "tangent of" };

// A list for each item, one after the other.
class Lists {
  constructor(counts) {
    this.starts = new Int32Array(counts.length + 1);
    counts.forEach((count, k) => { this.starts[k + 1] = this.starts[k] + count; });
    this.flat = new Int32Array(this.starts[counts.length]);
  }

  of(k) { return this.flat.subarray(this.starts[k], this.starts[k + 1]); }
}

// From the pairs (k, j) that `each` visits, in the order of k: the list of all k of every j.
function gathered(count, each) {
  const counts = new Int32Array(count);
  each((k, j) => counts[j]++);
  const lists = new Lists(counts), at = lists.starts.slice();
  each((k, j) => { lists.flat[at[j]++] = k; });
  return lists;
}

// A program. Its items are its nodes, as far as the page carries them, and after them its folds: rows that stand for many
// nodes. A closed fold hides its nodes; what belongs to a hidden node is shown at its fold.
class Model {
  constructor(data, places) {
    Object.assign(this, { data, places, name: data.name, note: data.note, legend: data.legend, tapes: data.tapes, folds: data.folds });
    const size = this.size = data.t.length, count = this.count = size + this.folds.length;
    this.tapeIndex = new Uint16Array(count);
    this.numbers = new Int32Array(size);
    let first = 0, firstFold = size;
    this.tapes.forEach((tape, t) => {
      Object.assign(tape, { first, firstFold, given: new Map(tape.given.map(([k, node, text]) => [k, { node, text, tape: t }])) });
      for (let k = first, number = 0; k < first + tape.size; k++) this.numbers[k] = number += data.n[k];
      first += tape.size; firstFold += tape.folds;
      this.tapeIndex.fill(t, tape.first, first).fill(t, tape.firstFold, firstFold);
    });
    this.operandLists = this.listed(data.c, (k, at) => k - data.p[at], "p");
    this.userLists = this.reversed(this.operandLists);
    this.targetLists = this.listed(data.of.map((by) => (by ? 1 : 0)), (k) => k - data.of[k], "of");
    this.partLists = this.reversed(this.targetLists);
    this.memberLists = gathered(this.folds.length, (put) => data.f.forEach((f, k) => put(k, f)));
    this.isCut = this.folds.some(({ size: all }, f) => this.memberLists.of(f).length < all); // some nodes are not carried
    this.inputs = new Set(data.i); this.outputs = new Set(data.x); this.ordered = new Set(data.o);
    this.inner = new Map(data.calls);
    this.open = new Set();
    this.chosen = null;
    this.relations = new Map();
    this.wanted = ""; this.hits = []; this.exact = 0; this.hitSet = new Set(); this.hit = -1; this.hitsInside = new Map();
  }

  // Lists of the nodes, given by their lengths and entries, and then those of the folds.
  listed(counts, entry, key) {
    const lists = new Lists([...counts, ...this.folds.map((fold) => fold[key].length)]);
    let at = 0;
    for (let k = 0; k < this.size; k++) for (let end = lists.starts[k + 1]; at < end; at++) lists.flat[at] = entry(k, at);
    for (const fold of this.folds) for (const f of fold[key]) lists.flat[at++] = this.size + f;
    return lists;
  }

  // The other way round, each once. A node can refer to a fold, where its operand is not carried; that is not reversed.
  reversed(lists) {
    return gathered(this.count, (put) => {
      for (let k = 0; k < this.count; k++) {
        const list = lists.of(k);
        list.forEach((j, m) => { if ((k < this.size) === (j < this.size) && list.indexOf(j) === m) put(k, j); });
      }
    });
  }

  // ---- what is known of an item

  isFold(i) { return i >= this.size; }
  row(i) { return this.folds[i - this.size]; }
  number(i) { return this.isFold(i) ? Number.parseInt(this.row(i).n.slice(1), 10) : this.numbers[i]; }
  label(i) { return this.isFold(i) ? this.row(i).n : `@${this.numbers[i]}`; }
  operation(i) { return this.isFold(i) ? this.row(i).t : this.data.t[i]; }
  equation(i) { return this.isFold(i) ? "" : this.data.e[i]; }
  adjointName(i) { return this.equation(i).split(" = ")[0]; }
  value(i) { return this.isFold(i) ? this.row(i).v : this.data.v[i]; }
  fullValue(i) { return this.data.w[i] || this.data.v[i]; }
  mark(i) { return (this.isFold(i) ? this.row(i).m : this.data.m[i]) || ""; }
  guards(i) { return this.data.g[i] || []; }
  isGuard(i) { return i in this.data.g; }
  isInput(i) { return this.isFold(i) ? this.row(i).i : this.inputs.has(i); }
  isOutput(i) { return this.isFold(i) ? this.row(i).x : this.outputs.has(i); }
  part(i) { return this.isFold(i) ? -1 : this.data.k[i]; }
  swept(i) { return this.isFold(i) || !this.data.s[i] ? null : i - this.data.s[i]; }
  tapeOf(i) { return this.tapeIndex[i]; }
  place(i) { return this.places[this.isFold(i) ? this.row(i).l : this.data.l[i]] || ["", ""]; }
  kind(i) { return this.tapes[this.tapeOf(i)].kind; }
  code(fold) { const [, text] = this.place(fold); return text && ({ adjoint: "∇ ", tangent: "d " }[this.kind(fold)] || "") + text; }
  operands(i) { return this.operandLists.of(i); }
  users(i) { return this.userLists.of(i); }
  targets(i) { return this.targetLists.of(i); }
  parts(i) { return this.partLists.of(i); }
  title(i) { return [this.adjointName(i), this.label(i)].filter(Boolean).join(", "); }
  equationOrOperation(i) { return this.isFold(i) ? this.label(i) : this.equation(i) || `${this.label(i)} = ${this.operation(i)}`; }
  itemOf(number) {
    const tape = this.tapes.find(({ first, size }) => size && this.numbers[first] <= number && number <= this.numbers[first + size - 1]);
    const at = tape ? this.numbers.subarray(tape.first, tape.first + tape.size).indexOf(number) : -1;
    return at < 0 ? null : tape.first + at;
  }

  // ---- folds

  foldOf(i) { return this.isFold(i) ? i : this.folds.length ? this.size + this.data.f[i] : null; }
  members(fold) { return this.memberLists.of(fold - this.size); }
  isHidden(i) { return !this.isFold(i) && this.folds.length > 0 && !this.open.has(this.foldOf(i)); }

  // ---- choice

  // What an item is to the chosen one, in a word or two.
  word(i) {
    const relation = this.relations.get(i);
    return (this.kind(relation === "target" ? this.chosen : i) === "tangent" && OF_TANGENTS[relation]) || RELATIONS[relation];
  }

  // The whole adjoint or the tangent of an item, tape by tape: its last sum, or its one contribution; of what a tape
  // gives the derivatives of, that.
  wholeAdjoints(i) {
    return this.tapes.flatMap((tape, t) => {
      if (tape.given.has(i)) return [tape.given.get(i)];
      const own = [...this.parts(i)].filter((j) => this.tapeOf(j) === t);
      if (tape.kind === "tangent") return own.slice(-1).map((node) => ({ node, tape: t }));
      const sum = own.findLast((j) => this.part(j) === 0);
      if (sum !== undefined) return [{ node: sum, tape: t }];
      return own.length === 1 && this.part(own[0]) >= 0 ? [{ node: own[0], tape: t }] : [];
    });
  }

  choose(i) {
    const found = this.relations = new Map();
    this.chosen = i;
    if (i === null) return;
    const put = (j, name) => { if (j !== null && !found.has(j)) found.set(j, name); };
    put(i, "chosen");
    this.wholeAdjoints(i).forEach((entry) => put(entry.node, "adjoint"));
    this.parts(i).forEach((j) => put(j, "contribution"));
    this.targets(i).forEach((j) => put(j, "target"));
    this.operands(i).forEach((j) => put(j, "operand"));
    this.users(i).forEach((j) => put(j, "user"));
    for (const target of this.targets(i)) {
      for (const j of this.parts(target)) if (this.tapeOf(j) === this.tapeOf(i)) put(j, "contribution");
    }
    for (const [j, name] of [...found]) if (this.isHidden(j)) put(this.foldOf(j), name);
  }

  // ---- search

  // Numbers find their node alone. Other texts find first what is called so: an input or output, an adjoint, an operation,
  // a number; then what holds them: operation, adjoint, value, mark, line.
  search(text) {
    const wanted = this.wanted = text.trim();
    const number = /^@(\d+)$/.exec(wanted);
    const own = number && this.itemOf(Number(number[1]));
    const [exact, others] = !wanted ? [[], []] : number ? [own === null ? [] : [own], []] : this.holding(wanted);
    this.hits = [...exact, ...others];
    this.exact = exact.length;
    this.hitSet = new Set(this.hits);
    this.hit = -1;
    this.hitsInside = new Map();
    for (const i of this.hits) {
      const fold = this.foldOf(i);
      if (fold !== null && fold !== i) this.hitsInside.set(fold, (this.hitsInside.get(fold) || 0) + 1);
    }
  }

  holding(wanted) {
    const pattern = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
    const low = wanted.toLowerCase(), is = (text) => text.toLowerCase() === low;
    const exact = [], others = [];
    const inLine = this.places.map((place) => pattern.test(place.join(" ")));
    const { t, q, e, v, m, l, f, names, operations } = this.data;
    const isOperation = operations.map(is), inOperation = operations.map((name) => pattern.test(name)), number = Number(wanted);
    // Where a fold is of one line, that line is found at the fold, not at each of its nodes.
    this.folds.forEach((fold, k) => { if (inLine[fold.l] || pattern.test(fold.n)) others.push(this.size + k); });
    for (let k = 0; k < this.size; k++) {
      const line = this.folds.length && this.folds[f[k]].l >= 0 ? -1 : l[k];
      const held = e[k] && pattern.test(e[k]), called = k in names ? names[k] : [];
      if (isOperation[q[k]] || this.numbers[k] === number || called.some(is) || (held && is(this.adjointName(k)))) exact.push(k);
      else if (held || inOperation[q[k]] || pattern.test(t[k]) || pattern.test(v[k]) || inLine[line] || (k in m && pattern.test(m[k]))) others.push(k);
    }
    return [exact, others];
  }
}
