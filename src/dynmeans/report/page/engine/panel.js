// The panel in which one tries another scale: drag, and the whole page follows.

const SCALE_STEPS = 400; // of the slider
const OCTAVES = 5; // it reaches so far to either side of the run's scale

class TrialPanel {
  constructor(store, view, looks, levels) {
    Object.assign(this, { store, view, levels });
    this.part = byId("trial");
    this.part.hidden = !store.header.engine;
    if (!store.header.engine) return;
    this.trial = new Trial(store, view, () => {
      byId("legend-course").hidden = !store.batches[0].velocities;
      looks.notify();
    });
    this.run = this.trial.settings;
    this.setUp();
  }

  setUp() {
    const { run, store } = this;
    for (const [id, name] of TRIAL_FIELDS) {
      byId(id).addEventListener("input", () => this.change(name, byId(id)));
    }
    byId("trial-wanted").addEventListener("input", () => this.ask());
    byId("trial-back").addEventListener("click", () => this.back());
    byId("trial-command").addEventListener("click", () => this.copy(commandText(run, this.now, store.header.calls?.folder)));
    byId("trial-python").addEventListener("click", () => this.copy(pythonText(run, this.now)));
    byId("trial-sample").textContent = this.sampleText();
    byId("trial-joined").textContent = this.joinedText();
    for (const id of ["trial-motion", "trial-search"]) byId(id).disabled = run.centers === "sphere";
    this.part.addEventListener("toggle", () => this.draw());
    this.now = this.ofTheRun();
    this.draw();
  }

  ofTheRun() {
    const { new_penalty: newPenalty, max_gap: maxGap, reach, motion, search } = this.run;
    return { newPenalty, maxGap: maxGap ?? Infinity, reach, motion, search };
  }

  sampleText() {
    const { trial, store } = this;
    const rows = formatCount(trial.nRows);
    const total = store.batches.reduce((sum, batch) => sum + batch.nPoints, 0);
    return trial.isSample ? `On the ${rows} rows of this page, a sample of ${formatCount(total)}.` : `On all ${rows} rows.`;
  }

  // The run may join what a preview leaves apart.
  joinedText() {
    if (!this.levels.isJoinedRun) return "";
    return "The preview shows subclusters: it does not join those that touch, as the run does, so its numbers are larger.";
  }

  // How many there are beside the run, and whether these are more.
  foundText({ nClusters, ids, nSeen }) {
    const mean = formatNumber(ids.length / Math.max(1, nSeen.filter((n) => n > 0).length), 3);
    const { nOfRun } = this.trial;
    const isJoined = this.levels.isJoinedRun;
    const more = nClusters > nOfRun ? "more than" : nClusters < nOfRun ? "fewer than" : "as many as";
    const what = isJoined ? "subcluster" : "cluster";
    return `${plural(nClusters, what)}, ${more} the ${formatCount(nOfRun)} of the run${isJoined ? " before it joins them" : ""}, about ${mean} in a batch`;
  }

  change(name, input) {
    const value = TRIAL_VALUES[name]?.(input, this) ?? input.value;
    if (typeof value === "number" && !Number.isFinite(value) && value !== Infinity) return;
    const field = name === "slide" || name === "distance" ? "newPenalty" : name;
    this.now = { ...this.now, [field]: value };
    if (field === "newPenalty") byId("trial-wanted").value = "";
    this.draw();
    this.ask();
  }

  ask() {
    const { trial, now, run } = this;
    if (!trial.worker) trial.start((data) => this.answer(data));
    const { search, ...rest } = now;
    const penalties = { ...rest, centers: run.centers };
    const wanted = Number(byId("trial-wanted").value) || null;
    this.asked = performance.now();
    trial.ask(
      { ...penalties, revival: run.revival, moving: now.motion === "constant_velocity" ? run.moving : null },
      { nInit: run.n_init, entropy: run.entropy, search },
      wanted,
    );
  }

  answer({ problem, share, found, newPenalty, time }) {
    if (problem) this.say(`This did not work: ${problem}`);
    else if (share !== undefined) this.say(`${Math.round(100 * share)} %`);
    else {
      this.now = { ...this.now, newPenalty };
      this.trial.show(found);
      this.draw();
      this.say(`${this.foundText(found)}, found in ${Math.round(time)} ms`);
    }
  }

  back() {
    this.trial.back();
    this.now = this.ofTheRun();
    byId("trial-wanted").value = "";
    byId("trial-copied").hidden = true;
    this.draw();
    this.say("The clusters of the run.");
  }

  say(text) {
    byId("trial-status").textContent = text;
  }

  async copy(text) {
    byId("trial-copied").hidden = false;
    byId("trial-copied").textContent = text;
    try {
      await navigator.clipboard.writeText(text);
      this.say("Copied.");
    } catch {
      this.say("Here it is, to copy by hand.");
    }
  }

  draw() {
    const { now, trial } = this;
    const distance = Math.sqrt(now.newPenalty);
    const slide = byId("trial-slide");
    const place = SCALE_STEPS * (0.5 + Math.log2(distance / Math.sqrt(this.run.new_penalty)) / (2 * OCTAVES));
    slide.max = SCALE_STEPS;
    if (document.activeElement !== slide) slide.value = Math.round(place);
    slide.style.setProperty("--done", `${clamp((100 * place) / SCALE_STEPS, 0, 100)}%`);
    const { space } = trial;
    slide.setAttribute("aria-valuetext", space.tell(distance));
    byId("trial-unit").textContent = space.pieces.length > 1 || space.pieces[0].tell ? `(${space.tell(distance)})` : space.pieces[0].unit;
    setUnlessTyping("trial-distance", Number(distance.toPrecision(4)));
    setUnlessTyping("trial-gap", now.maxGap === Infinity ? "" : now.maxGap);
    setUnlessTyping("trial-reach", Number(now.reach.toPrecision(4)));
    byId("trial-motion").value = now.motion;
    byId("trial-search").value = now.search;
    byId("trial-reach-distance").textContent = space.tell(Math.sqrt(now.reach) * distance);
    byId("trial-back").disabled = !trial.isShown;
    this.part.classList.toggle("is-trying", trial.isShown);
    byId("trial-mark").hidden = !trial.isShown;
  }
}

const TRIAL_FIELDS = [
  ["trial-slide", "slide"], ["trial-distance", "distance"], ["trial-gap", "maxGap"], ["trial-reach", "reach"],
  ["trial-motion", "motion"], ["trial-search", "search"],
];

// What stands in a field, as a setting; NaN where it is none.
const TRIAL_VALUES = {
  slide: (input, { run }) => run.new_penalty * 4 ** (OCTAVES * ((2 * Number(input.value)) / SCALE_STEPS - 1)),
  distance: (input) => (Number(input.value) > 0 ? Number(input.value) ** 2 : NaN),
  maxGap: (input) => (input.value === "" ? Infinity : Number(input.value) > 1 ? Number(input.value) : NaN),
  reach: (input) => (Number(input.value) >= 1 ? Number(input.value) : NaN),
};

function setUnlessTyping(id, value) {
  const input = byId(id);
  if (document.activeElement !== input) input.value = value;
}

// The settings as the command takes them.
function commandText(run, now, folder) {
  const gap = now.maxGap === Infinity ? "inf" : now.maxGap;
  const parts = [
    run.command ?? "dynmeans cluster INPUT", `--new-penalty ${now.newPenalty}`, `--max-gap ${gap}`, `--reach ${now.reach}`,
    ...(now.motion === "random_walk" ? [] : [`--motion ${now.motion}`]),
    ...(now.search === "split" ? [] : [`--search ${now.search}`]),
    ...(run.revival === "paper" ? [] : [`--revival ${run.revival}`]),
    ...(run.n_init === 3 ? [] : [`--n-init ${run.n_init}`]),
    ...(run.random_state === 0 ? [] : [`--random-state ${run.random_state}`]),
    ...(folder ? [`-o ${folder}-new`] : []),
  ];
  return parts.join(" ");
}

function pythonText(run, now) {
  const gap = now.maxGap === Infinity ? 'float("inf")' : now.maxGap;
  const parts = [
    `new_penalty=${now.newPenalty}`, `max_gap=${gap}`, `reach=${now.reach}`,
    ...(now.motion === "random_walk" ? [] : [`motion="${now.motion}"`]),
    ...(now.search === "split" ? [] : [`search="${now.search}"`]),
    ...(run.revival === "paper" ? [] : [`revival="${run.revival}"`]),
    ...(run.n_init === 3 ? [] : [`n_init=${run.n_init}`]),
    ...(run.space && run.space !== "raw" ? [`space="${run.space}"`] : []),
    `random_state=${run.random_state}`,
  ];
  return `DynamicMeans(${parts.join(", ")})`;
}
