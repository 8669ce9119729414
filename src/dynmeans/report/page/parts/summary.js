// The summary in two lines that can be opened, and warnings of one line, each with its remedy.

const N_LEAD = 2; // sentences that stay in sight

class Summary {
  constructor(store, view, facts, levels, remedies) {
    Object.assign(this, { store, view, facts, levels, remedies });
    this.ask = oncePerFrame(() => this.draw());
    store.onAppend(this.ask);
    this.draw();
  }

  draw() {
    const { summary = [], warnings = [], counts } = this.store.header;
    // Pages without a run have no numbers to write sentences from.
    const lead = counts && this.facts.n.points ? this.ownLead() : summary.slice(0, N_LEAD).map((sentence) => this.named(sentence));
    const rest = counts ? [...this.ownRest(), ...this.restOfRun(summary)] : summary.slice(N_LEAD);
    byId("summary-lead").textContent = lead.join(" ");
    byId("summary-rest").replaceChildren(...rest.map((sentence) => make("p", {}, this.named(sentence))));
    byId("summary").hidden = lead.length === 0;
    byId("warnings").replaceChildren(...warnings.map((warning) => this.line(warning)));
    byId("story").hidden = lead.length + warnings.length === 0;
  }

  // From the numbers of the header, at the level that is shown, with matches or in a preview.
  ownLead() {
    const { n } = this.facts;
    const inAll = `${plural(n.points, "point")} in ${plural(n.batches, "batch")}`;
    const clusters = `${plural(n.clusters, this.what())}${this.how()}, ${formatCount(n.last)} in the last batch.`;
    return [`${inAll}: ${clusters}`, ...this.largest(n.points)];
  }

  what() {
    const { header } = this.store;
    return header.isTrial && this.levels.isJoinedRun ? "subcluster" : "cluster";
  }

  how() {
    const { levels, store } = this;
    if (store.header.isTrial) return " in this preview with other parameters";
    const name = levels.options.length ? ` at the level ${levels.name}` : "";
    return levels.areMatched ? `${name}, with ${plural(levels.pairs.size, "pair")} of clusters shown as one` : name;
  }

  largest(nPoints) {
    const { store } = this;
    let most = null;
    for (const cluster of store.clusters.values()) if (cluster.batches.length && (!most || cluster.total > most.total)) most = cluster;
    if (!most) return [];
    const share = `${formatNumber((100 * most.total) / Math.max(1, nPoints), 2)} %`;
    const seen = most.batches.length === this.facts.n.batches ? "every batch" : plural(most.batches.length, "batch");
    return [`The largest is ${this.called(most.id)}, with ${plural(most.total, "point")} (${share}), active in ${seen}.`];
  }

  called(id) {
    const name = this.store.nameOf(id);
    return name === undefined ? `cluster ${id}` : `${name.replace(` (${id})`, "")} (cluster ${id})`;
  }

  ownRest() {
    const clusters = [...this.store.clusters.values()].filter(({ batches }) => batches.length);
    const short = clusters.filter(({ batches }) => batches.length === 1).length;
    return 2 * short > clusters.length && clusters.length > 1 ? [`${formatCount(short)} of them were active in one batch only.`] : [];
  }

  // Sentences about returns, splits and noise are those of the level of the run.
  restOfRun(summary) {
    const { levels, store } = this;
    if (store.header.isTrial || !summary.length) return [];
    const isOwn = !levels.areMatched && (!levels.chosen || levels.chosen === levels.name);
    return isOwn ? summary : [levels.chosen ? `At the level ${levels.chosen}, which the run has:` : "In the run:", ...summary];
  }

  // Clusters by what the lists of the page call them.
  named(sentence) {
    return sentence.replace(/(?<!\()cluster (\d+)/g, (whole, id) => {
      const name = this.store.sharedValues?.get(Number(id));
      return name === undefined ? whole : `${name.replace(` (${id})`, "")} (${whole})`;
    });
  }

  // A line has what is wrong; opened, it has the whole sentence with the arguments to use.
  line({ text: whole, short, advises = {} }) {
    const words = sentenceCase(short || whole);
    const text = make("button", { type: "button", class: "warning-text", "aria-expanded": "false" }, words);
    text.addEventListener("click", () => {
      const isOpen = text.getAttribute("aria-expanded") !== "true";
      text.setAttribute("aria-expanded", String(isOpen));
      text.textContent = isOpen ? sentenceCase(whole) : words;
    });
    const remedies = this.remedies.of(advises).map(({ text: label, act }) => make("button", { type: "button", class: "plain", onclick: () => { act(); this.draw(); } }, label));
    return make("li", {}, make("span", { class: "warning-sign", "aria-hidden": "true" }, "!"), text, ...remedies);
  }
}

// Names of arguments stay as they are.
const sentenceCase = (text) => (/^[a-z]+\b(?!_)/.test(text) ? text[0].toUpperCase() + text.slice(1) : text);
