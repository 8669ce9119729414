// What the page itself can do about a warning, by the arguments that the warning advises. No remedy
// gives more clusters than there were without saying so; a call is copied if the page cannot do it.

class Remedies {
  constructor(store, view, trial, levels) {
    Object.assign(this, { store, view, trial, levels });
  }

  of(advises) {
    const found = REMEDIES.filter(({ names }) => names.some((name) => name in advises)).flatMap((remedy) => remedy.of(this, advises) ?? []);
    return found.filter(({ text }, row) => found.findIndex((other) => other.text === text) === row).slice(0, 2);
  }

  // Opens the panel in which other scales are tried, with one setting changed. A preview does not
  // join subclusters: it is no remedy for a run that does.
  tried(text, field, value) {
    const { trial, levels } = this;
    if (!trial?.trial || levels.isJoinedRun) return null;
    const act = () => {
      byId("trial").open = true;
      byId("trial").scrollIntoView({ block: "nearest" });
      trial.change(field, { value: String(value) });
    };
    return { text, act };
  }

  // The page cannot cluster rows this way: it shows the calls that do, and copies the first.
  copied(text, what, calls) {
    if (!calls) return null;
    const act = async () => {
      const place = byId("remedy-calls");
      place.textContent = `${calls.python}\n${calls.command}`;
      place.hidden = false;
      byId("remedy-hint").textContent = `This page cannot ${what}. Run one of these calls; the first is copied:`;
      byId("remedy-hint").hidden = false;
      await navigator.clipboard?.writeText(calls.python).catch(() => {});
    };
    return { text, act };
  }
}

const unquoted = (text) => text.replaceAll("'", "");

const REMEDIES = [
  { names: ["method"], of: (remedies, { method }) => methodRemedy(remedies, unquoted(method)) },
  { names: ["families", "n_families"], of: (remedies) => joinRemedy(remedies) },
  {
    names: ["min_cluster_size", "min_batches"],
    of: ({ view }) => ({ text: "Hide small ones", act: () => view.set({ minSize: Math.max(view.minSize, 3), minLife: Math.max(view.minLife, 2) }) }),
  },
  {
    names: ["level"],
    of: ({ levels }, { level }) => (levels.option(unquoted(level)) ? { text: `Show the level ${unquoted(level)}`, act: () => levels.choose(unquoted(level)) } : null),
  },
  { names: ["suggested_matches"], of: (remedies) => matchRemedy(remedies) },
  { names: ["max_gap"], of: (remedies, { max_gap: steps }) => (steps ? gapRemedy(remedies, steps) : null) },
  { names: ["new_penalty", "n_clusters", "n_clusters_hint"], of: (remedies, advises) => ("method" in advises ? null : coarserRemedy(remedies)) },
];

const METHODS = { detections: ["Treat rows as detections", "cluster rows as detections"], hdbscan: ["Use HDBSCAN", "cluster rows with HDBSCAN"] };

function methodRemedy(remedies, method) {
  const calls = remedies.store.header.calls?.[method];
  return method in METHODS ? remedies.copied(...METHODS[method], calls) : null;
}

// To the next coarser level, or to where clusters that touch are joined.
function joinRemedy({ view, levels }) {
  const text = "Join these";
  if (levels.options.length) return levels.name === "coarse" ? null : { text, act: () => levels.choose(levels.name === "fine" ? "default" : "coarse") };
  if (!view.tree || view.tree.levels.length < 2) return null;
  return { text, act: () => view.set({ level: view.tree.joinedRow }) };
}

// Takes the matches that are suggested, or leaves them.
function matchRemedy({ store, levels, trial }) {
  if (!store.header.suggested_matches?.length) return null;
  const act = () => {
    trial.trial?.back();
    levels.matchAgain(!levels.areMatched);
  };
  if (levels.areMatched) return { text: "Show separately", act };
  const { size } = levels.pairs;
  return size ? { text: `Show ${plural(size, "pair")} as one`, act } : null;
}

function gapRemedy(remedies, steps) {
  const { levels, store, trial } = remedies;
  if (trial?.trial && !levels.isJoinedRun) return remedies.tried("Increase max_gap", "maxGap", steps);
  const run = store.header.calls?.run;
  const calls = run && { python: withArgument(run.python, "max_gap", steps), command: withOption(run.command, "max-gap", steps) };
  return remedies.copied(`Copy a call with max_gap=${steps}`, "cluster the rows of this run with a longer memory", calls);
}

// The coarser level of a run that has one, else twice the distance beyond which a point starts a new cluster.
function coarserRemedy(remedies) {
  const { trial, levels } = remedies;
  if (levels.isJoinedRun) return levels.name === "coarse" || !levels.option("coarse") ? null : { text: "Show the level coarse", act: () => levels.choose("coarse") };
  return trial?.trial ? remedies.tried("Try a coarser scale", "distance", 2 * Math.sqrt(trial.now.newPenalty)) : null;
}

// A call with an argument, in place of the one it has.
function withArgument(call, name, value) {
  const given = new RegExp(`(, ${name}=)[^,)]+`);
  return given.test(call) ? call.replace(given, `$1${value}`) : `${call.slice(0, -1)}, ${name}=${value})`;
}

function withOption(command, name, value) {
  const given = new RegExp(`( --${name} )\\S+`);
  return given.test(command) ? command.replace(given, `$1${value}`) : `${command} --${name} ${value}`;
}
