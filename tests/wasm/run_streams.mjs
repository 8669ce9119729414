// Streams as JSON on standard input, what the engine finds in them on standard output.
import { readFileSync } from "node:fs";

const { loadEngine } = await import(process.argv[2]);
const engine = await loadEngine();
const columns = [
  "labels", "ids", "counts", "centers", "costTrace",
  "stateIds", "stateCenters", "stateWeights", "stateAges", "stateCounts", "stateVelocities",
];
const found = JSON.parse(readFileSync(0, "utf-8")).map(({ nFeatures, penalties, options, batches, elapsed }) => {
  const stream = engine.open(nFeatures, penalties, options);
  const steps = batches.map((points, t) => {
    stream.step(points, { elapsed: elapsed[t] });
    return columns.map((name) => Array.from(stream.column(name)));
  });
  const next = stream.nextId;
  stream.close();
  return { steps, next };
});
process.stdout.write(JSON.stringify(found));
