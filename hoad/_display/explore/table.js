// ---- tables: only the rows in sight exist ---------------------------------------------------------------------------

const rowHeight = () => (narrow.matches ? 32 : 28);

class Pane {
  constructor(tape, index) {
    this.tape = tape;
    this.index = index;
    this.cells = new Map(); // of the rows that exist, by item
    this.at = new Int32Array(model.count).fill(-1); // of each item, which row it is
    this.equated = false;
    for (let k = tape.first; k < tape.first + tape.size && !this.equated; k++) this.equated = model.equation(k) !== "";
    this.root = make("section", "tape");
    this.root.setAttribute("aria-label", tape.name);
    const heading = make("h2", "", `${tape.name} `);
    heading.append(make("small", "", tape.heading));
    heading.title = heading.textContent;
    this.grid = make("div", "grid");
    const set = (name, value) => this.grid.setAttribute(name, value);
    set("role", tape.folds ? "treegrid" : "grid"); set("tabindex", "0"); set("aria-label", `Nodes of ${tape.name}`);
    this.setColumns();
    this.rows = make("div", "rows");
    this.rows.setAttribute("role", "rowgroup");
    const top = make("div");
    top.setAttribute("role", "rowgroup");
    top.style.display = "contents";
    top.append(this.titles());
    this.grid.append(top, this.rows);
    this.root.append(heading, this.grid);
    this.grid.addEventListener("scroll", () => this.render(), { passive: true });
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (!row) return;
      const item = Number(row.dataset.item);
      if (model.isFold(item)) toggle(item); else choose(item, "table");
    });
    this.watch = new ResizeObserver(() => this.render());
    this.watch.observe(this.grid);
    this.arrange();
  }

  leave() { this.watch.disconnect(); }

  // Columns as wide as what stands in them, within bounds; the rows of folds have columns of their own.
  setColumns() {
    const { first, size, firstFold, folds } = this.tape;
    const width = (text, least, most, from, count) => {
      let found = least;
      for (let k = from; k < from + count; k++) found = Math.max(found, Math.min(most, text(k).length));
      return found;
    };
    const indent = folds ? 3 : 0;
    const number = `${width((k) => model.label(k), 4, 18, first, size) + indent}ch`;
    const column = (text, least) => `minmax(${width(text, 6, least - indent / 3, first, size)}ch, ${width(text, 8, 26, first, size)}fr)`;
    const label = `${width((k) => model.label(k), 4, 22, firstFold, folds) + indent}ch`;
    const columns = {
      columns: [
        number, column((k) => model.operation(k), 12), ...(this.equated ? [column((k) => model.equation(k), 14)] : []),
        column((k) => model.value(k), 11), `minmax(${folds ? 7 : 8}ch, 12fr)`,
      ],
      narrow: [number, "minmax(0, 4fr)", "minmax(0, 2fr)", "minmax(0, 2fr)"],
      tight: [number, "minmax(0, 3fr)", "minmax(0, 2fr)"],
      fold: [label, "minmax(0, 3fr)", "minmax(9ch, max-content)", "minmax(0, 1fr)"],
    };
    for (const [name, widths] of Object.entries(columns)) this.root.style.setProperty(`--${name}`, widths.join(" "));
  }

  titles() {
    const titles = make("div", "row titles" + (this.equated ? " equated" : ""));
    titles.setAttribute("role", "row");
    titles.setAttribute("aria-rowindex", "1");
    const heads = [["number", "node"], ["operation", "operation"], ...(this.equated ? [["adjoint-text", this.tape.kind === "tangent" ? "tangent" : "adjoint"]] : []), ["value", "value"], ["mark", ""]];
    for (const [name, text] of heads) {
      const cell = make("span", name, text);
      cell.setAttribute("role", "columnheader");
      titles.append(cell);
    }
    return titles;
  }

  // Which items stand in which rows: all nodes, or folds and below those that are open their nodes.
  arrange() {
    const { first, size, firstFold, folds } = this.tape;
    const items = [];
    if (!folds) for (let k = first; k < first + size; k++) items.push(k);
    for (let fold = firstFold; fold < firstFold + folds; fold++) {
      items.push(fold);
      if (model.open.has(fold)) for (const k of model.members(fold)) items.push(k);
    }
    this.at.fill(-1);
    items.forEach((item, k) => { this.at[item] = k; });
    this.items = items;
    this.grid.setAttribute("aria-rowcount", items.length + 1);
    this.render(true);
  }

  render(again) {
    const height = rowHeight(), { length } = this.items;
    this.rows.style.height = `${height * length}px`;
    const from = Math.max(0, Math.floor(this.grid.scrollTop / height) - 4);
    const to = Math.min(length, Math.ceil((this.grid.scrollTop + this.grid.clientHeight) / height) + 4);
    for (const [item, row] of this.cells) {
      if (again || this.at[item] < from || this.at[item] >= to) { row.remove(); this.cells.delete(item); }
    }
    const made = document.createDocumentFragment();
    for (const item of this.items.slice(from, to)) {
      if (!this.cells.has(item)) {
        const row = this.row(item, height);
        this.cells.set(item, row);
        made.append(row);
      }
    }
    this.rows.append(made);
    const { chosen } = model;
    if (chosen !== null && this.cells.has(chosen)) this.grid.setAttribute("aria-activedescendant", `row-${chosen}`);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  row(item, height) {
    const relation = model.relations.get(item), fold = model.isFold(item), inside = !fold && this.tape.folds > 0;
    const equation = model.equation(item);
    const names = ["row", relation, equation.includes(" = ") && "equated", model.hitSet.has(item) && "found", fold && "fold", inside && "inside"];
    const row = make("div", names.filter(Boolean).join(" "));
    row.id = `row-${item}`;
    row.dataset.item = item;
    row.setAttribute("role", "row");
    row.setAttribute("aria-rowindex", this.at[item] + 2);
    row.setAttribute("aria-selected", relation === "chosen");
    if (this.tape.folds) row.setAttribute("aria-level", fold ? 1 : 2);
    if (fold) row.setAttribute("aria-expanded", model.open.has(item));
    row.style.top = `${this.at[item] * height}px`;
    const cell = (name, text) => {
      const made = make("span", name, text);
      made.setAttribute("role", "gridcell");
      if (text && text.length > 12) made.title = text;
      row.append(made);
      return made;
    };
    cell("number", model.label(item));
    // Of a fold the line that it stands for, if it is of one.
    const operation = cell("operation", (fold && model.code(item)) || model.operation(item));
    if (fold && this.equated) operation.setAttribute("aria-colspan", 2);
    else if (this.equated) cell("adjoint-text", equation);
    cell("value", model.value(item));
    const mark = cell("mark", ""), [place] = model.place(item), found = model.hitsInside.get(item);
    if (relation) mark.append(make("span", "relation", model.word(item)));
    const words = [model.mark(item), found && `${found} found`].filter(Boolean).join(", ");
    mark.append(words || (relation ? "" : place.split(/[\\/]/).pop()));
    mark.title = [words, place].filter(Boolean).join(", ");
    return row;
  }

  // Bring the chosen item into sight, or else what belongs to it in this tape.
  reveal(from) {
    const mine = [...model.relations].filter(([item]) => this.at[item] >= 0);
    for (const name of ["chosen", "adjoint", "target", "contribution"]) {
      const found = mine.find(([, relation]) => relation === name);
      if (found) { if (!(name === "chosen" && from === "table")) this.scrollTo(found[0]); break; }
    }
    this.render(true);
    if (from !== "table" && mine.some(([item]) => item === model.chosen)) {
      const box = this.root.getBoundingClientRect(), outer = $("tables").getBoundingClientRect();
      if (box.left < outer.left - 1 || box.right > outer.right + 1) $("tables").scrollLeft += box.left - outer.left;
    }
  }

  scrollTo(item) {
    const height = rowHeight(), top = this.at[item] * height, { grid } = this;
    const inSight = grid.clientHeight - height - 2;
    if (top < grid.scrollTop || top + height > grid.scrollTop + inSight) {
      this.rows.style.height = `${height * this.items.length}px`;
      grid.scrollTop = Math.max(0, top - inSight / 2);
    }
  }
}
