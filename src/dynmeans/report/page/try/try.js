// A file of one's own: choose it, see what is proposed, follow its clusters.

const MAX_BYTES = 100e6;
const MOST_CHOICES = 24; // columns offered as features

class TryPage {
  constructor() {
    this.settings = JSON.parse(byId("try-settings").textContent);
    this.number = 0;
    const drop = byId("try-drop");
    for (const kind of ["dragover", "dragleave", "drop"]) {
      document.addEventListener(kind, (event) => {
        event.preventDefault();
        drop.classList.toggle("is-over", kind === "dragover");
        if (kind === "drop" && event.dataTransfer.files[0]) this.open(event.dataTransfer.files[0]);
      });
    }
    byId("try-file").addEventListener("change", ({ target }) => target.files[0] && this.open(target.files[0]));
    byId("try-ships").addEventListener("click", () => this.openShips());
    byId("try-blobs").addEventListener("click", () => this.take("blobs.csv", movingBlobs()));
    byId("try-other").addEventListener("click", () => this.chooseAnother());
    byId("try-labels").addEventListener("click", () => this.saveLabels());
    byId("try-time").addEventListener("change", () => this.changeTime());
    byId("try-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.follow().catch((error) => this.say(error.message, true));
    });
  }

  say(text, isProblem = false) {
    byId("try-said").textContent = text;
    byId("try-said").classList.toggle("is-problem", isProblem);
  }

  async open(file) {
    try {
      if (file.size > MAX_BYTES) throw new Error(`${file.name} has ${formatCount(file.size / 1e6)} MB, and this page takes up to 100; use dynmeans cluster`);
      this.say(`Reading ${file.name} …`);
      this.take(file.name, await readTable(file.name, await file.arrayBuffer()));
    } catch (error) {
      this.say(`This file could not be read: ${error.message}.`, true);
    }
  }

  async openShips() {
    const packed = Uint8Array.from(atob(this.settings.ships), (sign) => sign.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    this.take("ships.csv", await readTable("ships.csv", await new Response(stream).arrayBuffer()));
  }

  // Shows what is proposed, and goes ahead with it.
  take(name, table) {
    const proposal = propose(table);
    Object.assign(this, { name, table, proposal });
    if (!proposal.features.length) {
      this.say(`${name} has no column of numbers to cluster.`, true);
      return;
    }
    this.drawForm();
    byId("try-drop").hidden = true;
    byId("try-form").hidden = false;
    byId("try-form").querySelector("button").focus();
    this.follow().catch((error) => this.say(error.message, true));
  }

  drawForm() {
    const { table, proposal } = this;
    const names = [...table.columns.keys()];
    const numbers = names.filter((name) => proposal.kinds.get(name) === "number").slice(0, MOST_CHOICES);
    byId("try-features").replaceChildren(...numbers.map((name) => {
      const box = make("input", { type: "checkbox", value: name });
      box.checked = proposal.features.includes(name);
      return make("label", {}, box, ` ${name}`);
    }));
    const times = names.filter((name) => !["text", "unclear"].includes(proposal.kinds.get(name)));
    byId("try-time").replaceChildren(make("option", { value: "" }, "none: rows in order"), ...times.map((name) => make("option", { value: name }, name)));
    byId("try-time").value = proposal.time ?? "";
    this.drawEvery(proposal.every);
    const { rows } = cutWindows(table, proposal);
    byId("try-scaled").checked = areUnlike(rows, proposal.features.length);
  }

  drawEvery(every) {
    const time = byId("try-time").value;
    byId("try-every-name").textContent = time ? "windows of" : "rows in a window";
    byId("try-every").value = everyText(every, isDated(this.proposal.kinds.get(time)));
  }

  changeTime() {
    const time = byId("try-time").value || null;
    this.drawEvery(proposeWindow(this.table.columns, this.proposal.kinds, time, this.table.nRows).every);
  }

  // What the form says.
  get choice() {
    const { kinds } = this.proposal;
    const features = [...byId("try-features").querySelectorAll("input:checked")].map(({ value }) => value);
    const time = byId("try-time").value || null;
    const hasDates = time !== null && isDated(kinds.get(time));
    const every = readEvery(byId("try-every").value, hasDates);
    if (!features.length) throw new Error("Choose at least one feature.");
    if (features.length > 8) throw new Error("Choose up to eight features.");
    if (!(every > 0)) throw new Error("The length of a window must be a number above 0, such as 30 or 10min.");
    return { name: this.name, kinds, features, time, isDated: hasDates, every };
  }

  async follow() {
    const { choice } = this;
    this.say("Looking for the scale …");
    const cut = cutWindows(this.table, choice);
    const isScaled = byId("try-scaled").checked;
    const spreads = isScaled ? spreadsOf(cut.rows, choice.features.length) : choice.features.map(() => 1);
    Object.assign(choice, { scales: spreads, isScaled });
    this.ready();
    this.worker.postMessage({ rows: rowsForEngine(cut, spreads, choice.every) });
    const { max_gap: maxGap, reach, search, entropy } = this.settings;
    const options = { nInit: 3, search, entropy };
    const { chosen } = await this.ask({ penalties: { maxGap, reach }, options, isProposal: true });
    this.say("Clustering …");
    const { found } = await this.ask({ penalties: chosen, options });
    this.cut = cut;
    this.show(reportOf(found, cut, choice, this.settings, chosen));
    const left = cut.nLeftOut ? ` ${plural(cut.nLeftOut, "row")} without a number or a date left out.` : "";
    this.say(`${plural(cut.rows.length, "row")} in ${plural(cut.windows.length, "window")}: ${plural(found.nClusters, "cluster")}.${left} Use “Try another scale” below to change the cluster size.`);
  }

  ready() {
    if (this.worker) return;
    const code = new Blob([byId("engine-code").textContent], { type: "text/javascript" });
    this.worker = new Worker(URL.createObjectURL(code));
    const module = Uint8Array.from(atob(byId("engine-module").textContent.trim()), (sign) => sign.charCodeAt(0));
    this.worker.postMessage({ module }, [module.buffer]);
  }

  ask(question) {
    this.number += 1;
    const { number } = this;
    return new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }) => {
        if (data.number !== number) return;
        if (data.problem) reject(new Error(data.problem));
        else if (data.share === undefined) resolve(data);
        else this.say(`Clustering: ${Math.round(100 * data.share)} %`);
      };
      this.worker.postMessage({ number, ...question });
    });
  }

  // The report is a page of its own within this one.
  show(header) {
    const data = JSON.stringify(header).replaceAll("&", "\\u0026").replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
    const parts = { title: "dynmeans", data, engine: `${byId("engine-code").outerHTML}${byId("engine-module").outerHTML}` };
    const page = JSON.parse(byId("try-page").textContent).replace(/\{\{ (title|data|engine) \}\}/g, (_, part) => parts[part]);
    this.frame = make("iframe", { class: "try-frame", title: "The clusters", srcdoc: page });
    this.frame.addEventListener("load", () => {
      const { contentWindow } = this.frame;
      contentWindow.document.getElementById("trial").open = true;
      byId("try-labels").hidden = false;
    });
    byId("try-place").replaceChildren(this.frame);
    document.body.classList.add("is-shown");
  }

  // Every row of the file with the cluster that is shown for it now.
  saveLabels() {
    const { batches } = this.frame.contentWindow.dynmeansReport.store;
    const cluster = new Map();
    batches.forEach(({ slots, ids }, t) => slots.forEach((slot, row) => cluster.set(this.cut.windows[t].rows[row].row, ids[slot] ?? "")));
    const names = [...this.table.columns.keys()];
    const text = (value) => (/[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
    const lines = [[...names, "cluster_id"].map(text).join(",")];
    for (let row = 0; row < this.table.nRows; row += 1) {
      lines.push([...names.map((name) => this.table.columns.get(name)[row]), cluster.get(row) ?? ""].map(text).join(","));
    }
    const link = make("a", { href: URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" })), download: `${this.name.replace(/\.\w+$/, "")}-labels.csv` });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  chooseAnother() {
    byId("try-place").replaceChildren();
    document.body.classList.remove("is-shown");
    byId("try-form").hidden = byId("try-labels").hidden = true;
    byId("try-drop").hidden = false;
    byId("try-file").value = "";
    this.say("");
    byId("try-file").focus();
  }
}

// Six clouds that wander, one of which is away for a while.
function movingBlobs() {
  let seed = 7;
  const uniform = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
  const spread = () => uniform() + uniform() + uniform() + uniform() - 2;
  const centers = Array.from({ length: 6 }, (_, k) => [3 * (k % 3), 3 * Math.floor(k / 3)]);
  const columns = { step: [], x: [], y: [] };
  for (let t = 0; t < 60; t += 1) {
    centers.forEach((center, k) => {
      center[0] += 0.15 * spread();
      center[1] += 0.15 * spread();
      if (k === 4 && t > 20 && t < 24) return;
      for (let i = 0; i < 25; i += 1) {
        columns.step.push(t);
        columns.x.push(Number((center[0] + 0.5 * spread()).toFixed(4)));
        columns.y.push(Number((center[1] + 0.5 * spread()).toFixed(4)));
      }
    });
  }
  return { nRows: columns.step.length, columns: new Map(Object.entries(columns)) };
}

new TryPage();
