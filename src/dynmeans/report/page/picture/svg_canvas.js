// What the picture needs of a canvas, written down as SVG.

class SvgPath {
  constructor() {
    this.parts = [];
  }

  moveTo(x, y) {
    this.parts.push(`M${short(x)} ${short(y)}`);
  }

  lineTo(x, y) {
    this.parts.push(`${this.parts.length ? "L" : "M"}${short(x)} ${short(y)}`);
  }

  // Whole circles only.
  arc(x, y, radius) {
    const half = (to) => `A${short(radius)} ${short(radius)} 0 1 0 ${short(to)} ${short(y)}`;
    this.parts.push(`M${short(x + radius)} ${short(y)}${half(x - radius)}${half(x + radius)}Z`);
  }

  rect(x, y, width, height) {
    this.parts.push(`M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`);
  }

  closePath() {
    this.parts.push("Z");
  }

  get d() {
    return this.parts.join("");
  }
}

class SvgCanvas {
  constructor(width, height, background) {
    this.isVector = true;
    this.svg = makeSvg("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` });
    this.svg.append(makeSvg("rect", { width, height, fill: background }));
    this.group = this.svg;
    this.groups = [];
    this.nClips = 0;
    Object.assign(this, { globalAlpha: 1, lineWidth: 1, lineCap: "butt", lineJoin: "miter", dash: [] });
    Object.assign(this, { textAlign: "left", textBaseline: "alphabetic", font: "12px sans-serif" });
  }

  newPath() {
    return new SvgPath();
  }

  beginPath() {
    this.path = new SvgPath();
  }

  moveTo(x, y) {
    this.path.moveTo(x, y);
  }

  lineTo(x, y) {
    this.path.lineTo(x, y);
  }

  rect(...box) {
    this.path.rect(...box);
  }

  closePath() {
    this.path.closePath();
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  save() {
    this.groups.push(this.group);
  }

  restore() {
    this.group = this.groups.pop();
  }

  // Each of these opens a group within the one there is, until it is restored.
  enter(attributes) {
    const group = makeSvg("g", attributes);
    this.group.append(group);
    this.group = group;
  }

  translate(x, y) {
    this.enter({ transform: `translate(${short(x)} ${short(y)})` });
  }

  rotate(angle) {
    this.enter({ transform: `rotate(${short((angle * 180) / Math.PI)})` });
  }

  clip() {
    this.nClips += 1;
    const id = `clip-${this.nClips}`;
    this.svg.append(makeSvg("clipPath", { id }, makeSvg("path", { d: this.path.d })));
    this.enter({ "clip-path": `url(#${id})` });
  }

  fill(path = this.path) {
    this.group.append(makeSvg("path", { d: path.d, fill: this.fillStyle, "fill-opacity": short(this.globalAlpha) }));
  }

  stroke(path = this.path) {
    this.group.append(makeSvg("path", { d: path.d, fill: "none", ...this.strokeLook() }));
  }

  strokeLook() {
    return {
      stroke: this.strokeStyle,
      "stroke-opacity": short(this.globalAlpha),
      "stroke-width": this.lineWidth,
      "stroke-linecap": this.lineCap,
      "stroke-linejoin": this.lineJoin,
      "stroke-dasharray": this.dash.length ? this.dash.join(" ") : null,
    };
  }

  text(words, x, y, look) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const baseline = this.textBaseline === "middle" ? "central" : null;
    const [, weight, size, family] = this.font.match(/^(?:(\d+) )?(\S+) (.*)$/);
    const style = { "font-family": family, "font-size": size, "font-weight": weight };
    this.group.append(makeSvg("text", { x: short(x), y: short(y), "text-anchor": anchor, "dominant-baseline": baseline, ...style, ...look }, words));
  }

  fillText(words, x, y) {
    this.text(words, x, y, { fill: this.fillStyle, "fill-opacity": short(this.globalAlpha) });
  }

  strokeText(words, x, y) {
    this.text(words, x, y, { fill: "none", ...this.strokeLook() });
  }

  toString() {
    return new XMLSerializer().serializeToString(this.svg);
  }
}

const short = (value) => Number(value.toFixed(2));
