// ---- search ---------------------------------------------------------------------------------------------------------

function search(text) {
  model.search(text);
  tellFound();
  panes.forEach((pane) => pane.render(true));
  view.draw();
}

function tellFound() {
  const { exact, hits: { length } } = model;
  const some = exact && exact < length ? `, ${exact} exact` : "";
  $("found").textContent = !model.wanted ? "" : !length ? "none found" : model.hit >= 0 ? `${model.hit + 1} of ${length}` : length === 1 ? "1 node" : `${length} nodes${some}`;
}

function nextHit(by) {
  const { length } = model.hits;
  if (!length) return;
  model.hit = model.hit < 0 && by < 0 ? length - 1 : (model.hit + by + length) % length;
  tellFound();
  choose(model.hits[model.hit], "search");
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
