// What is looked at, in the address: #t=133&c=7&level=2 opens the page there again.

const LINK_DELAY = 250; // milliseconds without a change until it is written

class Permalink {
  constructor(store, view) {
    Object.assign(this, { store, view, written: null });
    this.hasTime = this.read();
    view.onChange(() => this.later());
    addEventListener("hashchange", () => {
      if (location.hash !== this.written) this.read();
    });
  }

  // Takes over what can be understood, and says whether a batch was named.
  read() {
    const { store, view } = this;
    const fields = new URLSearchParams(location.hash.slice(1));
    const number = (name) => (fields.has(name) && fields.get(name) !== "" && Number.isFinite(Number(fields.get(name))) ? Number(fields.get(name)) : null);
    const changes = {};
    const index = store.batches.findIndex((batch) => batch.step === number("t"));
    if (index >= 0) changes.index = index;
    if (store.clusters.get(number("c"))?.batches.length) changes.selected = number("c");
    if (view.tree && number("level") !== null) changes.level = view.tree.rowOfLevel(number("level"));
    for (const [field, name] of [["size", "minSize"], ["life", "minLife"]]) {
      if (number(field) >= 1) changes[name] = number(field);
    }
    if (number("family") !== null) changes.onlyFamily = number("family");
    for (const name of ["x", "y"]) {
      const axis = fields.get(name) === "time" ? TIME_AXIS : store.header.axes.findIndex((one) => one.name === fields.get(name));
      if (fields.has(name) && (axis >= 0 || fields.get(name) === "time")) changes[name] = axis;
    }
    view.set(changes);
    const box = (fields.get("box") ?? "").split(",").map(Number);
    const isBox = box.length === 4 && box.every(Number.isFinite) && box[0] < box[1] && box[2] < box[3];
    if (isBox) view.set({ camera: { x: [box[0], box[1]], y: [box[2], box[3]] } });
    return index >= 0;
  }

  later() {
    clearTimeout(this.timer);
    if (!this.view.isPlaying) this.timer = setTimeout(() => this.write(), LINK_DELAY);
  }

  get fields() {
    const { view, store } = this;
    const { camera } = view;
    const round = (value) => Number(value.toPrecision(7));
    const { min_cluster_size: minSize = 1, min_batches: minLife = 1 } = store.header.confirmed ?? {};
    return {
      t: view.batch.step,
      ...(view.selected === null ? {} : { c: view.selected }),
      ...(view.tree && view.level !== view.tree.start ? { level: round(view.tree.levels[view.level]) } : {}),
      ...(view.minSize === minSize ? {} : { size: view.minSize }),
      ...(view.minLife === minLife ? {} : { life: view.minLife }),
      ...(view.onlyFamily === null ? {} : { family: view.onlyFamily }),
      ...(view.x === store.header.initial_axes[0] && view.y === store.header.initial_axes[1] ? {} : { x: store.axisName(view.x), y: store.axisName(view.y) }),
      ...(camera ? { box: [...camera.x, ...camera.y].map(round).join(",") } : {}),
    };
  }

  write() {
    if (!/^(file|https?):$/.test(location.protocol)) return; // a page within a page has no address
    this.written = `#${new URLSearchParams(this.fields)}`;
    history.replaceState(null, "", this.written);
  }
}
