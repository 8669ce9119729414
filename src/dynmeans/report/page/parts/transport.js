// Play, pause, step and slide; the same for every part of the page, by pointer and by key.

class Transport {
  constructor(store, view, text, player) {
    Object.assign(this, { store, view, text, player });
    this.slider = byId("slider");
    this.button = byId("play");
    this.speed = byId("speed");
    this.button.addEventListener("click", () => this.toggle());
    byId("back").addEventListener("click", () => this.step(-1));
    byId("forward").addEventListener("click", () => this.step(1));
    this.slider.addEventListener("input", () => {
      view.set({ isPlaying: false });
      view.goTo(Number(this.slider.value));
    });
    this.speed.addEventListener("change", () => view.set({ speed: Number(this.speed.value) }));
    byId("span").addEventListener("change", (event) => view.set({ nShown: event.target.value === "all" ? Infinity : Number(event.target.value) }));
    this.loop = byId("loop");
    this.loop.addEventListener("click", () => view.set({ loops: !view.loops }));
    this.tell = view.nowAndThen(() => this.summarize());
    document.addEventListener("keydown", (event) => this.onKey(event));
    view.onChange((changed) => this.onChange(changed));
    store.onAppend(() => this.draw());
    this.draw();
  }

  toggle() {
    const { view, store } = this;
    if (!view.isPlaying && view.index === store.last) view.goTo(0);
    view.set({ isPlaying: !view.isPlaying });
  }

  step(n) {
    this.view.set({ isPlaying: false });
    this.view.goTo(this.view.index + n);
  }

  onChange(changed) {
    if (changed.has("isPlaying") && this.view.isPlaying) this.play();
    if (["isPlaying", "index", "x", "y", "loops"].some((name) => changed.has(name))) this.draw();
  }

  // Goes on by the clock, so that a slow screen leaves batches out rather than time.
  play() {
    let [start, from] = [null, this.view.index];
    let { speed } = this.view;
    const tick = (now) => {
      if (!this.view.isPlaying) return;
      if (start === null || speed !== this.view.speed) {
        [start, from, speed] = [now, this.view.index, this.view.speed];
      }
      this.view.goTo(from + Math.floor(((now - start) / 1000) * speed));
      const isEnd = this.view.index === this.store.last;
      if (isEnd && this.view.loops && now - start > (1000 * (this.store.last - from + 1)) / speed) {
        [start, from] = [now, 0];
        this.view.goTo(0);
      }
      if (isEnd && !this.view.loops) this.view.set({ isPlaying: false });
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  draw() {
    const { view, store, slider } = this;
    const when = this.text.batch(view.batch);
    slider.max = store.last;
    slider.value = view.index;
    slider.style.setProperty("--done", `${store.last ? (100 * view.index) / store.last : 100}%`);
    slider.setAttribute("aria-valuetext", `Batch ${view.index + 1} of ${store.batches.length}, time ${when}`);
    this.button.setAttribute("aria-label", view.isPlaying ? "Pause" : "Play");
    this.button.classList.toggle("is-playing", view.isPlaying);
    this.loop.setAttribute("aria-pressed", String(view.loops));
    byId("now").textContent = this.text.short(view.batch);
    byId("now-batch").textContent = `${formatCount(view.index + 1)} / ${formatCount(store.batches.length)}`;
    this.tell();
  }

  // What the batch is, in words.
  summarize() {
    const { view, store } = this;
    const { batch } = view;
    const summary = `${this.text.prefix}${this.text.batch(batch)} · ${plural(batch.nSeen, "cluster")} · ${plural(batch.nPoints, "point")}`;
    byId("scene").setAttribute("aria-label", `${summary}. Drawn in ${store.axisName(view.x)} and ${store.axisName(view.y)}.`);
    byId("scene-title").textContent = summary;
    if (!view.isPlaying) byId("live").textContent = summary;
  }

  // To the next level of families.
  climb(n) {
    const { view } = this;
    if (view.tree) view.set({ level: clamp(view.level + n, 0, view.tree.levels.length - 1) });
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tag = event.target.tagName;
    const isTyping = tag === "SELECT" || (tag === "INPUT" && event.target.type !== "range") || event.target.id === "trial-slide";
    // Arrows belong to the slider that has the focus; that of time is ours.
    const isSliding = event.target.type === "range" && event.target !== this.slider && /^(Arrow|Page|Home|End)/.test(event.key);
    if (event.key === "Escape") this.view.set(this.view.region ? { region: null } : { selected: null });
    if (isTyping || isSliding) return;
    const isPressable = tag === "BUTTON" || tag === "SUMMARY";
    const step = event.shiftKey ? 10 : 1;
    if (event.key === " " && !isPressable) this.toggle();
    else if (event.key === "ArrowRight") this.step(step);
    else if (event.key === "ArrowLeft") this.step(-step);
    else if (event.key === "+" || event.key === "=") this.player.zoomToChosen(1 / 1.4);
    else if (event.key === "-") this.player.zoomToChosen(1.4);
    else if (event.key === "0") this.view.set({ camera: null });
    else if (event.key === "[" || event.key === "]") this.climb(event.key === "]" ? 1 : -1);
    else if (event.key === "/") byId("lives-find").focus();
    else if (event.key === "Home" && tag !== "BODY") this.view.goTo(0);
    else if (event.key === "End" && tag !== "BODY") this.view.goTo(this.store.last);
    else return;
    event.preventDefault();
  }
}
