// A list that makes only the rows in sight, however many there are. One stop for the tab key;
// arrows, page keys, home and end move within it.

class VirtualList {
  // rows: { count(), key(row), make(row), onChoose(row) }; chosen() gives the chosen row, or -1.
  constructor(element, rowHeight, rows) {
    this.element = element;
    this.rowHeight = rowHeight;
    this.rows = rows;
    this.inner = make("div", { class: "virtual-rows", role: "presentation" });
    element.append(this.inner);
    element.addEventListener("scroll", oncePerFrame(() => this.draw()), { passive: true });
    element.addEventListener("keydown", (event) => this.onKey(event));
    element.addEventListener("click", (event) => this.onClick(event));
    watchSize(element, () => this.draw());
  }

  draw() {
    const n = this.rows.count();
    this.inner.style.height = `${n * this.rowHeight}px`;
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.rowHeight) - 4);
    const last = Math.min(n, Math.ceil((this.element.scrollTop + this.element.clientHeight) / this.rowHeight) + 4);
    const chosen = this.rows.chosen();
    const made = [];
    for (let row = first; row < last; row += 1) made.push(this.makeRow(row, n, chosen));
    this.inner.replaceChildren(...made);
    const isThere = chosen >= first && chosen < last;
    if (isThere) this.element.setAttribute("aria-activedescendant", this.idOf(chosen));
    else this.element.removeAttribute("aria-activedescendant");
  }

  makeRow(row, n, chosen) {
    const element = this.rows.make(row);
    fill(element, {
      id: this.idOf(row),
      role: "option",
      "aria-selected": String(row === chosen),
      "aria-setsize": n,
      "aria-posinset": row + 1,
      "data-row": row,
    }, []);
    element.style.top = `${row * this.rowHeight}px`;
    element.style.height = `${this.rowHeight}px`;
    return element;
  }

  idOf(row) {
    return `${this.element.id}-${this.rows.key(row)}`;
  }

  scrollTo(row) {
    const top = row * this.rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.rowHeight > scrollTop + clientHeight) {
      this.element.scrollTop = top + this.rowHeight - clientHeight;
    }
  }

  onClick(event) {
    const element = event.target.closest("[data-row]");
    if (element) this.rows.onChoose(Number(element.dataset.row), event);
  }

  onKey(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const n = this.rows.count();
    if (!(event.key in steps) || n === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const chosen = this.rows.chosen();
    const start = chosen < 0 && event.key === "ArrowDown" ? -1 : Math.max(chosen, 0);
    const row = clamp(start + steps[event.key], 0, n - 1);
    this.rows.onChoose(row, event);
    this.scrollTo(row);
  }
}
