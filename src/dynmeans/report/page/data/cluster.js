// One cluster: the batches it was seen in, and what happened to it.

class Cluster {
  constructor(id) {
    this.id = id;
    this.batches = []; // rising numbers of batches
    this.slots = []; // its row in each
    this.counts = [];
    this.total = 0;
    this.events = [];
  }

  see(batch, slot) {
    this.batches.push(batch.index);
    this.slots.push(slot);
    this.counts.push(batch.counts[slot]);
    this.total += batch.counts[slot];
  }

  // How many of its batches are not later than the given one.
  seenUntil(index) {
    let [low, high] = [0, this.batches.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.batches[middle] <= index) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Where it was forgotten, unless it was seen again until the given batch, as one of several members.
  endBy(index) {
    const end = this.events.findLast(({ kind, batch }) => kind === "forgotten" && batch.index <= index);
    return end && end.batch.index > this.batches[this.seenUntil(index) - 1] ? end : null;
  }

  // seen, unseen (but remembered), forgotten or unborn, in the given batch
  status(index) {
    const n = this.seenUntil(index);
    if (n === 0) return "unborn";
    if (this.batches[n - 1] === index) return "seen";
    return this.endBy(index) ? "forgotten" : "unseen";
  }
}
