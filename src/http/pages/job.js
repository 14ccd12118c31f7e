// SPDX-License-Identifier: Apache-2.0
// The page of a job: what it is and how it stands, its metrics (viewer.js), what it uses, its output.
//
// All comes from the API's own answers, below job/, and goes in as text.  While the job lives one
// look follows the other; none waits for the next thing to happen, since a browser opens only six
// connections to one yard.

import { COLOURS, chart, chinese, make } from "./chart.js";
import { Log } from "./log.js";
import "./viewer.js";

const words = chinese ? {
	job: "作业", owner: "所有者", group: "组", attempt: "第几次尝试", exit: "退出码", priority: "优先级",
	submitted: "提交", started: "开始", ended: "结束", waited: (t) => `等待了 ${t}`, after: (t) => `历时 ${t}`,
	running: "已运行", again: "下次尝试", within: (t) => `${t}后`,
	limit: "时限", contract: "契约", code: "代码", labels: "标签", secrets: "密钥", requires: "依赖",
	before: "上一次尝试：", member: "所属数组", members: "数组成员",
	array: (a) => `共 ${a.count} 个，运行中 ${a.running}，已结束 ${a.ended}，失败 ${a.failed}`,
	parameters: "超参数", data: "输入与输出", inputs: "输入", outputs: "输出", own: "作业自己的存储",
	fetch: "取回：", roles: "角色", host: "主机", tasks: "任务", task: "任务", state: "状态", node: "节点", took: "用时", how: "如何结束",
	more: (n) => `还有 ${n} 个`, attempts: "之前的尝试", metrics: "训练指标", use: "资源使用", log: "日志",
	all: "全部任务", last: "最近一次", empty: "还没有输出。", silent: "没有输出。",
	cpu: "CPU（核）", memory: (u) => `内存（${u}）`, pids: "进程数", devices: "设备",
	unused: "还没有测量到资源使用。", live: "实时更新", lost: "暂时无法连接，正在重试…",
	gone: (id) => `登录已失效或作业已删除。请重新打开：yard open ${id}`,
	states: { new: "新建", held: "等待依赖", queued: "排队中", starting: "正在启动", running: "运行中",
		stopping: "正在停止", collecting: "正在收集", settling: "正在收尾", backoff: "等待重试",
		open: "进行中", draining: "正在收尾", succeeded: "成功", failed: "失败", stopped: "已停止",
		idle: "等待", over: "已结束" },
} : {
	job: "Job", owner: "Owner", group: "Group", attempt: "Attempt", exit: "Exit code", priority: "Priority",
	submitted: "Submitted", started: "Started", ended: "Ended", waited: (t) => `waited ${t}`,
	after: (t) => `after ${t}`, running: "Running for", again: "Next try",
	within: (t) => `in ${t}`, limit: "Time limit", contract: "Contract", code: "Code", labels: "Labels",
	secrets: "Secrets", requires: "Requires", before: "The attempt before: ", member: "Member of", members: "Members",
	array: (a) => `${a.count} in all, ${a.running} running, ${a.ended} ended, ${a.failed} failed`,
	parameters: "Hyperparameters", data: "Inputs and outputs", inputs: "Inputs", outputs: "Outputs",
	own: "the job's own storage", fetch: "To get it: ", roles: "Roles",
	host: "the host", tasks: "Tasks", task: "Task",
	state: "State", node: "Node", took: "Took", how: "How it ended", more: (n) => `and ${n} more`,
	attempts: "Attempts before", metrics: "Metrics", use: "Resource use", log: "Log", all: "all tasks",
	last: "the last", empty: "No output yet.", silent: "No output.",
	cpu: "CPU (cores)", memory: (u) => `Memory (${u})`, pids: "Processes", devices: "Devices",
	unused: "Nothing was measured yet.", live: "live", lost: "Not reachable just now; trying again…",
	gone: (id) => `Your login is over, or the job was deleted. Open it anew: yard open ${id}`,
	states: {},
};

const LOOK_MS = 2000, USE_MS = 6000, AWAY_MS = 60000, TASKS_SHOWN = 200, LINES_TASKS = 8, LOG_TASKS = 64;
const root = document.getElementById("job"), viewer = document.getElementById("viewer"), id = root.dataset.job;
const language = document.documentElement.lang;
let job = null, skew = 0; // skew: the yard's clock less ours

// ---- small tools ----

const now = () => Date.now() + skew;
const word = (w) => words.states[w] || w;
const pad = (n) => String(n).padStart(2, "0");

function span(ms) {
	const s = Math.max(0, Math.floor(ms / 1000)), m = Math.floor(s / 60), h = Math.floor(m / 60);
	if (s < 60) return `${s}s`;
	if (m < 60) return `${m}m ${pad(s % 60)}s`;
	return h < 48 ? `${h}h ${pad(m % 60)}m` : `${Math.floor(h / 24)}d ${h % 24}h`;
}

const time = (ms) => new Date(ms).toLocaleString(language, { dateStyle: "medium", timeStyle: "medium", hour12: false });

function taskName(task) {
	const role = job.spec.roles.find((r) => r.name === task.role);
	return role && role.count > 1 ? `${task.role}-${task.index}` : task.role;
}

// Near enough to what a shell would take to be read.
function commandOf(role) {
	if (!Array.isArray(role.command)) return role.command || "";
	return role.command.map((a) => (/^[\w@%+=:,./-]+$/.test(a) ? a : `'${a.replaceAll("'", "'\\''")}'`)).join(" ");
}

function section(title, ...children) {
	return make("section", { class: "panel" }, make("h2", {}, title), ...children);
}

function table(heads, rows) {
	return make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {},
		...heads.map((h) => make("th", {}, h)))), make("tbody", {}, ...rows.map((cells) => make("tr", {},
		...cells.map((cell) => make("td", {}, cell ?? "")))))));
}

const code = (text) => make("code", {}, text);
const chip = (w) => make("span", { class: `chip ${w}` }, word(w));

// name: value, for values that are there
function facts(pairs) {
	return make("dl", {}, ...pairs.filter(([, value]) => value).flatMap(([name, value]) =>
		[make("dt", {}, name), make("dd", {}, ...(Array.isArray(value) ? value : [String(value)]))]));
}

const listed = (object, between) => Object.entries(object || {}).flatMap(([key, value]) =>
	[make("div", {}, code(`${key}${between}${typeof value === "string" ? value : JSON.stringify(value)}`))]);

// ---- what it is ----

const tick = make("span", {}); // grows by itself
let growing = [];              // and so do these: [node, since]

function headline() {
	const ended = job.state === "ended", w = ended ? job.outcome : job.state;
	const why = ended ? null : job.progress || job.why || job.state_words;
	document.title = `${job.name} · ${word(w)} · Trainyard`;
	return make("header", { class: "top" },
		make("p", { class: "brand" }, `Trainyard · ${words.job} ${job.id}`),
		make("h1", {}, make("span", {}, job.name), chip(w), ...(ended ? []
			: [make("span", { class: "live", title: words.live })])),
		...(why ? [make("p", { class: "why" }, why)] : []),
		...(job.reason ? [make("p", { class: ended && w !== "succeeded" ? "why wrong" : "why" },
			ended ? job.reason : `${words.before}${job.reason}`)] : []));
}

function times() {
	const live = job.started_ms && ["starting", "running", "stopping"].includes(job.state);
	return [
		[words.submitted, job.submitted_ms && time(job.submitted_ms)],
		[words.started, job.started_ms && [`${time(job.started_ms)} (`,
			words.waited(span(job.started_ms - job.submitted_ms)), ")"]],
		[words.running, live && [tick]],
		[words.ended, job.ended_ms && time(job.ended_ms) + (job.started_ms
			? ` (${words.after(span(job.ended_ms - job.started_ms))})` : "")],
		[words.again, job.state === "backoff" && job.retry_at_ms > now() &&
			words.within(span(job.retry_at_ms - now()))],
	];
}

function about() {
	const s = job.spec, requirements = Array.isArray(s.requirements) ? s.requirements : [];
	return section(words.job, facts([
		[words.owner, job.owner], [words.group, job.group], ...times(),
		[words.attempt, job.attempt > 1 && job.attempt],
		[words.exit, job.state === "ended" && job.outcome !== "succeeded" && String(job.exit_code)],
		[words.priority, job.priority || null], [words.limit, s["time-limit"]], [words.contract, s.contract],
		[words.member, job.array_id && `${job.array_id}.${job.index}`],
		[words.members, job.array && words.array(job.array)],
		[words.code, s.code && [code(/^[0-9a-f]{64}$/.test(s.code) ? s.code.slice(0, 12) : s.code)]],
		[words.requires, requirements.length && requirements.map((r) => make("div", {}, code(r)))],
		[words.labels, Object.keys(s.labels || {}).length && listed(s.labels, " = ")],
		[words.secrets, s.secrets && s.secrets.map((x) => make("div", {}, code(`${x.env || x.file} (${x.name})`)))],
	]));
}

function needs(role) {
	const r = role.resources || {};
	return [`${r.cpu} CPU`, r.memory, ...Object.entries(r.devices || {}).map(([type, n]) => `${n} ${type}`)]
		.filter(Boolean).join(", ");
}

function roles() {
	return section(words.roles, ...job.spec.roles.map((r) => make("div", { class: "role" },
		make("p", {}, make("b", {}, r.name), ` × ${r.min ? `${r.min}–` : ""}${r.count} · ${needs(r)} · `,
			r.image || words.host), make("pre", { class: "command" }, commandOf(r)))));
}

function parameters() {
	const all = Object.entries(job.spec.hyperparameters || {});
	return all.length ? section(words.parameters, facts(all.map(([name, value]) =>
		[name, [code(typeof value === "string" ? value : JSON.stringify(value))]]))) : null;
}

function data() {
	const outputs = (job.outputs || []).map((o) => [o.name, [make("div", {}, code(o.path || words.own)),
		...(job.attempt && !job.array ? [make("div", { class: "soft" }, words.fetch,
			make("code", { class: "copy" }, `yard cp -r yard:/jobs/${job.id}/${o.name} .`))] : [])]]);
	const inputs = Object.entries(job.spec.inputs || {}).map(([name, uri]) => [name, [code(uri)]]);
	if (!outputs.length && !inputs.length) return null;
	return section(words.data, ...(inputs.length ? [make("h3", {}, words.inputs), facts(inputs)] : []),
		...(outputs.length ? [make("h3", {}, words.outputs), facts(outputs)] : []));
}

function devicesOf(task) {
	return Object.entries(task.devices || {}).map(([type, list]) => `${type} ${list.join(",")}`).join("; ");
}

function took(task) {
	const node = make("span", {}, task.started_ms ? span((task.ended_ms || now()) - task.started_ms) : "");
	if (task.state === "running") growing.push([node, task.started_ms]);
	return node;
}

function tasks() {
	if (job.array || !job.tasks.length) return null;
	const bad = (t) => t.exit && (t.exit.kind !== "code" || t.exit.code !== 0);
	const shown = [...job.tasks].sort((a, b) => bad(b) - bad(a) || a.rank - b.rank).slice(0, TASKS_SHOWN);
	const devices = job.tasks.some(devicesOf);
	const rows = shown.map((t) => [String(t.rank), taskName(t), chip(bad(t) ? "failed" : t.state), t.node,
		...(devices ? [devicesOf(t)] : []), took(t),
		t.exit ? make("span", { class: bad(t) ? "wrong" : "" }, t.exit.words) : ""]);
	const rest = job.tasks.length - shown.length;
	return section(words.tasks, table(["#", words.task, words.state, words.node,
		...(devices ? [words.devices] : []), words.took, words.how], rows), ...(rest ? [make("p", { class: "soft" }, words.more(rest))] : []));
}

let retries = []; // of the job's history

function attempts() {
	if (!retries.length) return null;
	return section(words.attempts, table(["#", words.ended, words.how], retries.map((e) =>
		[String(e.body.attempt), time(e.time_ms), make("span", { class: "wrong" }, e.body.text || "")])));
}

// ---- what it uses ----

const use = new Map(); // by rank: samples
const useBody = make("div", { class: "charts" }), useRuns = make("div", { class: "runs" });

function rates(samples, rank, value) {
	const points = samples.map((s, i) => [i, s[0], value(s, samples[i - 1])]).filter((p) => p[2] !== null);
	return { run: taskName(job.tasks[rank]), points, last: points.length ? points.at(-1)[2] : "" };
}

function drawUse() {
	const all = [...use].filter(([rank, samples]) => samples.length && job.tasks[rank]);
	const most = Math.max(0, ...all.flatMap(([, samples]) => samples.map((s) => s[2])));
	const [unit, size] = most >= 1 << 30 ? ["GiB", 1 << 30] : ["MiB", 1 << 20];
	const view = { axis: "wall", log: false, smooth: 0, hidden: new Set(), empty: "–",
		runs: all.map(([rank]) => taskName(job.tasks[rank])) };
	const one = (name, value) => chart(name, all.map(([rank, samples]) => rates(samples, rank, value)), view);
	useRuns.replaceChildren(...(all.length > 1 ? view.runs.map((run, i) => make("label", {},
		make("i", { class: `dot c${i % COLOURS}` }), make("span", {}, run))) : []));
	useBody.replaceChildren(...(all.length ? [
		one(words.cpu, (s, before) => (before && s[0] > before[0] && s[1] >= before[1]
			? (s[1] - before[1]) / (s[0] - before[0]) : null)),
		one(words.memory(unit), (s) => s[2] / size), one(words.pids, (s) => s[3])]
		: [make("p", { class: "empty" }, words.unused)]));
}

async function lookAtUse() {
	for (const task of job.array ? [] : job.tasks.slice(0, LINES_TASKS)) {
		const answer = await ask(`usage?task=${task.rank}`);
		if (answer && answer.ok) use.set(task.rank, (await answer.json()).samples);
	}
	drawUse();
	used.hidden = Boolean(job.array) || (job.state === "ended" && !useBody.querySelector("figure"));
}

// ---- what it says ----

const logBox = make("div", { class: "log", tabindex: 0, role: "log", "aria-label": words.log });
const logEmpty = make("p", { class: "soft" });
const taskChoice = make("select", { "aria-label": words.task, onchange: () => log.reset() });
const attemptChoice = make("select", { "aria-label": words.attempt, onchange: () => log.reset() });
const names = [];
const log = new Log(logBox, names);

function logChoices() {
	const many = job.tasks.length > 1, options = [...taskChoice.options].length;
	if (many && options !== job.tasks.length + (job.tasks.length <= LOG_TASKS)) {
		job.tasks.forEach((t) => { names[t.rank] = taskName(t); });
		taskChoice.replaceChildren(...(job.tasks.length <= LOG_TASKS ? [make("option", { value: "all" }, words.all)] : []),
			...job.tasks.map((t) => make("option", { value: t.rank }, taskName(t))));
	}
	if (attemptChoice.options.length !== job.attempt + 1)
		attemptChoice.replaceChildren(make("option", { value: "" }, `${words.attempt}: ${words.last}`),
			...Array.from({ length: job.attempt }, (_, i) => make("option", { value: i + 1 }, `${words.attempt} ${i + 1}`)));
	taskChoice.hidden = !many;
	attemptChoice.hidden = job.attempt < 2;
}

async function lookAtLog() {
	if (job.array || !job.attempt) return;
	logChoices();
	const turn = log.turn;
	const answer = await ask(`logs?${log.query(taskChoice.value || "all", attemptChoice.value)}`);
	if (answer && answer.ok) await log.take(answer, turn);
	logEmpty.textContent = logBox.childElementCount ? "" : job.state === "ended" ? words.silent : words.empty;
	logBox.hidden = !logBox.childElementCount;
}

// ---- the page ----

const notes = make("div", {}), top = make("div", {}), lists = make("div", { class: "columns" });
const below = make("div", {});
const metrics = section(words.metrics, viewer), used = section(words.use, useRuns, useBody);
const said = section(words.log, make("p", { class: "choices" }, taskChoice, attemptChoice), logEmpty, logBox);
let lost = "", shown = "";

function note(text) {
	if (text === lost) return;
	lost = text;
	notes.replaceChildren(...(text ? [make("p", { class: "note wrong", role: "alert" }, text)] : []));
}

// null: not reachable, or no more for us: it was said.
async function ask(what) {
	try {
		const answer = await fetch(`job/${what}`, { headers: { Accept: "application/json" } });
		if (answer.status === 401 || answer.status === 404) note(words.gone(id));
		else note(answer.status >= 500 ? words.lost : "");
		return answer;
	} catch (unreachable) {
		note(words.lost);
		return null;
	}
}

function draw() {
	growing = [[tick, job.started_ms]];
	top.replaceChildren(headline());
	lists.replaceChildren(make("div", {}, about(), ...[parameters()].filter(Boolean)),
		make("div", {}, ...[roles(), tasks(), attempts(), data()].filter(Boolean)));
	for (const part of [metrics, said]) part.hidden = Boolean(job.array);
	drawTick();
}

function drawTick() {
	for (const [node, since] of growing) node.textContent = span(now() - since);
}

async function lookAtJob() {
	const answer = await ask("job");
	if (!answer || !answer.ok) return;
	const date = Date.parse(answer.headers.get("date") || "");
	if (!isNaN(date) && Math.abs(date - Date.now()) > 5000) skew = date - Date.now();
	const text = await answer.text(), attempt = job && job.attempt;
	if (text === shown) return;
	shown = text;
	job = JSON.parse(text);
	if (job.attempt > 1 && job.attempt !== attempt) {
		const events = await ask("events");
		if (events && events.ok) retries = (await events.json()).events.filter((e) => e.kind === "retry");
	}
	if (job.state === "ended") viewer.dataset.over = "yes";
	draw();
}

let usedAt = -Infinity, over = false;

async function look() {
	const choice = () => `${taskChoice.value} ${attemptChoice.value}`, before = choice();
	if (!document.hidden && !over) {
		await lookAtJob();
		const ended = job && job.state === "ended"; // asked before the log: what it said last is there
		if (job) await lookAtLog();
		if (job && (ended || Date.now() - usedAt >= USE_MS)) {
			usedAt = Date.now();
			await lookAtUse();
		}
		over = Boolean(ended) && !lost && choice() === before && Boolean(log.begun || job.array || !job.attempt);
	} else if (over && !log.begun) {
		await lookAtLog(); // another task or attempt was chosen
	}
	setTimeout(look, LOOK_MS);
}

root.append(notes, top, lists, below);
below.append(metrics, used, said);
setInterval(drawTick, 1000);
// Who comes back after a while sees the end of the log, not all that was said meanwhile.
let left = Infinity;
document.addEventListener("visibilitychange", () => {
	if (document.hidden) left = Date.now();
	else if (!over && Date.now() - left > AWAY_MS) log.reset();
});
look();
