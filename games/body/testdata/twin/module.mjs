// A compiled module in this engine, with one block. It answers like a World.
import { encoded, Printer, Skips } from "./world.mjs";

const header = 16, skipSize = 8, leaveSize = 8, joinSize = 40;
const readers = {
	bool: (v, at) => v.getUint8(at), i8: (v, at) => v.getInt8(at), u8: (v, at) => v.getUint8(at),
	i16: (v, at) => v.getInt16(at, true), u16: (v, at) => v.getUint16(at, true),
	i32: (v, at) => v.getInt32(at, true), u32: (v, at) => v.getUint32(at, true), ref: (v, at) => v.getUint32(at, true),
	f32: (v, at) => v.getFloat32(at, true), f64: (v, at) => v.getFloat64(at, true),
};
const writers = {
	bool: (v, at, x) => v.setUint8(at, x), i8: (v, at, x) => v.setInt8(at, x), u8: (v, at, x) => v.setUint8(at, x),
	i16: (v, at, x) => v.setInt16(at, x, true), u16: (v, at, x) => v.setUint16(at, x, true),
	i32: (v, at, x) => v.setInt32(at, x, true), u32: (v, at, x) => v.setUint32(at, x, true), ref: (v, at, x) => v.setUint32(at, x, true),
	f32: (v, at, x) => v.setFloat32(at, x, true), f64: (v, at, x) => v.setFloat64(at, x, true),
};

export class Module {
	faults = 0;

	constructor(job, side) {
		this.job = job;
		this.server = side === "server";
		this.layout = job[side].layout;
		this.code = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(job[side].module, "base64"))).exports;
		this.base = this.code.heap.value;
		this.at = this.base + this.layout.size; // the input
		const need = this.at + 16384 - this.code.memory.buffer.byteLength;
		if (need > 0) this.code.memory.grow(Math.ceil(need / 65536));
		this.view = new DataView(this.code.memory.buffer);
		this.bytes = new Uint8Array(this.code.memory.buffer);
		this.clear();
	}

	u32(off) { return this.view.getUint32(this.base + off, true); }

	clear() {
		this.bytes.fill(0, this.base, this.at);
		this.view.setUint32(this.base + 8, 2, true);
		this.view.setUint32(this.base + 12, 4, true);
		this.view.setBigUint64(this.base + 16, BigInt(this.job.seed), true);
		if (this.server) this.view.setBigUint64(this.base + 24, BigInt(this.job.serverSeed), true);
	}

	failed(e) {
		const { fault, fault_body, fault_actor } = this.code;
		if (!(e instanceof WebAssembly.RuntimeError) || fault.value === 0) throw e;
		fault.value = 0;
		this.faults++;
		return [fault_body.value >>> 0, fault_actor.value >>> 0];
	}

	start() {
		try {
			this.code.start(this.base);
		} catch (e) {
			this.failed(e);
			this.clear();
			this.write(this.layout.types[0].rows, this.job.def.types[0], this.layout.types[0], (f) => (f.kind === "str" ? f.text : f.default));
		}
	}

	// load makes the block the same as a world.
	load(world) {
		this.clear();
		this.view.setUint32(this.base, world.tick, true);
		this.view.setUint32(this.base + 8, world.nextShared, true);
		world.types.forEach((type, i) => {
			const l = this.layout.types[i];
			type.rows.forEach((row, n) => {
				const at = l.rows + n * l.stride;
				this.view.setUint32(this.base + at, row.rowId, true);
				if (type.owned) this.view.setUint32(this.base + at + 8, row.rowOwner, true);
				this.write(at, type, l, (f, k) => row.values[k]);
			});
			if (i > 0) for (const k of [0, 4, 8]) this.view.setUint32(this.base + l.counts + k, type.rows.length, true);
		});
	}

	write(at, type, l, value) {
		type.fields.forEach((f, k) => {
			if (l.offsets[k] < 0) return;
			const to = this.base + at + l.offsets[k];
			if (f.kind !== "str") return writers[f.kind](this.view, to, value(f, k));
			const text = encoded(value(f, k));
			this.bytes[to] = text.length;
			this.bytes.set(text, to + 1);
		});
	}

	// input writes a tick's input and returns its address.
	input(raw, skips) {
		if (!raw && skips.length === 0) return 0;
		let [leaves, joins, commands, rest] = raw ?? [0, 0, 0, ""];
		let b = Buffer.from(rest, "base64");
		if (!this.server) {
			b = b.subarray(leaves * leaveSize + joins * joinSize);
			leaves = joins = 0;
		}
		[skips.length, leaves, joins, commands].forEach((n, i) => this.view.setUint32(this.at + 4 * i, n, true));
		skips.forEach((s, i) => {
			this.view.setUint32(this.at + header + i * skipSize, s.body, true);
			this.view.setUint32(this.at + header + i * skipSize + 4, s.actor, true);
		});
		this.bytes.set(b, this.at + header + skips.length * skipSize);
		return this.at;
	}

	step(raw) {
		const before = this.bytes.slice(this.base, this.at);
		const skips = new Skips();
		for (;;) {
			try {
				return this.code.tick(this.base, this.input(raw, skips.list));
			} catch (e) {
				const [body, actor] = this.failed(e);
				this.bytes.set(before, this.base);
				skips.add(body, actor);
			}
		}
	}

	print(dump) {
		const p = new Printer(dump);
		for (const off of [0, 4, 8, 12]) p.put(this.u32(off));
		this.job.def.types.forEach((type, i) => {
			p.type(type.name);
			const l = this.layout.types[i];
			const n = i === 0 ? 1 : this.u32(l.counts);
			for (let k = 0; k < n; k++) {
				const row = l.rows + k * l.stride;
				p.row(this.u32(row), type.owned ? this.u32(row + 8) : 0);
				type.fields.forEach((f, j) => {
					if (l.offsets[j] < 0) return;
					const at = this.base + row + l.offsets[j];
					if (f.kind === "str") p.text(this.bytes.subarray(at + 1, at + 1 + this.bytes[at]));
					else p.put(readers[f.kind](this.view, at));
				});
			}
		});
		return p.end();
	}
}
