// The picture, the clusters, the events and the rows selected, as files.

class Downloads {
  constructor(store, view, player, text) {
    Object.assign(this, { store, view, player, text });
    const actions = {
      "save-png": () => this.savePng(),
      "save-svg": () => save(`${this.name}.svg`, "image/svg+xml", this.svg()),
      "save-clusters": () => save(`${this.name}-clusters.csv`, "text/csv", csvText(this.clusters())),
      "save-events": () => save(`${this.name}-events.csv`, "text/csv", csvText(this.events())),
    };
    for (const [id, action] of Object.entries(actions)) {
      byId(id).addEventListener("click", () => {
        byId("downloads").open = false;
        action();
      });
    }
  }

  get name() {
    return `${this.store.header.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "").slice(0, 40) || "report"}-${this.view.batch.step}`;
  }

  // The picture on a background of its own.
  savePng() {
    const { canvas, ink } = this.player;
    const copy = make("canvas", { width: canvas.width, height: canvas.height });
    const context = copy.getContext("2d");
    context.fillStyle = ink.card;
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(canvas, 0, 0);
    copy.toBlob((blob) => saveBlob(`${this.name}.png`, blob));
  }

  svg() {
    const { player } = this;
    const { clientWidth: width, clientHeight: height } = player.canvas;
    player.from = null;
    const canvas = new SvgCanvas(width, height, player.ink.card);
    player.paint(canvas, width, height);
    player.draw();
    return canvas.toString();
  }

  clusters() {
    const { store, view } = this;
    const rows = [["cluster_id", "name", "family_id", "is_confirmed", "first_step", "last_step", "first_time", "last_time", "n_batches", "n_points"]];
    for (const cluster of store.clusters.values()) {
      const { id, batches } = cluster;
      if (!batches.length || !view.isWanted(id)) continue;
      const ends = [batches[0], batches[batches.length - 1]].map((index) => store.batches[index]);
      const life = [...ends.map(({ step }) => step), ...ends.map((end) => this.text.iso(end))];
      rows.push([id, store.header.cluster_names?.[id] ?? "", view.tree ? view.family(id) : "", view.isConfirmed(id), ...life, batches.length, cluster.total]);
    }
    return rows;
  }

  events() {
    const rows = [["step", "time", "kind", "cluster_id", "other_id", "gap"]];
    for (const { batch, kind, id, other, gap } of this.store.events) {
      if (!this.view.isConfirmed(id) || !this.view.isWanted(id)) continue;
      rows.push([batch.step, this.text.iso(batch), kind, id, other < 0 ? "" : other, Number.isFinite(gap) ? gap : ""]);
    }
    return rows;
  }
}

// The rows selected, with their places on all axes.
function rowTable(store, { batch }, text, selected) {
  const columns = batch.points.map((axis, number) => (row) => ownValue(axis[row], store.header.axes[number]));
  const values = ({ row, id }) => [batch.step, text.iso(batch), id < 0 ? "" : id, ...columns.map((of) => of(row))];
  return [["step", "time", "cluster_id", ...store.header.axes.map((axis) => axis.name)], ...selected.map(values)];
}

// Text that a spreadsheet would run as a formula gets an apostrophe, as in the exports of a run.
function csvText(rows) {
  const cell = (value) => {
    const text = String(value);
    const isFormula = typeof value === "string" && (/^[=@\t\r]/.test(text) || (/^[+-]/.test(text) && /[(|!]/.test(text)));
    const safe = isFormula ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

function save(name, type, text) {
  saveBlob(name, new Blob([text], { type }));
}

function saveBlob(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
