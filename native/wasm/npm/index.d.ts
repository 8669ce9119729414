/** Lambda, with how long and how far a cluster is remembered: `maxGap` and `reach`, or `revivalPenalty` and `drift`. */
export interface Penalties {
  /** lambda: how far, as a squared distance, a point may be from every cluster before it opens a new one. */
  newPenalty: number;
  /** N_Q: a cluster comes back if fewer steps than this have passed since it was last seen; 6.8 by default. */
  maxGap?: number;
  /** k_tau: how far a cluster may have moved and still be recognized, as a squared distance in units of lambda; 1.2 by default. */
  reach?: number;
  /** Q: squared distance that each step unseen adds to reviving a cluster. */
  revivalPenalty?: number;
  /** tau: how fast the memory of a position fades, per step. */
  drift?: number;
  /** The cost of reviving a cluster: equation 5 of the paper, or the true rise of the cost; "paper" by default. */
  revival?: "paper" | "exact";
  /** Whether a cluster is expected where it was, or where its velocity takes it; "random_walk" by default. */
  motion?: "random_walk" | "constant_velocity";
  /** Where centers lie: at means of their points, or on the unit sphere, for rows of length 1; "mean" by default. */
  centers?: "mean" | "sphere";
  /** Which features keep a course in steady motion; all by default. */
  moving?: boolean[] | null;
}

export interface Options {
  /** Numbers in a row; 2 by default. */
  nFeatures?: number;
  /** Visiting orders tried on every batch, at most 10,000; 3 by default. */
  nInit?: number;
  /** Seed of the visiting orders, as `random_state` in Python; 0 by default. */
  randomState?: number;
  /** The key of the visiting orders itself, in two halves below 2^32, in place of a seed. */
  entropy?: [number, number];
  /**
   * "paper", Algorithm 2 to the letter; "split", which then splits what is plainly two; or "deep", which goes on with
   * all moves of whole sets; "split" by default. On the unit sphere only "paper", its default there.
   */
  search?: "paper" | "split" | "deep";
}

export interface SequenceOptions extends Options {
  /** Time from the batch before to each batch, in steps; 1 by default. */
  elapsed?: ArrayLike<number> | null;
}

/** What was found in one batch. */
export interface Step {
  /** Identity of each point. */
  labels: Float64Array;
  /** Identities seen in the batch, rising. */
  ids: Float64Array;
  /** Points of each. */
  counts: Float64Array;
  /** Centers, row by row. */
  centers: Float64Array;
  /** L_t; NaN for a batch without points. */
  cost: number;
}

export type Column =
  | "labels" | "ids" | "counts" | "centers" | "costTrace" | "stateIds" | "stateCenters" | "stateWeights"
  | "stateAges" | "stateCounts" | "stateVelocities";

/** One stream: a batch at a time. */
export class EngineStream {
  readonly nFeatures: number;
  /** The identity that the next new cluster will get. */
  readonly nextId: number;
  /** Clusters the next batch: its points row by row. Weights are from 0 to 1e50. */
  step(points: ArrayLike<number>, options?: { weights?: ArrayLike<number> | null; elapsed?: number }): this;
  /** A copy of a column of what the last step found. */
  column(name: Column): Float64Array;
  /** Gives its memory back; whatever is asked afterwards throws an EngineError. */
  close(): void;
}

export class Engine {
  static load(source: BufferSource | WebAssembly.Module): Promise<Engine>;
  open(nFeatures: number, penalties: Penalties, options?: Options): EngineStream;
  cluster(batches: ArrayLike<number>[], penalties: Penalties, options?: SequenceOptions): { steps: Step[]; nClusters: number };
  /** The length of a description of the stream with these labels, in nats; the shorter, the better. */
  describe(stream: {
    points: ArrayLike<number>; starts: ArrayLike<number>; times: ArrayLike<number>; labels: ArrayLike<number>;
    nFeatures: number; moving?: ArrayLike<number> | null;
  }): number;
}

/** What an argument must be, and what it was. */
export class EngineError extends Error {}

/** Lambda, Q and tau from what was given. */
export function completePenalties(penalties: Penalties): Required<Omit<Penalties, "maxGap" | "reach">>;

export function loadEngine(source?: BufferSource | WebAssembly.Module): Promise<Engine>;

/** Cluster all batches of a stream, one after the other; each is an array of numbers, row by row. */
export function cluster(
  batches: ArrayLike<number>[], penalties: Penalties, options?: SequenceOptions,
): Promise<{ steps: Step[]; nClusters: number }>;
