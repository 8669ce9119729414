// The summary in two lines that can be opened, and warnings of one line, each with its remedy.

const N_LEAD = 2; // sentences that stay in sight

class Summary {
  constructor(store, view, remedies) {
    Object.assign(this, { store, view, remedies });
    this.draw();
  }

  draw() {
    const { summary: story = [], warnings = [] } = this.store.header;
    const sentences = story.map((sentence) => this.named(sentence));
    byId("summary-lead").textContent = sentences.slice(0, N_LEAD).join(" ");
    byId("summary-rest").replaceChildren(...sentences.slice(N_LEAD).map((sentence) => make("p", {}, sentence)));
    byId("summary").hidden = story.length === 0;
    byId("warnings").replaceChildren(...warnings.map((warning) => this.line(warning)));
    byId("story").hidden = story.length + warnings.length === 0;
  }

  // Clusters by what the lists of the page call them.
  named(sentence) {
    return sentence.replace(/(?<!\()cluster (\d+)/g, (whole, id) => {
      const name = this.store.sharedValues?.get(Number(id));
      return name === undefined ? whole : `${name.replace(` (${id})`, "")} (${whole})`;
    });
  }

  line(warning) {
    const text = make("button", { type: "button", class: "warning-text", "aria-expanded": "false" }, sentenceCase(warning.text));
    text.addEventListener("click", () => text.setAttribute("aria-expanded", String(text.getAttribute("aria-expanded") !== "true")));
    const remedies = this.remedies.of(warning).map(({ text: words, act }) => make("button", { type: "button", class: "plain", onclick: () => { act(); this.draw(); } }, words));
    return make("li", {}, make("span", { class: "warning-sign", "aria-hidden": "true" }, "!"), text, ...remedies);
  }
}

// Names of arguments stay as they are.
const sentenceCase = (text) => (/^[a-z]+\b(?!_)/.test(text) ? text[0].toUpperCase() + text.slice(1) : text);

// What the page itself can do about a warning, by the arguments that the warning advises.
class Remedies {
  constructor(store, view, trial, levels) {
    Object.assign(this, { store, view, trial, levels });
  }

  of({ advises = {} }) {
    const found = REMEDIES.filter(({ names }) => names.some((name) => name in advises)).flatMap((remedy) => {
      const act = remedy.act(this, advises);
      return act ? [{ text: typeof remedy.text === "string" ? remedy.text : remedy.text(this, advises), act }] : [];
    });
    return found.filter(({ text }, row) => found.findIndex((other) => other.text === text) === row).slice(0, 2);
  }

  // Opens the panel in which other scales are tried, with one setting changed.
  tried(field, value) {
    const { trial } = this;
    if (!trial?.trial) return null;
    return () => {
      byId("trial").open = true;
      byId("trial").scrollIntoView({ block: "nearest" });
      trial.change(field, { value: String(value) });
    };
  }
}

const unquoted = (text) => text.replaceAll("'", "");

const REMEDIES = [
  { names: ["method"], text: "Treat rows as detections", act: ({ store }, { method }) => (unquoted(method) === "detections" && store.header.calls ? () => copyDetections(store.header.calls.detections) : null) },
  { names: ["families", "n_families"], text: "Join these", act: (remedies) => joinAct(remedies) },
  { names: ["min_cluster_size", "min_batches"], text: "Hide small ones", act: ({ view }) => () => view.set({ minSize: Math.max(view.minSize, 3), minLife: Math.max(view.minLife, 2) }) },
  { names: ["level"], text: (_, { level }) => `Show the level ${unquoted(level)}`, act: ({ levels }, { level }) => (levels.option(unquoted(level)) ? () => levels.choose(unquoted(level)) : null) },
  { names: ["suggested_matches"], text: ({ levels }) => (levels.areMatched ? "Show separately" : "Show as one"), act: (remedies) => matchAct(remedies) },
  { names: ["max_gap"], text: "Increase max_gap", act: (remedies, { max_gap: steps }) => (steps ? remedies.tried("maxGap", steps) : null) },
  { names: ["new_penalty", "n_clusters", "n_clusters_hint"], text: "Try a coarser scale", act: (remedies) => coarserAct(remedies) },
];

// The page cannot cluster rows this way: it shows the calls that do, and copies the first.
async function copyDetections({ python, command }) {
  const place = byId("remedy-calls");
  place.textContent = `${python}\n${command}`;
  place.hidden = false;
  byId("remedy-hint").hidden = false;
  await navigator.clipboard?.writeText(python).catch(() => {});
}

// To the next coarser level, or to where clusters that touch are joined.
function joinAct({ view, levels }) {
  if (levels.options.length) return () => levels.choose(levels.name === "fine" ? "default" : "coarse");
  if (!view.tree || view.tree.levels.length < 2) return null;
  return () => view.set({ level: view.tree.joinedRow });
}

// Takes the matches that are suggested, or leaves them.
function matchAct({ store, levels, trial }) {
  if (!store.header.suggested_matches?.length) return null;
  return () => {
    trial.trial?.back();
    levels.matchAgain(!levels.areMatched);
  };
}

// Twice the distance beyond which a point starts a new cluster.
function coarserAct(remedies) {
  const { trial } = remedies;
  return trial?.trial ? remedies.tried("distance", 2 * Math.sqrt(trial.now.newPenalty)) : null;
}
