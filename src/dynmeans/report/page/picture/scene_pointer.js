// The picture under a mouse or fingers: wheel and pinch zoom, drag moves, a box selects rows.

const WHEEL_ZOOM = 0.0016; // for each unit the wheel turns
const SCROLLING = 300; // milliseconds after the page scrolled in which the wheel still scrolls it
const A_DRAG = 4; // pixels: less is a click

class ScenePointer {
  constructor(player) {
    Object.assign(this, { player, view: player.view, canvas: player.canvas, fingers: new Map() });
    this.tip = byId("scene-tip");
    this.lastScroll = -Infinity;
    const on = (name, callback, options) => this.canvas.addEventListener(name, callback, options);
    on("pointerdown", (event) => this.onDown(event));
    on("pointermove", (event) => this.onMove(event));
    on("pointerup", (event) => this.onUp(event));
    on("pointercancel", (event) => this.onUp(event));
    on("pointerleave", () => this.hideTip());
    on("click", (event) => this.onClick(event));
    on("dblclick", () => this.view.set({ camera: null }));
    on("wheel", (event) => this.onWheel(event), { passive: false });
    addEventListener("scroll", () => { this.lastScroll = performance.now(); }, { passive: true });
    this.brush = byId("brush");
    this.brush.addEventListener("click", () => this.arm(this.brush.getAttribute("aria-pressed") !== "true"));
    byId("whole").addEventListener("click", () => this.view.set({ camera: null }));
    this.view.onChange((changed) => this.onChange(changed));
    this.onChange(new Set(["camera"]));
  }

  onChange(changed) {
    if (changed.has("index")) this.hideTip();
    if (!changed.has("camera")) return;
    // A page that is not zoomed can be scrolled with a finger on the picture.
    this.canvas.style.touchAction = this.view.camera ? "none" : "pan-y";
    byId("whole").hidden = this.view.camera === null;
  }

  arm(isArmed) {
    this.brush.setAttribute("aria-pressed", String(isArmed));
    this.canvas.classList.toggle("is-selecting", isArmed);
  }

  // The wheel zooms; at the whole it scrolls the page, as it does while the page is scrolling.
  onWheel(event) {
    const isOut = event.deltaY > 0;
    if (performance.now() - this.lastScroll < SCROLLING || (isOut && this.view.camera === null && this.player.isHomeWhole)) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.player.zoom(Math.exp(clamp(event.deltaY * lines, -300, 300) * WHEEL_ZOOM), event.offsetX, event.offsetY);
  }

  onDown(event) {
    if (event.button !== 0) return;
    this.fingers.set(event.pointerId, event);
    this.hasDragged = false;
    const isBrush = event.shiftKey || this.brush.getAttribute("aria-pressed") === "true";
    this.start = { event, domain: this.player.domain, isBrush };
    if (isBrush || this.view.camera || event.pointerType === "mouse") this.canvas.setPointerCapture(event.pointerId);
  }

  onMove(event) {
    if (!this.fingers.has(event.pointerId)) {
      this.showTip(event);
      return;
    }
    const before = [...this.fingers.values()];
    this.fingers.set(event.pointerId, event);
    const now = [...this.fingers.values()];
    if (now.length === 2) this.pinch(before, now);
    else if (this.start && now.length === 1) this.drag(event);
  }

  drag(event) {
    const { start, player } = this;
    const [dx, dy] = [event.offsetX - start.event.offsetX, event.offsetY - start.event.offsetY];
    if (!this.hasDragged && Math.hypot(dx, dy) < A_DRAG) return;
    this.hasDragged = true;
    this.hideTip();
    if (start.isBrush) {
      this.view.set({ region: boxBetween(player, start.event, event) });
      return;
    }
    if (!this.view.camera) return;
    const { box } = player;
    const across = (-dx / (box.right - box.left)) * spanOf(start.domain.x);
    const up = ((player.isDown ? -dy : dy) / (box.bottom - box.top)) * spanOf(start.domain.y);
    this.view.set({ camera: movedDomain(start.domain, player.whole, across, up) });
  }

  pinch(before, now) {
    const apart = ([a, b]) => Math.max(20, Math.hypot(a.offsetX - b.offsetX, a.offsetY - b.offsetY));
    const middle = ([a, b]) => [(a.offsetX + b.offsetX) / 2, (a.offsetY + b.offsetY) / 2];
    this.hasDragged = true;
    this.start = null;
    this.player.zoom(apart(before) / apart(now), ...middle(now));
  }

  onUp(event) {
    this.fingers.delete(event.pointerId);
    if (this.start?.isBrush) this.arm(false);
    if (this.fingers.size === 0) this.start = null;
  }

  onClick(event) {
    if (this.hasDragged) return;
    this.view.set({ selected: this.player.clusterAt(event), region: null });
  }

  showTip(event) {
    if (event.pointerType === "touch") return;
    const { player, view, tip, canvas } = this;
    const id = player.clusterAt(event);
    canvas.style.cursor = id === null ? "" : "pointer";
    tip.hidden = id === null;
    if (id === null) return;
    const slot = slotOf(view.batch, id);
    const size = slot < 0 ? "not in this batch" : plural(view.batch.counts[slot], "point");
    tip.replaceChildren(player.looks.badge(id, 14), make("strong", {}, player.store.fullName(id)), ` ${size}`);
    tip.style.left = `${clamp(event.offsetX + 14, 4, canvas.clientWidth - tip.offsetWidth - 4)}px`;
    tip.style.top = `${Math.max(4, event.offsetY - 38)}px`;
  }

  hideTip() {
    this.tip.hidden = true;
  }
}

// The part of the plane between two places of the pointer.
function boxBetween(player, a, b) {
  const [from, to] = [player.fromPixel(a.offsetX, a.offsetY), player.fromPixel(b.offsetX, b.offsetY)];
  const sorted = (axis) => [Math.min(from[axis], to[axis]), Math.max(from[axis], to[axis])];
  return { x: sorted(0), y: sorted(1) };
}
