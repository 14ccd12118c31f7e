// SPDX-License-Identifier: Apache-2.0
// The yard's own view of a job's series: one chart a name, one line a run.
//
// What it shows comes from .yard/series, which is GET /jobs/:job/metrics for one who may open
// this app.  Nothing is kept but the choices made here, in the address behind '#'.  On the page
// of a job (job.js) it is one part of several.
import { COLOURS, chart, chinese, make } from "./chart.js";

(() => {
	const root = document.getElementById("viewer");
	const part = "series" in root.dataset; // of the page of a job, which says where to ask
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

	const choices = { smooth: 0.6, log: false, axis: "step", filter: "", live: true, hidden: new Set() };
	let data = { series: [], other: [], problems: [] };

	// ---- the page ----

	const runs = () => [...new Set(data.series.map((s) => s.run))].sort();
	const colourOf = (run) => `c${runs().indexOf(run) % COLOURS}`;

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
		const view = { ...choices, runs: runs(), empty: choices.log ? words.positive : "–" };
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
				...names.map(([name, list]) => chart(name, list, view)))));
		}
	}

	function drawOther() {
		if (!data.other.length) return;
		body.append(make("div", { class: "other" }, words.other, make("ul", {}, ...data.other.slice(0, 50).map((o) =>
			make("li", {}, `${o.name} (${o.kind}, ${words.times(o.count)})`)))));
	}

	function draw() {
		body.replaceChildren();
		root.classList.toggle("nothing", !data.series.length);
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
			...(part ? [] : [make("h1", {}, make("span", { class: "brand" }, "Trainyard"),
				words.title(root.dataset.job))]),
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
			answer = await fetch(`${root.dataset.series || ".yard/series"}?points=600`,
				{ headers: { Accept: "application/json" } });
		} catch (unreachable) {
			answer = null;
		}
		notes.replaceChildren();
		if (root.dataset.program === "coming") addNote(words.coming);
		if (part && !(answer && answer.ok)) return undefined; // the page itself says it
		if (!answer || answer.status >= 500) return addNote(words.lost, true);
		if (!answer.ok) return addNote(words.gone, true);
		const text = await answer.text();
		if (text + root.dataset.over !== shown) {
			shown = text + root.dataset.over;
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
		if (document.hidden || !choices.live || shown.endsWith("yes")) return;
		refresh();
		if (root.dataset.program === "coming") lookForProgram();
	}, REFRESH_MS);
})();
