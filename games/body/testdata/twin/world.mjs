// A world of plain objects, whose fields convert like elements of typed arrays.
// Bodies run on it as the JavaScript they are, in the order that the driver has.
// A client's world has no server fields, runs no server bodies and leaves sent
// fields as they are.

const cells = Object.fromEntries(Object.entries({
	bool: Uint8Array, i8: Int8Array, u8: Uint8Array, i16: Int16Array, u16: Uint16Array, i32: Int32Array, u32: Uint32Array,
	f32: Float32Array, f64: Float64Array, ref: Uint32Array,
}).map(([kind, array]) => [kind, new array(1)]));

export function converted(kind, v) {
	cells[kind][0] = v;
	return cells[kind][0];
}

const encoder = new TextEncoder(), decoder = new TextDecoder();
const encodings = new Map();

// encoded are the bytes of a text, which are not to be changed.
export function encoded(text) {
	let b = encodings.get(text);
	if (!b) encodings.set(text, b = encoder.encode(text));
	return b;
}

function cut(text, room) {
	const b = encoded(text);
	let n = Math.min(b.length, room);
	if (n < b.length) while (n > 0 && (b[n] & 0xc0) === 0x80) n--;
	return decoder.decode(b.subarray(0, n));
}

// What a body throws where the compiled one has a fault that JavaScript has not.
globalThis.fault = new Error("a fault");
const isFault = (e) => e === globalThis.fault || e instanceof TypeError && /\bnull\b/.test(e.message);

// After so many reruns of a tick for one body it is left out for all its actors.
export const rerunsPerBody = 8;
export const allActors = 0xffffffff;

export class Skips {
	list = [];
	// add takes note of a fault; what is to be left out cannot fail.
	add(body, actor) {
		const times = this.list.filter((s) => s.body === body).length;
		if (times > rerunsPerBody) throw new Error("a body that was left out has failed");
		this.list.push({ body, actor: times === rerunsPerBody ? allActors : actor });
	}
	has(body, actor) {
		return this.list.some((s) => s.body === body && (s.actor === actor || s.actor === allActors));
	}
}

const M = (1n << 64n) - 1n, G = 0x9e3779b97f4a7c15n;
const mix = (x) => {
	x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & M;
	x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & M;
	return x ^ (x >> 31n);
};

function classOf(type, world) {
	const shown = type.fields.map((f) => world.server || f.sync !== "server");
	class Row {
		removed = false;
		constructor(id, owner) {
			this.rowId = id;
			this.rowOwner = owner;
			this.values = type.fields.map((f) => (f.kind === "str" ? f.text : converted(f.kind, f.default)));
		}
		get id() { return this.rowId; }
	}
	if (type.owned) Object.defineProperty(Row.prototype, "owner", { get() { return world.types[1].find(this.rowOwner); } });
	if (type.index > 0) Row.prototype.remove = function () {
		if (this.removed) return;
		this.removed = true;
		type.live--;
	};
	type.fields.forEach((f, i) => {
		if (!shown[i]) return;
		const kept = !world.server && f.sync === "sent";
		Object.defineProperty(Row.prototype, f.name, {
			get() {
				const v = this.values[i];
				if (f.kind === "bool") return v !== 0;
				return f.kind === "ref" ? world.types[f.ref].find(v) : v;
			},
			set(v) {
				if (kept) return;
				if (f.kind === "str") this.values[i] = cut(v, f.len);
				else if (f.kind === "ref") this.values[i] = v === null ? 0 : v.id;
				else this.values[i] = converted(f.kind, v);
			},
		});
	});
	return Row;
}

export class World {
	faults = 0;
	logged = [];

	constructor(job, bodies, server) {
		this.server = server;
		this.job = job;
		this.bodies = new Map(bodies.filter((b) => server || !b.server).map((b) => [b.name, b]));
		this.run = { body: 0, actor: 0, seq: 0, drawn: [null, null], server: false };
		this.skips = new Skips();
		this.types = job.def.types.map((t) => ({ ...t }));
		for (const type of this.types) {
			type.Row = classOf(type, this);
			type.find = (id) => type.rows.find((r) => r.rowId === id && !r.removed) ?? null;
		}
		this.clear();
		this.game = this.global();
	}

	clear() {
		Object.assign(this, { tick: 0, flags: 0, nextShared: 2, nextServer: 4 });
		for (const type of this.types) Object.assign(type, { rows: [], live: 0 });
		this.instance = new this.types[0].Row(0, 0);
		this.types[0].rows = [this.instance];
	}

	append(type, id, owner) {
		const row = new type.Row(id, owner);
		type.rows.push(row);
		type.live++;
		return row;
	}

	collection(type) {
		const world = this;
		return {
			get count() { return type.live; },
			find: type.find,
			*[Symbol.iterator]() {
				for (const row of [...type.rows]) if (!row.removed) yield row;
			},
			spawn(...owner) {
				const id = owner.length > 0 ? owner[0].id : 0;
				if (type.rows.length === type.max) return null;
				const counter = world.run.server ? "nextServer" : "nextShared";
				world[counter] += 4;
				return world.append(type, world[counter] - 4, id);
			},
		};
	}

	// global is what bodies know as game.
	global() {
		const world = this, game = {};
		for (const type of this.types.slice(1)) Object.defineProperty(game, type.plural, { value: this.collection(type) });
		for (const f of this.types[0].fields) Object.defineProperty(game, f.name, { get: () => world.instance[f.name], set: (v) => { world.instance[f.name] = v; } });
		return Object.defineProperties(game, {
			tick: { get: () => world.tick },
			dt: { value: 1 / this.job.def.tickRate },
			id: { value: 0 },
			open: { get: () => (world.flags & 1) === 0, set: (v) => { world.flags = v ? world.flags & ~1 : world.flags | 1; } },
			end: { value: () => { world.flags |= 2; } },
		});
	}

	// draw is the next random number of the body that runs.
	draw(which, seed) {
		const { actor, body, seq, drawn } = this.run;
		if (drawn[which] === null) {
			let x = mix((BigInt(seed) + G * BigInt(this.tick + 1)) & M);
			x = mix(x ^ ((BigInt(actor) << 32n) | BigInt(body)));
			drawn[which] = seq ? mix((x + G * BigInt(seq)) & M) : x;
		}
		drawn[which] = (drawn[which] + G) & M;
		return Number(mix(drawn[which]) >> 11n) / 2 ** 53;
	}

	invoke(b, actor, seq, ...args) {
		if (this.skips.has(b.number, actor)) return;
		Object.assign(this.run, { body: b.number, actor, seq, drawn: [null, null], server: b.server });
		b.call(...args);
	}

	// named are the bodies of a name, shared before server ones.
	named(...names) {
		return names.map((name) => this.bodies.get(name)).filter((b) => b);
	}

	save() {
		const { tick, flags, nextShared, nextServer } = this;
		const types = this.types.map((t) => [t.live, [...t.rows], t.rows.map((r) => [...r.values])]);
		return { head: { tick, flags, nextShared, nextServer }, types };
	}

	restore(s) {
		Object.assign(this, s.head);
		this.types.forEach((t, i) => {
			[t.live, t.rows] = s.types[i];
			t.rows = [...t.rows];
			t.rows.forEach((r, j) => { r.values = [...s.types[i][2][j]]; r.removed = false; });
		});
	}

	// copy makes a client's world the same as the server's, as far as it sees that.
	copy(server) {
		Object.assign(this, { tick: server.tick, nextShared: server.nextShared });
		this.types.forEach((t, i) => {
			t.rows = server.types[i].rows.map((r) => {
				const row = new t.Row(r.rowId, r.rowOwner);
				t.fields.forEach((f, k) => { if (f.sync !== "server") row.values[k] = r.values[k]; });
				return row;
			});
			t.live = t.rows.length;
		});
		this.instance = this.types[0].rows[0];
	}

	enter() {
		globalThis.game = this.game;
		globalThis.log = (...list) => this.logged.push(list.join(" "));
		globalThis.random = () => this.draw(0, this.job.seed);
		globalThis.serverRandom = () => this.draw(1, this.job.serverSeed);
	}

	start() {
		this.enter();
		this.skips = new Skips();
		try {
			for (const b of this.named("instance.server.start")) this.invoke(b, 0, 0);
			this.end();
		} catch (e) {
			if (!isFault(e)) throw e;
			this.faults++;
			this.logged.length = 0;
			this.clear();
		}
	}

	// step runs a tick, again without what fails.
	step(input) {
		this.enter();
		const before = this.save(), written = this.logged.length;
		this.skips = new Skips();
		for (;;) {
			try {
				return this.once(input);
			} catch (e) {
				if (!isFault(e)) throw e;
				this.faults++;
				this.restore(before);
				this.logged.length = written;
				this.skips.add(this.run.body, this.run.actor);
			}
		}
	}

	once(input) {
		this.tick++;
		const player = this.types[1];
		const before = this.types.map((t) => [...t.rows]);
		for (const id of input.leaves ?? []) {
			const row = player.find(id);
			if (!row) continue;
			for (const b of this.named("player.server.leave")) this.invoke(b, id, 0, row);
			row.remove();
		}
		for (const j of input.joins ?? []) {
			if (player.live >= player.max) continue;
			const row = this.append(player, j.id, 0);
			const name = player.fields.findIndex((f) => f.name === "name");
			if (name >= 0) row.values[name] = j.name;
			for (const b of this.named("player.server.join")) this.invoke(b, j.id, 0, row);
		}
		for (const c of input.commands ?? []) {
			const row = player.find(c.player);
			if (!row) continue;
			const cmd = this.job.def.commands[c.number];
			for (const b of this.named("commands." + cmd.name, "commands.server." + cmd.name)) this.invoke(b, c.player, c.seq, row, this.data(c, cmd));
		}
		for (const type of this.types.slice(1)) {
			const updates = this.named(type.name + ".update", type.name + ".server.update");
			if (updates.length === 0) continue;
			for (const row of before[type.index]) for (const b of updates) if (!row.removed) this.invoke(b, row.rowId, 0, row);
		}
		for (const b of this.named("instance.update", "instance.server.update")) this.invoke(b, 0, 0);
		this.end();
	}

	end() {
		for (const type of this.types.slice(1)) {
			type.rows = type.rows.filter((r) => !r.removed).sort((a, b) => a.rowId - b.rowId);
			type.live = type.rows.length;
		}
	}

	// data is the object that a handler gets.
	data(c, cmd) {
		const o = {};
		cmd.fields.forEach((f, i) => {
			if (f.kind === "str") o[f.name] = c.texts[i];
			else if (f.kind === "ref") Object.defineProperty(o, f.name, { get: () => this.types[f.ref].find(c.values[i]) });
			else {
				const v = converted(f.kind, c.values[i]);
				o[f.name] = f.kind === "bool" ? v !== 0 : v;
			}
		});
		return o;
	}

	// print is a fingerprint of the state or, with dump, all of it.
	print(dump) {
		const p = new Printer(dump);
		for (const v of [this.tick, this.flags, this.nextShared, this.nextServer]) p.put(v);
		for (const type of this.types) {
			p.type(type.name);
			for (const row of type.rows) {
				p.row(row.rowId, row.rowOwner);
				type.fields.forEach((f, i) => {
					if (!this.server && f.sync === "server") return;
					if (f.kind === "str") p.text(encoded(row.values[i]));
					else p.put(row.values[i]);
				});
			}
		}
		return p.end();
	}
}

const cell = new Float64Array(1), words = new Uint32Array(cell.buffer);

// Printer is the text of a state: its fingerprint and, with dump, all values.
export class Printer {
	h = 2166136261;
	text_ = "";
	constructor(dump) { this.dump = dump; }
	put(v) {
		if (this.dump) this.text_ += " " + (Object.is(v, -0) ? "-0" : v);
		cell[0] = v;
		if (v !== v) { words[0] = 0; words[1] = 0x7ff80000; }
		this.h = Math.imul(this.h ^ words[0], 16777619);
		this.h = Math.imul(this.h ^ words[1], 16777619);
	}
	type(name) { if (this.dump) this.text_ += " | " + name; }
	row(id, owner) {
		if (this.dump) this.text_ += " /";
		this.put(id);
		this.put(owner);
	}
	text(bytes) {
		this.put(bytes.length);
		bytes.forEach((b) => this.put(b));
	}
	end() { return (this.h >>> 0) + this.text_; }
}
