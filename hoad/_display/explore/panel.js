// ---- the panel of the chosen item -----------------------------------------------------------------------------------

const LISTED = 200; // items of one kind

function showDetails() {
  const panel = $("details"), { chosen } = model;
  panel.replaceChildren();
  panel.scrollTop = 0;
  panel.classList.toggle("filled", chosen !== null);
  if (chosen === null) showProgram(panel);
  else if (model.isFold(chosen)) showFold(panel, chosen);
  else showNode(panel, chosen);
}

// While nothing is chosen: what can be done, and where to begin.
function showProgram(panel) {
  panel.append(make("h2", "", model.name));
  if (!model.count) { panel.append(make("p", "quiet", "No nodes.")); return; }
  panel.append(make("p", "", "Choose a row of a table, or a box of the graph. What it uses, what uses it, its derivatives, its value and your line of code stand out."));
  panel.append(make("p", "quiet", "↑ ↓ walk · ← → follow an edge · a jumps to the adjoint · / searches · ? lists all keys."));
  const named = (items, t) => [...items].filter((i) => model.tapeOf(i) === t).map((item) => ({ item, text: `${model.label(item)} ${(model.data.names[item] || []).join(", ")}` }));
  model.tapes.forEach((tape, t) => {
    const both = [["operand", "inputs", named(model.inputs, t)], ["user", "outputs", named(model.outputs, t)]];
    for (const [name, words, entries] of both) showList(panel, name, `${tape.name}: ${words}`, entries);
  });
}

function showNode(panel, item) {
  panel.append(make("h2", "", `${model.label(item)} = ${model.operation(item)}`));
  const equation = model.equation(item);
  if (equation) panel.append(make("p", "mono", equation));
  const tape = model.tapes[model.tapeOf(item)];
  panel.append(make("p", "quiet", [tape.name, model.mark(item), model.data.d[item]].filter(Boolean).join(" · ")));
  panel.append(make("pre", "mono value", `value ${model.fullValue(item)}`));
  showLine(panel, item, equation ? `${tape.kind} of what ` : "");
  for (const guard of model.guards(item)) panel.append(make("p", "guard", `The function branched on this: it was ${guard}.`));
  if (model.inner.has(item)) panel.append(action("Open the program that it runs (Enter)", () => enter(item)));
  else if (/^call\(.*program=/.test(model.operation(item))) {
    panel.append(make("p", "quiet", `This page has no room for the program that it runs: program.inner(${model.numbers[item]}) is it.`));
  }
  const many = model.tapes.length > 2;
  const within = (t) => (many ? ` (tape ${t + 1})` : "");
  showList(panel, "operand", model.ordered.has(item) ? "Operands, in order" : "Operands", plain(model.operands(item)));
  showList(panel, "user", "Used by", plain(model.users(item)));
  const whole = model.wholeAdjoints(item);
  for (const kind of ["adjoint", "tangent"]) showList(panel, "adjoint", `Its ${kind}`, whole.filter((entry) => model.tapes[entry.tape].kind === kind).map((entry) => ({
    item: entry.node, text: (entry.node === null ? `${entry.text}, a constant` : model.equationOrOperation(entry.node)) + within(entry.tape),
  })));
  const differentiated = model.tapes.slice(model.tapeOf(item) + 1).some(({ kind }) => kind === "adjoint");
  const isFloat = !/\b(bool|u?int\d+)$/.test(model.data.d[item]); // of others there is no derivative
  if (differentiated && isFloat && !model.parts(item).length && !whole.length) panel.append(make("p", "quiet", withoutAdjoint()));
  showList(panel, "contribution", "Contributions to its adjoint", [...model.parts(item)].filter((j) => model.part(j) !== 0 && model.kind(j) === "adjoint")
    .map((j) => ({ item: j, text: model.equationOrOperation(j) + within(model.tapeOf(j)) })));
  showList(panel, "target", tape.kind === "tangent" ? "Tangent of" : "Adjoint of", plain(model.targets(item)));
  for (const target of model.targets(item)) {
    showList(panel, "contribution", "Beside it, for the same adjoint", plain([...model.parts(target)].filter((j) => j !== item && model.tapeOf(j) === model.tapeOf(item))));
  }
  if (model.swept(item) !== null && tape.kind === "adjoint") showList(panel, "", "Emitted by the sweep over", plain([model.swept(item)]));
}

function withoutAdjoint() {
  return model.isCut ? "No adjoint of it is in this page." :
    "No node of its own is its adjoint: it is zero, or another node serves, as simplification leaves it. gradient(program, simplify=False) keeps them all.";
}

function showFold(panel, item) {
  const { size } = model.row(item), here = model.members(item).length;
  panel.append(make("h2", "", model.label(item)));
  panel.append(make("p", "mono", model.operation(item)));
  panel.append(make("p", "quiet", [model.tapes[model.tapeOf(item)].name, model.value(item), model.mark(item)].filter(Boolean).join(" · ")));
  const kind = model.kind(item);
  showLine(panel, item, kind === "primal" ? "" : `${kind} of what `);
  panel.append(action(model.open.has(item) ? "Close (Enter)" : "Open (Enter)", () => { toggle(item); $("details").querySelector("button").focus(); }));
  if (here < size) panel.append(make("p", "quiet", here ? `The first ${here} of its nodes are in this page.` : "None of its nodes is in this page."));
  showList(panel, "operand", "Operands", plain(model.operands(item)));
  showList(panel, "user", "Used by", plain(model.users(item)));
  for (const of of ["adjoint", "tangent"]) showList(panel, "contribution", `${of[0].toUpperCase()}${of.slice(1)}s of its nodes`, plain([...model.parts(item)].filter((j) => model.kind(j) === of)));
  showList(panel, "target", kind === "tangent" ? "Tangent of" : "Adjoint of", plain(model.targets(item)));
}

// The user's line of an item, and what is written there.
function showLine(panel, item, before) {
  const [where, text] = model.place(item);
  if (!where) return;
  panel.append(make("p", "quiet where", before ? `${before}${where} does` : where));
  if (text) panel.append(make("pre", "mono line", text));
}

function action(text, act) {
  const button = make("button", "action", text);
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}

const plain = (items) => [...items].map((item) => ({ item }));

// Items that can be chosen by a click; an entry without an item is a text.
function showList(panel, name, words, entries) {
  if (!entries.length) return;
  panel.append(make("h3", name, entries.length > 1 ? `${words} (${entries.length})` : words));
  const list = make("ul");
  for (const { item, text } of entries.slice(0, LISTED)) {
    const line = make("li");
    if (item === null) line.append(make("span", "mono", text));
    else {
      const button = action("", () => { choose(item, "panel"); panel.focus({ preventScroll: true }); });
      const code = model.isFold(item) ? model.code(item) : "";
      button.append(make("span", "", text || model.equationOrOperation(item)), make("span", "", code || model.value(item)));
      line.append(button);
    }
    list.append(line);
  }
  panel.append(list);
  if (entries.length > LISTED) panel.append(make("p", "quiet", `and ${entries.length - LISTED} more`));
}
