// SPDX-License-Identifier: Apache-2.0
// A job's output, read on from where the last look ended, task by task.
//
// The answer is a row of records, each with the place behind it, so that nothing is lost or
// shown twice; what is kept here is bounded, and so is what one look may bring.

import { make } from "./chart.js";

const HEAD = 32; // rank, attempt, offset; then magic, stream, length, time: see docs/api.md
const TAIL = 500, LINES_MAX = 5000, LINE_MAX = 16384, BYTES_MAX = 4 << 20;
const NOTE = 3;
// Colours and moves of a terminal.
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;

export class Log {
	// names: what a task is called, by its rank; none when there is one task only.
	constructor(box, names) {
		this.box = box;
		this.names = names;
		this.reset();
	}

	reset() {
		this.place = new Map(); // by rank
		this.open = new Map();  // unfinished lines, by rank and stream
		this.attempt = 0;
		this.begun = false;
		this.turn = (this.turn || 0) + 1; // answers to what was asked before are dropped
		this.box.replaceChildren();
	}

	query(task, attempt) {
		const from = [...this.place].map(([rank, offset]) => `${rank}:${this.attempt}:${offset}`);
		const query = new URLSearchParams({ format: "frames" });
		if (task !== "all") query.set("task", task);
		if (attempt) query.set("attempt", attempt);
		if (!this.begun) query.set("tail", TAIL);
		else if (from.length) query.set("from", from.join(","));
		return query;
	}

	// The answer to a query of that turn.  When there is too much it begins anew at the tail.
	async take(answer, turn) {
		const reader = answer.body.getReader();
		let rest = new Uint8Array(0), bytes = 0;
		const bottom = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 40;
		for (;;) {
			const { done, value } = await reader.read();
			if (done) break;
			bytes += value.length;
			if (turn !== this.turn || (this.begun && bytes > BYTES_MAX)) {
				await reader.cancel();
				if (turn === this.turn) this.reset();
				return;
			}
			const all = new Uint8Array(rest.length + value.length);
			all.set(rest);
			all.set(value, rest.length);
			rest = all.subarray(this.records(all));
		}
		this.begun = true;
		while (this.box.childElementCount > LINES_MAX) this.box.firstElementChild.remove();
		if (bottom) this.box.scrollTop = this.box.scrollHeight;
	}

	// How many bytes were whole records.
	records(all) {
		const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
		let at = 0;
		while (at + HEAD <= all.length) {
			const length = view.getUint32(at + 20, true);
			if (at + HEAD + length > all.length) break;
			const attempt = view.getUint32(at + 4, true), rank = view.getUint32(at, true);
			if (attempt !== this.attempt) {
				this.place.clear();
				this.open.clear();
				this.attempt = attempt;
			}
			this.place.set(rank, view.getBigUint64(at + 8, true));
			this.add(rank, view.getUint8(at + 17), all.subarray(at + HEAD, at + HEAD + length));
			at += HEAD + length;
		}
		return at;
	}

	add(rank, stream, data) {
		const key = `${rank} ${stream}`;
		const state = this.open.get(key) || { decoder: new TextDecoder(), text: "", line: null };
		this.open.set(key, state);
		const lines = (state.text + state.decoder.decode(data, { stream: true })).split("\n");
		lines.forEach((text, i) => {
			state.text = text.slice(-LINE_MAX);
			if (text || i + 1 < lines.length) this.show(rank, stream, state);
			if (i + 1 < lines.length) Object.assign(state, { text: "", line: null });
		});
	}

	show(rank, stream, state) {
		if (!state.line) {
			state.line = make("div", { class: stream === NOTE ? "said" : stream === 2 ? "err" : "" });
			this.box.append(state.line);
		}
		// A bar that draws itself anew: its last state is what a terminal would show.
		const text = state.text.replace(/\r+$/, "").split("\r").pop().replace(ESCAPES, "");
		const name = this.names[rank];
		state.line.replaceChildren(...(name ? [make("i", {}, name)] : []), text || "\u200b");
	}
}
