// ---- what is shown --------------------------------------------------------------------------------------------------

let model, panes = [], layout;
let path = []; // from the program of the page to the one that is shown: which program, and the call node it was entered by
const models = []; // of each program that has been shown

// Show the last program of a path.
function show(programs) {
  if (model) model.camera = view.camera;
  panes.forEach((pane) => pane.leave());
  path = programs;
  const { program } = path.at(-1);
  model = models[program] ||= new Model(data.programs[program], data.places);
  layout = new Layout();
  panes = model.tapes.map((tape, t) => new Pane(tape, t));
  $("tables").replaceChildren(...panes.map((pane) => pane.root));
  $("legend").replaceChildren(...model.legend.map((meaning) => make("li", "", meaning)));
  $("search").value = model.wanted;
  tellFound();
  showPath();
  panes.forEach((pane) => pane.reveal("path"));
  showDetails();
  if (model.camera) view.camera = model.camera;
  else view.begin();
  view.draw();
  setAddress();
}

// Where one is among programs that call others, and how this one is folded.
function showPath() {
  const steps = path.map(({ program, call }, k) => {
    const { name } = data.programs[program];
    const step = make("li");
    const text = call === null ? name : `@${models[path[k - 1].program].numbers[call]} runs ${name}`;
    if (k === path.length - 1) { step.append(make("span", "", text)); step.setAttribute("aria-current", "page"); }
    else step.append(action(text, () => show(path.slice(0, k + 1))));
    return step;
  });
  $("steps").replaceChildren(...steps);
  $("path").hidden = path.length < 2;
  $("note").textContent = model.note;
  $("note").hidden = !model.note;
}

const enter = (call) => show([...path, { program: model.inner.get(call), call }]);
const leave = () => { if (path.length > 1) show(path.slice(0, -1)); };

function setAddress() {
  if (location.protocol === "about:") return; // in the frame of a notebook
  const steps = [...path.slice(1).map(({ call }, k) => `@${models[path[k].program].numbers[call]}`), model.chosen === null ? "" : model.label(model.chosen)];
  const address = steps.join("/");
  history.replaceState(null, "", address ? `#${encodeURIComponent(address)}` : location.pathname);
}

// The programs and the item that an address names, as far as they are there.
function follow(address) {
  const steps = decodeURIComponent(address.slice(1)).split("/");
  const item = () => { const number = /^@(\d+)$/.exec(steps[0]); return number ? model.itemOf(Number(number[1])) : null; };
  while (steps.length > 1) {
    const call = item();
    if (call === null || !model.inner.has(call)) return;
    enter(call);
    steps.shift();
  }
  if (item() !== null) choose(item(), "address");
}

function choose(item, from) {
  if (item !== null && model.isHidden(item)) setOpen(model.foldOf(item), true);
  model.choose(item);
  if (layout.follows) arrangeGraph(item);
  panes.forEach((pane) => pane.reveal(from));
  showDetails();
  if (item !== null && from !== "canvas") view.reveal(item);
  view.draw();
  $("said").textContent = item === null ? "Nothing chosen" : told(item);
  setAddress();
}

const told = (item) => [
  `${model.title(item)}: ${model.operation(item)}`, `${model.isFold(item) ? "" : "value "}${model.value(item)}`, model.mark(item),
].filter(Boolean).join(", ");

// ---- what can be opened: folds, and programs that are called --------------------------------------------------------

function setOpen(fold, open) {
  if (open) model.open.add(fold); else model.open.delete(fold);
  panes[model.tapeOf(fold)].arrange();
  arrangeGraph(fold);
}

// Open a fold that is closed, close one that is open.
function toggle(fold) {
  const open = !model.open.has(fold);
  setOpen(fold, open);
  choose(fold, "table");
  $("said").textContent = `${model.label(fold)}, ${open ? "open" : "closed"}`;
}

// Open what can be opened; whether it could.
function act(item) {
  if (item === null) return false;
  if (model.isFold(item)) toggle(item);
  else if (model.inner.has(item)) enter(item);
  else return false;
  return true;
}

// Lay out the graph once more; an item stays where it is on the screen.
function arrangeGraph(item) {
  const before = item === null ? null : view.positionOf(item);
  layout = new Layout();
  view.keep(item, before);
}

// ---- keys, buttons --------------------------------------------------------------------------------------------------

function walk(by) {
  const pane = panes[model.chosen === null ? 0 : model.tapeOf(model.chosen)];
  if (!pane?.items.length) return;
  const at = model.chosen === null ? 0 : pane.at[model.chosen] + by;
  choose(pane.items[Math.max(0, Math.min(pane.items.length - 1, at))], "keys");
}

const go = (item) => { if (item !== undefined && item !== null) choose(item, "keys"); };
const ofChosen = (find) => () => { if (model.chosen !== null) go(find(model.chosen)); };
const KEYS = {
  ArrowDown: () => walk(1),
  ArrowUp: () => walk(-1),
  PageDown: () => walk(10),
  PageUp: () => walk(-10),
  Home: () => walk(-Infinity),
  End: () => walk(Infinity),
  ArrowLeft: ofChosen((item) => model.operands(item)[0]),
  ArrowRight: ofChosen((item) => model.users(item)[0]),
  a: ofChosen((item) => model.targets(item)[0] ?? model.wholeAdjoints(item).find((entry) => entry.node !== null)?.node ?? model.parts(item)[0]),
  Enter: () => act(model.chosen),
  Backspace: leave,
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
  if (event.target.closest("input, textarea") || (event.key === "Enter" && event.target.closest("button"))) return;
  const run = KEYS[event.key];
  if (!run) return;
  event.preventDefault();
  run();
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

const view = new View();
const asked = location.hash;
show([{ program: 0, call: null }]);
setView("both");
follow(asked);

// For tests, and for the curious.
window.tape = {
  choose, toggle,
  get model() { return model; },
  get chosen() { return model.chosen === null ? null : model.label(model.chosen); },
  relations: () => Object.fromEntries([...model.relations].map(([item, name]) => [model.label(item), name])),
  isDrawn: (item) => layout.unit[item] >= 0,
  positionOf: (label) => {
    const fold = model.folds.findIndex(({ n }) => n === label);
    return view.positionOf(fold >= 0 ? model.size + fold : model.itemOf(Number(label.slice(1))));
  },
  get painted() { return view.painted; },
  drawn: () => ({
    edges: layout.edges.filter((edge) => view.isDrawn(edge)).length,
    fans: Object.fromEntries(layout.items.flatMap((item, u) => (layout.isFan[u] ? [[model.label(item), layout.down[u].length]] : []))),
  }),
};
