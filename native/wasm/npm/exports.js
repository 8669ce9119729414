
let loaded;

/** The engine, loaded once: from the file beside this one, or from `source`. */
export function loadEngine(source) {
  if (source !== undefined) return Engine.load(source);
  loaded ??= moduleBytes().then((bytes) => Engine.load(bytes));
  return loaded;
}

/** Cluster all batches of a stream, one after the other. */
export async function cluster(batches, penalties, options) {
  return (await loadEngine()).cluster(batches, penalties, options);
}

async function moduleBytes() {
  const address = new URL("./engine.wasm", import.meta.url);
  if (address.protocol === "file:") return (await import("node:fs/promises")).readFile(address);
  return (await fetch(address)).arrayBuffer();
}

export { Engine, EngineError, EngineStream, completePenalties };
