// SPDX-License-Identifier: BSD-2-Clause

// The timeline: a row for each track, of which the first ones are drawn.
const kinds = ["copy", "kernel", "access", "call", "wait", "mark"];
const kindsInWords = ["copy", "kernel", "access by a program's own work", "call", "wait", "prefetch, eviction"];
const [BEGIN, LENGTH, KIND, NAME, DETAILS] = [1, 2, 3, 4, 5]; // of a slice; 0 is its track
const most = 200, rowHeight = 22, gutter = 165, axis = 20;
const canvas = find("timeline"), frame = find("tracks"); // the frame scrolls where there are many rows
const tracks = data.tracks.map(([space, name], number) => ({ space, name, number, slices: [] }));
for (const slice of data.slices) tracks[slice[0]].slices.push(slice);
const rows = tracks.filter((track) => track.slices.length > 0)
  .sort((a, b) => a.space.localeCompare(b.space) || a.number - b.number);
rows.forEach((track, row) => { track.row = row; });
const shown = rows.slice(0, most);
const order = data.slices.filter((slice) => tracks[slice[0]].row < most);
const whole = Math.max(data.length, 0.001);
const view = { begin: 0, length: whole };
let selected = -1; // in `order`

function colour(name) {
  return getComputedStyle(root).getPropertyValue(`--${name}`).trim();
}
function xOf(at) {
  return gutter + ((at - view.begin) / view.length) * (canvas.clientWidth - gutter);
}
function timeAt(x) {
  return view.begin + ((x - gutter) / (canvas.clientWidth - gutter)) * view.length;
}

// A slice takes a pixel at least; of those that fall on one pixel the first, which is the longest, is drawn. One within another
// has an outline.
function drawSlices(pen, track, colours) {
  const top = axis + track.row * rowHeight + 3, right = canvas.clientWidth;
  const painted = kinds.map(() => -1);
  for (const slice of track.slices) {
    const from = Math.max(xOf(slice[BEGIN]), gutter), to = Math.min(xOf(slice[BEGIN] + slice[LENGTH]), right);
    if (to < gutter || from > right) continue;
    const width = Math.max(to - from, 1.5), before = painted[slice[KIND]];
    if (to - from < 1.5 && from + width <= before + 0.5) continue;
    painted[slice[KIND]] = Math.max(from + width, before);
    pen.fillStyle = colours[slice[KIND]];
    pen.fillRect(from, top, width, rowHeight - 6);
    if (from < before - 0.5) {
      pen.strokeStyle = colour("back");
      pen.strokeRect(from + 0.5, top + 0.5, width - 1, rowHeight - 7);
    }
    if (width < 50) continue;
    pen.save();
    pen.beginPath();
    pen.rect(from, top, width - 4, rowHeight);
    pen.clip();
    pen.fillStyle = colour("back");
    pen.fillText(data.texts[slice[NAME]], from + 4, top + 12);
    pen.restore();
  }
}

function drawFlows(pen) {
  const seen = data.flows.filter(([from, begin, to, end]) =>
    tracks[from].row < most && tracks[to].row < most && end >= view.begin && begin <= view.begin + view.length);
  if (seen.length > 300) return; // zoom in to see them
  pen.strokeStyle = colour("wait");
  for (const [from, begin, to, end] of seen) {
    const x1 = Math.max(xOf(begin), gutter), x2 = Math.max(xOf(end), gutter);
    const y1 = axis + (tracks[from].row + 0.5) * rowHeight, y2 = axis + (tracks[to].row + 0.5) * rowHeight;
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2);
    pen.stroke();
  }
}

// The times that the axis names.
function* ticks() {
  const power = 10 ** Math.floor(Math.log10(view.length / 8));
  const step = power * [1, 2, 5, 10].find((times) => times * power * 8 >= view.length);
  for (let at = Math.ceil(view.begin / step) * step; at <= view.begin + view.length; at += step) {
    yield at;
    if (at + step === at) break; // beyond what numbers tell apart
  }
}

function drawGrid(pen) {
  pen.strokeStyle = colour("line");
  for (const at of ticks()) {
    pen.beginPath();
    pen.moveTo(xOf(at), axis - 4);
    pen.lineTo(xOf(at), canvas.clientHeight);
    pen.stroke();
  }
}

// Above the rows that the frame shows.
function drawAxis(pen) {
  pen.fillStyle = colour("back");
  pen.fillRect(0, frame.scrollTop, canvas.clientWidth, axis - 4);
  pen.fillStyle = colour("faint");
  for (const at of ticks()) pen.fillText(timeInWords(at), xOf(at) + 3, frame.scrollTop + 12);
}

function drawNames(pen) {
  pen.fillStyle = colour("panel");
  pen.fillRect(0, 0, gutter, canvas.clientHeight);
  pen.fillStyle = colour("text");
  for (const track of shown) {
    const name = `${track.space}, ${track.name || "memory"}`;
    pen.fillText(name, 6, axis + track.row * rowHeight + 15, gutter - 10);
  }
}

function draw() {
  const scale = window.devicePixelRatio || 1;
  canvas.style.height = `${axis + Math.max(shown.length, 1) * rowHeight + 4}px`;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = colour("back");
  pen.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  drawGrid(pen);
  const colours = kinds.map(colour);
  for (const track of shown) drawSlices(pen, track, colours);
  drawFlows(pen);
  if (selected >= 0) {
    const slice = order[selected];
    pen.strokeStyle = colour("text");
    pen.lineWidth = 2;
    pen.strokeRect(xOf(slice[BEGIN]), axis + tracks[slice[0]].row * rowHeight + 2,
      Math.max(xOf(slice[BEGIN] + slice[LENGTH]) - xOf(slice[BEGIN]), 3), rowHeight - 4);
  }
  drawNames(pen);
  drawAxis(pen);
}

function setView(begin, length) {
  view.length = Math.min(Math.max(length, 0.001), whole);
  view.begin = Math.min(Math.max(begin, 0), whole - view.length);
  draw();
}
function zoom(factor, at = view.begin + view.length / 2) {
  setView(at - (at - view.begin) * factor, view.length * factor);
}

function showDetails(slice) {
  const list = find("details");
  list.replaceChildren();
  list.tabIndex = 0; // keys scroll it
  const say = (name, value) => {
    add(list, "dt", name);
    add(list, "dd", value);
  };
  const track = tracks[slice[0]];
  say(kindsInWords[slice[KIND]], data.texts[slice[NAME]]);
  say("where", `${track.space}, ${track.name || "memory"}`);
  say("when", `${timeInWords(slice[BEGIN])}, for ${timeInWords(slice[LENGTH])}`);
  for (const line of data.texts[slice[DETAILS]].split("\n")) {
    const [name, ...value] = line.split("\t");
    if (name !== "" && name !== "label") say(name.replace("_", " "), name === "bytes" ? bytesInWords(+value[0]) : value.join("\t"));
  }
}
// Scrolls the frame to a row, and the page to the frame.
function reveal(row) {
  const top = row * rowHeight, bottom = top + axis + rowHeight;
  frame.scrollTop = Math.max(Math.min(frame.scrollTop, top), bottom - frame.clientHeight);
  frame.scrollIntoView({ block: "nearest" });
}
function select(number) {
  if (order.length === 0) return;
  selected = Math.min(Math.max(number, 0), order.length - 1);
  const slice = order[selected];
  showDetails(slice);
  const outside = slice[BEGIN] < view.begin || slice[BEGIN] > view.begin + view.length;
  if (outside) setView(slice[BEGIN] - view.length / 4, view.length);
  else draw();
  reveal(tracks[slice[0]].row);
}

const actions = {
  left: () => setView(view.begin - view.length / 5, view.length),
  right: () => setView(view.begin + view.length / 5, view.length),
  in: () => zoom(0.6),
  out: () => zoom(1 / 0.6),
  all: () => setView(0, whole),
  next: () => select(selected + 1),
  previous: () => select(selected - 1),
};
const keys = {
  ArrowLeft: "left", ArrowRight: "right", ArrowUp: "in", ArrowDown: "out", "+": "in", "-": "out", Home: "all", n: "next", p: "previous",
};
canvas.addEventListener("keydown", (event) => {
  if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
  actions[keys[event.key]]();
  event.preventDefault();
});
for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => actions[button.dataset.do]());
canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  zoom(event.deltaY < 0 ? 0.8 : 1.25, timeAt(event.offsetX));
  event.preventDefault();
}, { passive: false });

let grabbed = null;
canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  grabbed = { x: event.offsetX, begin: view.begin, moved: false };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointercancel", () => {
  grabbed = null;
});
canvas.addEventListener("pointermove", (event) => {
  if (grabbed === null) return;
  grabbed.moved = grabbed.moved || Math.abs(event.offsetX - grabbed.x) > 3;
  if (grabbed.moved) setView(grabbed.begin + timeAt(grabbed.x) - timeAt(event.offsetX), view.length);
});
canvas.addEventListener("pointerup", (event) => {
  const clicked = grabbed !== null && !grabbed.moved;
  grabbed = null;
  if (!clicked || event.offsetY < frame.scrollTop + axis - 4) return; // the axis, which may lie over a row
  const at = timeAt(event.offsetX), row = Math.floor((event.offsetY - axis) / rowHeight), near = (2 * view.length) / canvas.clientWidth;
  const hit = order.findLastIndex((slice) =>
    tracks[slice[0]].row === row && slice[BEGIN] <= at + near && at <= slice[BEGIN] + slice[LENGTH] + near);
  if (hit >= 0) select(hit);
});

kinds.forEach((kind, number) => {
  const item = add(find("legend"), "li");
  add(item, "i").style.background = `var(--${kind})`;
  item.append(kindsInWords[number]);
});
if (rows.length > most) add(find("warnings"), "p", `Of ${rows.length} tracks the first ${most} are drawn.`, { class: "warning" });
showSummary();
showPairs();
showOverlap();
showMemory();
onTheme.push(draw);
showTheme();
window.addEventListener("resize", draw);
frame.addEventListener("scroll", draw);
root.dataset.ready = "yes";
