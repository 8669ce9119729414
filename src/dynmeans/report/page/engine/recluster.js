// Another clustering of the page's rows, shown in place of the run's until one goes back.

// What of the header belongs to the run's clusters and not to those of a trial.
const OF_THE_RUN = { families: null, descriptions: {}, cluster_names: {}, merged: {}, pinned: [], scores: [], levels: null, isTrial: true };

class Trial {
  constructor(store, view, onShown) {
    Object.assign(this, { store, view, onShown, number: 0, saved: null, waiting: [], worker: null });
    this.settings = store.header.engine;
    this.space = new EngineSpace(this.settings.transforms);
  }

  get isShown() {
    return this.saved !== null;
  }

  // Clusters of the run itself, as found.
  get nOfRun() {
    const { header, clusters } = this.store;
    return this.saved ? Math.max(this.saved.fields.n_clusters, this.saved.clusters.size) : Math.max(header.n_clusters, clusters.size);
  }

  get nRows() {
    return this.store.batches.reduce((n, batch) => n + batch.slots.length, 0);
  }

  // Whether the page has fewer rows than were clustered.
  get isSample() {
    return this.store.batches.some((batch) => batch.slots.length < batch.nPoints);
  }

  // Only a page on which somebody tries a scale unpacks the engine.
  start(onAnswer) {
    const code = new Blob([byId("engine-code").textContent], { type: "text/javascript" });
    this.worker = new Worker(URL.createObjectURL(code));
    this.worker.addEventListener("message", ({ data }) => {
      if (data.number === this.number) onAnswer(data);
    });
    this.worker.addEventListener("error", () => onAnswer({ problem: "the engine could not be started in this browser" }));
    const module = Uint8Array.from(atob(byId("engine-module").textContent.trim()), (sign) => sign.charCodeAt(0));
    this.worker.postMessage({ module }, [module.buffer]);
    this.sendRows();
  }

  sendRows() {
    const { batches } = this.saved ?? this.store;
    const { features } = this.settings;
    const [d, n] = [this.space.size, batches.reduce((sum, batch) => sum + batch.slots.length, 0)];
    const points = new Float64Array(n * d);
    const weights = this.isSample ? new Float64Array(n) : null;
    let first = 0;
    for (const batch of batches) {
      const size = batch.slots.length;
      for (let row = 0; row < size; row += 1) points.set(this.space.to(features.map((axis) => batch.points[axis][row])), (first + row) * d);
      weights?.fill(batch.nPoints / size, first, first + size);
      first += size;
    }
    const rows = {
      points, weights, nFeatures: d,
      sizes: Uint32Array.from(batches, (batch) => batch.slots.length),
      elapsed: Float64Array.from(batches, (batch, t) => (t ? batch.clock - batches[t - 1].clock : 1)),
    };
    this.worker.postMessage({ rows });
  }

  ask(penalties, options, wanted) {
    this.number += 1;
    this.worker.postMessage({ number: this.number, penalties, options, wanted });
  }

  // Puts what was found in the place of what is shown.
  show(found) {
    const { store, view } = this;
    if (!this.saved) {
      this.levels?.release();
      this.saved = this.contents();
    }
    const { batches } = this.saved;
    const { header } = store;
    Object.assign(header, OF_THE_RUN, { n_clusters: found.nClusters });
    Object.assign(store, { batches: [], events: [], clusters: new Map(), largest: 1 });
    store.append(this.chunk(found, batches), () => this.settle());
    this.onShown();
    view.notify(new Set(["trial"]));
  }

  contents() {
    const { store } = this;
    const { batches, events, clusters, largest, header } = store;
    const fields = Object.fromEntries([...Object.keys(OF_THE_RUN), "n_clusters"].map((name) => [name, header[name]]));
    return { batches, events, clusters, largest, fields };
  }

  // What is chosen may be gone.
  settle() {
    const { store, view } = this;
    store.readEdits();
    view.readFamilies();
    if (view.selected !== null && !store.clusters.has(view.selected)) view.selected = null;
    view.onlyFamily = null;
  }

  back() {
    if (!this.saved) return;
    this.number += 1; // Nothing that is under way is wanted.
    const { fields, ...contents } = this.saved;
    Object.assign(this.store, contents);
    Object.assign(this.store.header, fields);
    this.saved = null;
    this.settle();
    this.levels?.apply();
    for (const chunk of this.waiting.splice(0)) this.store.append(chunk);
    if (this.worker) this.sendRows();
    this.store.notify();
    this.onShown();
    this.view.notify(new Set(["trial"]));
  }

  // Rows that come meanwhile wait.
  append(chunk) {
    if (this.saved) this.waiting.push(chunk);
    else this.store.append(chunk);
    if (this.worker && !this.saved) this.sendRows();
  }

  // What the run says of its own clusters meanwhile waits too; the rest is returned.
  keep(fields) {
    if (!this.saved) return fields;
    const isOwn = ([name]) => name in this.saved.fields;
    Object.assign(this.saved.fields, Object.fromEntries(Object.entries(fields).filter(isOwn)));
    return Object.fromEntries(Object.entries(fields).filter((entry) => !isOwn(entry)));
  }

  // Feature by feature, then along the principal axes; of moves, how far they go from their centers.
  places(centers, moves = null) {
    const { features, directions } = this.settings;
    const [d, n] = [this.space.size, centers.length / this.space.size];
    const { axes } = this.store.header;
    const places = new Float32Array(axes.length * n);
    for (let row = 0; row < n; row += 1) {
      const point = Array.from(centers.subarray(row * d, (row + 1) * d));
      let values = this.space.back(point);
      if (moves) {
        const next = this.space.back(point.map((value, j) => value + moves[row * d + j]));
        values = values.map((value, j) => shortest(next[j] - value, axes[features[j]]));
      }
      axes.forEach((axis, number) => {
        const along = axis.kind === "feature" ? features.map((one) => (one === number ? 1 : 0)) : directions[number];
        places[number * n + row] = along.reduce((sum, share, j) => sum + share * values[j], 0);
      });
    }
    return places;
  }

  chunk(found, batches) {
    const nRows = found.slots.length;
    const places = new Float32Array(this.store.header.axes.length * nRows);
    let first = 0;
    for (const batch of batches) {
      batch.points.forEach((values, axis) => places.set(values, axis * nRows + first));
      first += batch.slots.length;
    }
    const column = (name, Type) => Type.from(batches, (batch) => batch[name]);
    const names = batches.map((batch) => batch.name);
    return {
      batches: {
        steps: column("step", Uint32Array), times: column("time", Float64Array), utc_offsets: column("offset", Int16Array),
        clocks: column("clock", Float64Array),
        costs: found.costs, n_points: column("nPoints", Uint32Array), n_seen: found.nSeen, n_remembered: found.nRemembered,
        names: names[0] === undefined ? null : names,
      },
      limits: null,
      clusters: {
        sizes: found.nSeen, ids: found.ids, counts: found.counts, places: this.places(found.centers),
        velocities: found.velocities ? this.places(found.centers, found.velocities) : null,
      },
      points: { sizes: Uint32Array.from(batches, (batch) => batch.slots.length), slots: found.slots, places },
      events: {
        sizes: found.eventSizes, kinds: found.kinds, ids: found.eventIds,
        others: new Int32Array(found.kinds.length).fill(-1), gaps: found.gaps,
        displacements: new Float32Array(found.kinds.length).fill(NaN),
      },
    };
  }
}
