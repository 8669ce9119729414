// Short ways to make elements. Text is always set as text: nothing of the data is read as markup.

const SVG = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function makeSvg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// For those who hear the page.
const unseen = (text) => make("span", { class: "unseen-text" }, text);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// Gives an SVG its size. Where its place becomes narrower, it is squeezed until it is drawn again.
function sizeDrawing(svg, width, height) {
  fill(svg, { width, height, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" }, []);
}

const FRAME = 6; // milliseconds of drawing after which the rest waits for the next frame
const waiting = [];

// Draws what was asked for, the first asked first, and never for so long that the page freezes.
function drawWaiting() {
  const began = performance.now();
  try {
    while (waiting.length && performance.now() - began < FRAME) waiting.shift()();
  } finally {
    if (waiting.length) requestAnimationFrame(drawWaiting);
  }
}

// Calls back at most once for each frame, however often it is asked.
function oncePerFrame(callback) {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    if (!waiting.length) requestAnimationFrame(drawWaiting);
    waiting.push(() => {
      isAsked = false;
      callback();
    });
  };
}

const REST = 120; // milliseconds

// Calls back once nothing was asked for a moment: lists are sorted when a hand rests.
function atRest(callback) {
  let timer = null;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(callback, REST);
  };
}

function watchSize(element, callback) {
  new ResizeObserver(oncePerFrame(callback)).observe(element);
}

// Calls back with the place of the pointer while it is down on the element.
function watchDrag(element, callback) {
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    callback(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) callback(event);
  });
}

// What the server of the page answers, or in `error` why it does not.
async function sendJson(address, body) {
  try {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`api/${address}`, { method: "POST", headers, body: JSON.stringify(body) });
    const told = await answer.json().catch(() => ({})); // A proxy's own page is no JSON.
    return answer.ok ? told : { error: told.error ?? `the server answered ${answer.status}.` };
  } catch {
    return { error: "the server did not answer." };
  }
}

const wantsLessMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
