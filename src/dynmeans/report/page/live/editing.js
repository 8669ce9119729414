// Names, pins and merges from a page of `dynmeans serve`: sent to the server, which updates every page.

const EDIT_TEXT = {
  name: ({ cluster_id: id, text }) => (text ? `name of ${id}, “${text}”` : `name of ${id} removed`),
  pin: ({ cluster_id: id }) => `pin of ${id}`,
  merge: ({ cluster_id: id, other_id: other }) => `${other} merged into ${id}`,
};

class Editor {
  constructor(report) {
    Object.assign(this, report);
    this.form = null; // what is asked for: a name, or a cluster to be shown as
    this.message = "";
    this.view.onChange((changed) => {
      if (changed.has("selected")) this.close();
    });
  }

  // The panel is not redrawn while someone types in it.
  get isOpen() {
    return this.form !== null;
  }

  parts({ id }) {
    const { header } = this.store;
    const button = (key, text, title, onclick) => make("button", { type: "button", class: "plain", id: key, "data-key": key, title, onclick }, text);
    const isPinned = this.store.isPinned(id);
    const last = header.last_edit;
    return [make("div", { class: "edits" },
      button("rename", "Rename", "Name this cluster (visible to everyone)", () => this.open(id, "name")),
      ...(isPinned ? [] : [button("pin", "Pin", "Always show as confirmed", () => this.send("edits", { kind: "pin", cluster_id: id }))]),
      ...(this.store.linkOf(id) ? [button("accept", `Same as ${this.store.linkOf(id)[0]}`, "Appeared at the position of that cluster: merge them", () => this.send("edits", { kind: "merge", cluster_id: this.store.linkOf(id)[0], other_id: id }))] : []),
      button("merge", "Show as…", "Show it as another cluster. Labels do not change.", () => this.open(id, "merge")),
      ...(last ? [button("undo", "Undo", `The last edit of this run: ${EDIT_TEXT[last.kind](last)}`, () => this.send("edits", { kind: "undo", edit_id: last.edit_id }))] : []),
      make("p", { class: "hint", role: "status" }, this.message))];
  }

  open(id, kind) {
    const isName = kind === "name";
    const value = isName ? this.store.header.cluster_names?.[id] ?? "" : "";
    const input = make("input", { type: "text", id: "edit-text", maxlength: 200, value, placeholder: isName ? "" : "ID or name" });
    const ok = () => this.save(id, kind, input.value);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) ok();
      if (event.key === "Escape") this.close();
      event.stopPropagation(); // The keys of the page are not meant.
    });
    const button = (key, text, onclick) => make("button", { type: "button", class: "plain", id: key, onclick }, text);
    this.form = make("div", { class: "edits" },
      make("label", {}, isName ? `Name of cluster ${id} ` : `Show cluster ${id} as `, input),
      button("edit-save", "Save", ok),
      button("edit-cancel", "Cancel", () => this.close()),
      make("p", { class: "hint", role: "status" }, isName ? "Visible to everyone. Leave empty to remove the name." : "Visible to everyone. Labels do not change."));
    this.details.element.querySelector(".edits").replaceWith(this.form);
    input.focus();
    input.select();
  }

  close(message = "") {
    if (!this.isOpen && message === this.message) return;
    Object.assign(this, { form: null, message });
    this.details.redraw();
  }

  save(id, kind, text) {
    if (kind === "name") return this.send("names", { cluster_id: id, name: text });
    const kept = this.clusterCalled(text);
    if (kept === null) return this.tell(`There is no cluster “${text.trim()}”.`);
    return this.send("edits", { kind: "merge", cluster_id: kept, other_id: id });
  }

  clusterCalled(text) {
    const wanted = text.trim();
    if (/^\d+$/.test(wanted) && this.store.clusters.has(Number(wanted))) return Number(wanted);
    return [...this.store.clusters.keys()].find((id) => this.store.label(id) === wanted) ?? null;
  }

  tell(message) {
    if (this.isOpen) this.form.querySelector(".hint").textContent = message;
    else this.close(message);
  }

  // The result reaches all pages as an event; only errors are shown here.
  async send(address, body) {
    const { error } = await sendJson(address, body);
    if (error) this.tell(`Not saved: ${error}`);
    else this.close("Saved.");
  }
}
