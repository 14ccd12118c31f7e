// SPDX-License-Identifier: Apache-2.0
// Charts of series, for the pages of the yard: lines over steps or time, and what is under the pointer.
//
// All that is shown goes in as text nodes and attributes: nothing of a job's is ever read as HTML.

const WIDTH = 460, HEIGHT = 230, LEFT = 52, RIGHT = 12, TOP = 8, BOTTOM = 24;
export const COLOURS = 8;

export const chinese = document.documentElement.lang.startsWith("zh");

// ---- small tools ----

export function make(tag, attributes, ...children) {
	const svg = ["svg", "g", "path", "line", "text", "circle", "rect"].includes(tag);
	const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag)
		: document.createElement(tag);
	for (const [key, value] of Object.entries(attributes || {})) {
		if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
		else if (value === true) node.setAttribute(key, "");
		else if (value !== false && value !== null) node.setAttribute(key, value);
	}
	node.append(...children);
	return node;
}

export function show(value) {
	if (typeof value !== "number") return String(value);
	if (value === 0) return "0";
	const size = Math.abs(value);
	if (size >= 1e6 || size < 1e-4) return value.toExponential(2).replace("e+", "e");
	return String(Number(value.toPrecision(size >= 1000 ? 6 : 4)));
}

function showTime(ms) {
	const s = ms / 1000;
	if (s < 90) return `${Number(s.toPrecision(3))}s`;
	if (s < 5400) return `${(s / 60).toFixed(1)}m`;
	return s < 172800 ? `${(s / 3600).toFixed(1)}h` : `${(s / 86400).toFixed(1)}d`;
}

// 1, 2 or 5 times a power of ten, about `count` of them.
function ticks(low, high, count) {
	const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
	const unit = power * [1, 2, 5, 10].find((m) => m * power >= raw);
	const list = [];
	for (let t = Math.ceil(low / unit) * unit; t <= high + unit * 1e-9; t += unit)
		list.push(Math.abs(t) < unit * 1e-9 ? 0 : t);
	return list;
}

// Whole powers of ten; with 2 and 5 times them where that leaves too few.
function logTicks(low, high) {
	if (high - low < 2.5) {
		const fine = [];
		for (let power = Math.floor(low); power <= high; power++)
			for (const times of [1, 2, 5]) fine.push(power + Math.log10(times));
		return fine.filter((t) => t >= low && t <= high);
	}
	const first = Math.floor(low), last = Math.ceil(high);
	const every = Math.max(1, Math.ceil((last - first) / 5)), list = [];
	for (let t = first; t <= last; t += every)
		if (t >= low - 1e-9 && t <= high + 1e-9) list.push(t);
	return list.length >= 2 ? list : ticks(low, high, 4);
}

// ---- numbers to draw ----

// A moving mean that forgets its start, as TensorBoard draws it.
function smoothed(values, weight) {
	let mean = 0, seen = 0;
	return values.map((v) => {
		mean = mean * weight + (1 - weight) * v;
		seen += 1;
		return mean / (1 - weight ** seen);
	});
}

function lineOf(series, view) {
	const points = series.points.filter((p) => typeof p[2] === "number" && isFinite(p[2]) &&
		(!view.log || p[2] > 0));
	const begun = points.length ? points[0][1] : 0;
	const x = points.map((p) => (view.axis === "step" ? p[0] : view.axis === "wall" ? p[1] : p[1] - begun));
	const raw = points.map((p) => (view.log ? Math.log10(p[2]) : p[2]));
	const weight = Math.min(view.smooth, 0.999);
	return { x, raw, y: weight > 0 ? smoothed(raw, weight) : raw, points, run: series.run,
		colour: `c${Math.max(0, view.runs.indexOf(series.run)) % COLOURS}` };
}

function bounds(lines) {
	let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
	for (const line of lines)
		for (let i = 0; i < line.x.length; i++) {
			left = Math.min(left, line.x[i]);
			right = Math.max(right, line.x[i]);
			low = Math.min(low, line.raw[i]);
			high = Math.max(high, line.raw[i]);
		}
	if (left === right) [left, right] = [left - 1, right + 1];
	const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
	return { left, right, low: low - room, high: high + room };
}

// ---- a chart ----

function showX(value, view) {
	if (view.axis === "relative") return showTime(value);
	if (view.axis === "wall")
		return new Date(value).toLocaleTimeString(document.documentElement.lang, { hour12: false });
	return value >= 1e4 ? Intl.NumberFormat("en", { notation: "compact" }).format(value) : show(value);
}

const showY = (value, view) => show(view.log ? 10 ** value : value);

function frame(svg, box, view, toX, toY) {
	const values = view.log ? logTicks(box.low, box.high) : ticks(box.low, box.high, 5);
	for (const t of values)
		svg.append(make("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: toY(t), y2: toY(t) }),
			make("text", { x: LEFT - 6, y: toY(t) + 4, "text-anchor": "end" }, showY(t, view)));
	const places = view.axis === "wall" ? ticks(box.left, box.right, 4) : ticks(box.left, box.right, 6);
	for (const t of places)
		svg.append(make("text", { x: toX(t), y: HEIGHT - 7, "text-anchor": "middle" }, showX(t, view)));
	svg.append(make("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: HEIGHT - BOTTOM,
		y2: HEIGHT - BOTTOM }));
}

function path(xs, ys, toX, toY) {
	return xs.map((x, i) => `${i ? "L" : "M"}${toX(x).toFixed(1)} ${toY(ys[i]).toFixed(1)}`).join("");
}

function nearest(xs, x) {
	let low = 0, high = xs.length - 1;
	while (high - low > 1) {
		const middle = (low + high) >> 1;
		if (xs[middle] < x) low = middle; else high = middle;
	}
	return Math.abs(xs[low] - x) <= Math.abs(xs[high] - x) ? low : high;
}

// A line under the pointer, and what each run has there.
function addPointer(figure, svg, lines, box, view, toX, toY) {
	const marks = make("g", {});
	let tip = null;
	const leave = () => {
		marks.replaceChildren();
		if (tip) tip.remove();
		tip = null;
	};
	svg.append(marks);
	svg.addEventListener("pointerleave", leave);
	svg.addEventListener("pointermove", (event) => {
		const at = svg.getBoundingClientRect();
		const x = (event.clientX - at.left) / at.width * WIDTH;
		if (x < LEFT || x > WIDTH - RIGHT) return leave();
		const value = box.left + (x - LEFT) / (WIDTH - LEFT - RIGHT) * (box.right - box.left);
		leave();
		tip = make("div", { class: "tip" });
		for (const line of lines) {
			const i = nearest(line.x, value), p = line.points[i];
			marks.append(make("line", { class: "here", x1: toX(line.x[i]), x2: toX(line.x[i]), y1: TOP,
				y2: HEIGHT - BOTTOM }), make("circle", { class: `point ${line.colour}`,
				cx: toX(line.x[i]), cy: toY(line.y[i]), r: 3.2 }));
			tip.append(make("p", {}, make("i", { class: `dot ${line.colour}` }),
				`${line.run} · ${showX(line.x[i], view)}`, make("b", {}, show(p[2]))));
		}
		figure.append(tip);
		const left = event.clientX - at.left + 18, room = figure.clientWidth - tip.offsetWidth - 8;
		tip.style.left = `${Math.max(8, left > room ? left - tip.offsetWidth - 20 : left)}px`;
		tip.style.top = "44px";
	});
	return undefined;
}

// view: axis (step, relative, wall), log, smooth (0 to 1), runs (in the order of their colours), hidden
// (a set of those that are not drawn), empty (what is said when nothing can be drawn).
export function chart(name, list, view) {
	const lines = list.filter((s) => !view.hidden.has(s.run)).map((s) => lineOf(s, view)).filter((l) => l.x.length);
	const last = list.length === 1 ? show(list[0].last) : "";
	const figure = make("figure", {}, make("figcaption", {},
		make("span", { title: name }, name), make("span", { class: "last" }, last)));
	if (!lines.length) {
		figure.append(make("p", { class: "empty" }, view.empty));
		return figure;
	}
	const box = bounds(lines);
	const toX = (x) => LEFT + (x - box.left) / (box.right - box.left) * (WIDTH - LEFT - RIGHT);
	const toY = (y) => HEIGHT - BOTTOM - (y - box.low) / (box.high - box.low) * (HEIGHT - TOP - BOTTOM);
	const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": name });
	frame(svg, box, view, toX, toY);
	for (const line of lines) {
		if (view.smooth > 0)
			svg.append(make("path", { class: `raw ${line.colour}`, d: path(line.x, line.raw, toX, toY) }));
		svg.append(make("path", { class: `line ${line.colour}`, d: path(line.x, line.y, toX, toY) }));
		if (line.x.length === 1)
			svg.append(make("circle", { class: `point ${line.colour}`, cx: toX(line.x[0]),
				cy: toY(line.y[0]), r: 3.2 }));
	}
	addPointer(figure, svg, lines, box, view, toX, toY);
	figure.append(svg);
	return figure;
}
