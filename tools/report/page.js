// SPDX-License-Identifier: BSD-2-Clause
"use strict";
// Text comes from the trace, and goes to the page by textContent alone.
const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const find = (id) => document.getElementById(id);

function add(parent, tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent.append(element);
  return element;
}

function bytesInWords(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  for (; bytes >= 999.5 && unit + 1 < units.length; ++unit) bytes /= 1000;
  return `${unit === 0 || bytes >= 99.95 ? bytes.toFixed(0) : bytes.toFixed(1)} ${units[unit]}`;
}
function timeInWords(microseconds) {
  if (microseconds < 1000) return `${+microseconds.toFixed(1)} µs`;
  if (microseconds < 1e6) return `${+(microseconds / 1000).toFixed(2)} ms`;
  return `${+(microseconds / 1e6).toFixed(3)} s`;
}

// Colours: as the system has them, or as the button or the address (#light, #dark) says.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let theme = ["#light", "#dark"].includes(location.hash) ? location.hash.slice(1) : "system";
const onTheme = [];
function showTheme() {
  root.dataset.shown = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  find("theme").textContent = `Colours: ${theme === "system" ? "as the system" : theme}`;
  for (const draw of onTheme) draw();
}
find("theme").addEventListener("click", () => {
  theme = { system: "light", light: "dark", dark: "system" }[theme];
  showTheme();
});
dark.addEventListener("change", showTheme);

function showSummary() {
  find("file").textContent = data.file;
  const [bytes, copies] = data.copied;
  find("summary").textContent = `${timeInWords(data.length)}, ${copies} copies of ${bytesInWords(bytes)} together.`;
  const warn = (text) => add(find("warnings"), "p", text, { class: "warning" });
  if (data.truncated)
    warn("The trace ends too early: the program died, or the disk was full. This is what is there.");
  if (data.left_out > 0) warn(`The timeline shows the longest slices; ${data.left_out} shorter ones are left out.`);
}

function showPairs() {
  const body = find("pairs").tBodies[0];
  const site = (row, name, as) => {
    const cell = add(row, "td", name || "not seen");
    if (as) add(cell, "span", ` ${as}`, { class: "as" });
  };
  for (const [bytes, count, , label, from, to, staleBy, staleAs, askedBy, askedAs] of data.pairs) {
    const row = add(body, "tr");
    add(row, "td", bytesInWords(bytes), { class: "number" });
    add(row, "td", count, { class: "number" });
    add(row, "td", label || "without a label");
    add(row, "td", `${from} → ${to}`);
    site(row, staleBy, staleAs);
    site(row, askedBy, askedAs);
  }
  if (data.pairs.length === 0) add(add(body, "tr"), "td", "Nothing was copied.", { colspan: 6 });
  if (data.more_pairs > 0) find("more-pairs").textContent = `And ${data.more_pairs} more.`;
}

// Of what the program does by a pointer, only the host's time is known.
function leftOut(slices) {
  if (slices === 0) return "";
  return slices === 1 ? "; 1 access or kernel has no time by it" : `; ${slices} accesses or kernels have no time by it`;
}

function showOverlap() {
  const spaces = data.spaces.filter((space) => space.copies > 0);
  for (const space of spaces) {
    const percent = Math.round((100 * space.hidden) / space.copies);
    const line = add(find("overlap"), "p");
    add(line, "meter", `${percent} %`, { min: 0, max: 100, value: percent, "aria-label": `Hidden on ${space.name}` });
    line.append(`${space.name}: ${percent} % of ${timeInWords(space.copies)} of copies hidden behind kernels, by ${space.clock}${leftOut(space.left_out)}`);
  }
  if (spaces.length === 0) add(find("overlap"), "p", data.copied[1] === 0 ? "Nothing was copied." : "No copy took any time.");
}

const drawn = "http://www.w3.org/2000/svg";
function addShape(parent, tag, attributes) {
  const shape = document.createElementNS(drawn, tag);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  parent.append(shape);
  return shape;
}

// The live bytes stay as they are from one point to the next.
function drawMemory(parent, space) {
  const width = 1000, height = 100;
  const x = (at) => (data.length > 0 ? (at / data.length) * width : 0).toFixed(2);
  const y = (bytes) => (height - (bytes / space.peak) * (height - 8)).toFixed(2);
  const words = `Live bytes on ${space.name}: at most ${bytesInWords(space.peak)}, at ${timeInWords(space.peak_at)}`;
  const svg = addShape(parent, "svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": words });
  let line = `0,${height}`, last = height;
  for (const [at, bytes] of space.points) {
    line += ` ${x(at)},${last} ${x(at)},${y(bytes)}`;
    last = y(bytes);
  }
  addShape(svg, "polyline", { points: `${line} ${width},${last}` });
  addShape(svg, "line", { x1: x(space.peak_at), x2: x(space.peak_at), y1: 0, y2: height });
  add(parent, "p", `${words}.`, { class: "note" });
}

function showMemory() {
  const spaces = data.spaces.filter((space) => space.points.length > 0);
  for (const space of spaces) {
    add(find("memory"), "h3", space.name);
    const block = add(find("memory"), "div", undefined, { class: "space" });
    drawMemory(add(block, "div"), space);
    const scroll = add(block, "div", undefined,
      { class: "scroll", tabindex: 0, role: "region", "aria-label": `Peak on ${space.name}` });
    scroll.style.maxHeight = "10rem";
    const table = add(scroll, "table");
    const head = add(add(table, "thead"), "tr");
    add(head, "th", "At the peak", { scope: "col" });
    add(head, "th", "Bytes", { scope: "col", class: "number" });
    const body = add(table, "tbody");
    for (const [label, bytes] of space.labels) {
      const row = add(body, "tr");
      add(row, "td", label || "without a label");
      add(row, "td", bytesInWords(bytes), { class: "number" });
    }
  }
  if (spaces.length === 0) add(find("memory"), "p", "No memory was allocated.");
}
