// SPDX-License-Identifier: Apache-2.0
// The yard's own view of a job's series: one chart a name, one line a run.
//
// What it shows comes from .yard/series, which is GET /jobs/:job/metrics for one who may open
// this app.  Nothing is kept but the choices made here, in the address behind '#'.
"use strict";

(() => {
	const root = document.getElementById("viewer");
	const chinese = document.documentElement.lang.startsWith("zh");
	const words = chinese ? {
		title: (job) => `作业 ${job}`, filter: "筛选指标", smooth: "平滑", log: "对数刻度",
		axis: "横轴", step: "步数", relative: "相对时间", wall: "时间", live: "自动刷新",
		empty: "还没有指标。作业写入后会显示在这里。", none: "没有符合筛选条件的指标。",
		coming: "TensorBoard 正在启动，就绪后会自动切换；此处先显示指标曲线。",
		gone: "登录已失效或应用已结束，请重新打开。", lost: "暂时无法连接，正在重试…",
		other: "还写入了（可在 TensorBoard 中查看）：", times: (n) => `${n} 次`, rest: "其他",
		positive: "没有正值，无法使用对数刻度",
	} : {
		title: (job) => `Job ${job}`, filter: "Filter names", smooth: "Smoothing", log: "Log scale",
		axis: "Axis", step: "Step", relative: "Relative time", wall: "Wall time", live: "Refresh",
		empty: "No series yet. They appear here as the job writes them.", none: "No series has such a name.",
		coming: "TensorBoard is starting; this page changes to it by itself. Until then, the series:",
		gone: "Your login is over, or the app has ended: open it anew.", lost: "Not reachable just now; trying again…",
		other: "Also written (to be seen in TensorBoard):", times: (n) => `${n} times`, rest: "Other",
		positive: "No value above zero to show on a log scale",
	};

	const REFRESH_MS = 5000;
	const WIDTH = 460, HEIGHT = 230, LEFT = 52, RIGHT = 12, TOP = 8, BOTTOM = 24;
	const COLOURS = 8;

	const choices = { smooth: 0.6, log: false, axis: "step", filter: "", live: true, hidden: new Set() };
	let data = { series: [], other: [], problems: [] };

	// ---- small tools ----

	function make(tag, attributes, ...children) {
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

	function show(value) {
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

	function lineOf(series) {
		const points = series.points.filter((p) => typeof p[2] === "number" && isFinite(p[2]) &&
			(!choices.log || p[2] > 0));
		const begun = points.length ? points[0][1] : 0;
		const x = points.map((p) => (choices.axis === "step" ? p[0]
			: choices.axis === "wall" ? p[1] : p[1] - begun));
		const raw = points.map((p) => (choices.log ? Math.log10(p[2]) : p[2]));
		const weight = Math.min(choices.smooth, 0.999);
		return { x, raw, y: weight > 0 ? smoothed(raw, weight) : raw, points, colour: colourOf(series.run),
			run: series.run };
	}

	const runs = () => [...new Set(data.series.map((s) => s.run))].sort();
	const colourOf = (run) => `c${runs().indexOf(run) % COLOURS}`;

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

	function showX(value) {
		if (choices.axis === "relative") return showTime(value);
		if (choices.axis === "wall")
			return new Date(value).toLocaleTimeString(document.documentElement.lang, { hour12: false });
		return value >= 1e4 ? Intl.NumberFormat("en", { notation: "compact" }).format(value) : show(value);
	}

	const showY = (value) => show(choices.log ? 10 ** value : value);

	function frame(svg, box, toX, toY) {
		const values = choices.log ? logTicks(box.low, box.high) : ticks(box.low, box.high, 5);
		for (const t of values)
			svg.append(make("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: toY(t), y2: toY(t) }),
				make("text", { x: LEFT - 6, y: toY(t) + 4, "text-anchor": "end" }, showY(t)));
		const places = choices.axis === "wall" ? ticks(box.left, box.right, 4) : ticks(box.left, box.right, 6);
		for (const t of places)
			svg.append(make("text", { x: toX(t), y: HEIGHT - 7, "text-anchor": "middle" }, showX(t)));
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
	function addPointer(figure, svg, lines, box, toX, toY) {
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
					`${line.run} · ${showX(line.x[i])}`, make("b", {}, show(p[2]))));
			}
			figure.append(tip);
			const left = event.clientX - at.left + 18, room = figure.clientWidth - tip.offsetWidth - 8;
			tip.style.left = `${Math.max(8, left > room ? left - tip.offsetWidth - 20 : left)}px`;
			tip.style.top = "44px";
		});
		return undefined;
	}

	function chart(name, list) {
		const lines = list.filter((s) => !choices.hidden.has(s.run)).map(lineOf).filter((l) => l.x.length);
		const last = list.length === 1 ? show(list[0].last) : "";
		const figure = make("figure", {}, make("figcaption", {},
			make("span", { title: name }, name), make("span", { class: "last" }, last)));
		if (!lines.length) {
			figure.append(make("p", { class: "empty" }, choices.log ? words.positive : "–"));
			return figure;
		}
		const box = bounds(lines);
		const toX = (x) => LEFT + (x - box.left) / (box.right - box.left) * (WIDTH - LEFT - RIGHT);
		const toY = (y) => HEIGHT - BOTTOM - (y - box.low) / (box.high - box.low) * (HEIGHT - TOP - BOTTOM);
		const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": name });
		frame(svg, box, toX, toY);
		for (const line of lines) {
			if (choices.smooth > 0)
				svg.append(make("path", { class: `raw ${line.colour}`, d: path(line.x, line.raw, toX, toY) }));
			svg.append(make("path", { class: `line ${line.colour}`, d: path(line.x, line.y, toX, toY) }));
			if (line.x.length === 1)
				svg.append(make("circle", { class: `point ${line.colour}`, cx: toX(line.x[0]),
					cy: toY(line.y[0]), r: 3.2 }));
		}
		addPointer(figure, svg, lines, box, toX, toY);
		figure.append(svg);
		return figure;
	}

	// ---- the page ----

	const body = make("div", {}), notes = make("div", {});

	function addNote(text, wrong) {
		notes.append(make("p", { class: wrong ? "note wrong" : "note", role: wrong ? "alert" : "status" }, text));
	}

	function drawRuns() {
		const all = runs();
		if (all.length < 2) return;
		body.append(make("div", { class: "runs" }, ...all.map((run) => make("label", { title: run },
			make("input", { type: "checkbox", checked: !choices.hidden.has(run), onchange: (event) => {
				if (event.target.checked) choices.hidden.delete(run); else choices.hidden.add(run);
				draw();
			} }), make("i", { class: `dot ${colourOf(run)}` }), make("span", {}, run)))));
	}

	// "train/loss" stands under "train".
	function groupOf(name) {
		const slash = name.indexOf("/");
		return slash > 0 ? name.slice(0, slash) : words.rest;
	}

	function matches(name) {
		try {
			return new RegExp(choices.filter, "i").test(name);
		} catch (wrong) {
			return name.toLowerCase().includes(choices.filter.toLowerCase());
		}
	}

	function drawCharts() {
		const groups = new Map();
		for (const s of data.series.filter((one) => matches(one.name))) {
			const group = groupOf(s.name);
			if (!groups.has(group)) groups.set(group, new Map());
			const names = groups.get(group);
			names.set(s.name, [...(names.get(s.name) || []), s]);
		}
		if (!groups.size)
			body.append(make("p", { class: "empty" }, data.series.length ? words.none : words.empty));
		const order = [...groups.keys()].sort((a, b) => (a === words.rest) - (b === words.rest) ||
			a.localeCompare(b));
		for (const group of order) {
			const names = [...groups.get(group)].sort((a, b) => a[0].localeCompare(b[0]));
			body.append(make("section", { class: "group" }, ...(order.length > 1 || group !== words.rest
				? [make("h2", {}, group)] : []), make("div", { class: "charts" },
				...names.map(([name, list]) => chart(name, list)))));
		}
	}

	function drawOther() {
		if (!data.other.length) return;
		body.append(make("div", { class: "other" }, words.other, make("ul", {}, ...data.other.slice(0, 50).map((o) =>
			make("li", {}, `${o.name} (${o.kind}, ${words.times(o.count)})`)))));
	}

	function draw() {
		body.replaceChildren();
		drawRuns();
		drawCharts();
		drawOther();
		location.replace("#" + new URLSearchParams({ smooth: choices.smooth, log: choices.log ? 1 : 0,
			axis: choices.axis, filter: choices.filter }));
	}

	function readChoices() {
		const from = new URLSearchParams(location.hash.slice(1)), smooth = parseFloat(from.get("smooth"));
		if (smooth >= 0 && smooth < 1) choices.smooth = smooth;
		choices.log = from.get("log") === "1";
		choices.filter = from.get("filter") || "";
		if (["step", "relative", "wall"].includes(from.get("axis"))) choices.axis = from.get("axis");
	}

	function bar() {
		const value = make("output", {}, String(choices.smooth));
		return make("header", { class: "bar" },
			make("h1", {}, make("span", { class: "brand" }, "Trainyard"), words.title(root.dataset.job)),
			make("label", {}, make("input", { type: "search", placeholder: words.filter, value: choices.filter,
				"aria-label": words.filter, oninput: (e) => { choices.filter = e.target.value; draw(); } })),
			make("label", {}, words.smooth, make("input", { type: "range", min: 0, max: 0.99, step: 0.01,
				value: choices.smooth, oninput: (e) => {
					choices.smooth = Number(e.target.value);
					value.textContent = e.target.value;
					draw();
				} }), value),
			make("label", {}, words.axis, make("select", { onchange: (e) => { choices.axis = e.target.value; draw(); } },
				...["step", "relative", "wall"].map((axis) => make("option", { value: axis,
					selected: axis === choices.axis }, words[axis])))),
			make("label", {}, make("input", { type: "checkbox", checked: choices.log,
				onchange: (e) => { choices.log = e.target.checked; draw(); } }), words.log),
			make("label", {}, make("input", { type: "checkbox", checked: choices.live,
				onchange: (e) => { choices.live = e.target.checked; } }), words.live));
	}

	// ---- news ----

	let shown = "";

	async function refresh() {
		let answer;
		try {
			answer = await fetch(".yard/series?points=600", { headers: { Accept: "application/json" } });
		} catch (unreachable) {
			answer = null;
		}
		notes.replaceChildren();
		if (root.dataset.program === "coming") addNote(words.coming);
		if (!answer || answer.status >= 500) return addNote(words.lost, true);
		if (!answer.ok) return addNote(words.gone, true);
		const text = await answer.text();
		if (text !== shown) {
			shown = text;
			data = JSON.parse(text);
			draw();
		}
		for (const problem of data.problems.slice(0, 3)) addNote(problem, true);
		return undefined;
	}

	// The program that this page stands in for has come up.
	async function lookForProgram() {
		try {
			const answer = await fetch(location.pathname, { headers: { Accept: "application/json" } });
			if (answer.ok && !answer.headers.get("yard-page")) location.reload();
		} catch (unreachable) {
			// the next look will tell
		}
	}

	readChoices();
	root.append(bar(), notes, body);
	refresh();
	setInterval(() => {
		if (document.hidden || !choices.live) return;
		refresh();
		if (root.dataset.program === "coming") lookForProgram();
	}, REFRESH_MS);
})();
