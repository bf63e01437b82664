import { getNumber, type Plan, type Slot, Bool, F32, F64, Ref, Str, sightOf } from "../src/plan";
import { TagCommands, TagDelta, TagEnter, TagKeyframe, TagLeave, TagSnapshot, TagWelcome } from "../src/messages";
import { Writer } from "../src/writer";

/** Field values by name; what is left out is 0, false or "". */
export type Values = Record<string, number | boolean | string>;

export interface Thing {
	id: number;
	type: number;
	owner?: number;
	fields?: Values;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** A server's encoder for tests, straight from the protocol and sharing no code with the reader but field lists. */
export class Server {
	constructor(
		private readonly plan: Plan,
		private readonly viewer: number,
	) {}

	private value(w: Writer, f: Slot, v: number | boolean | string | undefined): void {
		if (f.kind === Str) {
			w.str(String(v ?? ""));
			return;
		}
		const n = v === "NaN" ? NaN : v === "-0" ? -0 : Number(v ?? 0);
		if (f.quant) {
			const q = Math.floor((n - f.quant.min) / f.quant.step + 0.5);
			if (f.quant.bytes === 1) w.u8(q);
			else if (f.quant.bytes === 2) w.u16(q);
			else w.u32(q);
		} else if (f.kind === F32) w.f32(n);
		else if (f.kind === F64) w.f64(n);
		else if (f.size === 1) w.u8(n);
		else if (f.size === 2) w.u16(n);
		else if (f.kind === Ref) w.uv(n);
		else w.u32(n);
	}

	private whole(w: Writer, things: Thing[]): Bytes {
		let before = 0;
		for (const t of [...things].sort((a, b) => a.id - b.id)) {
			w.uv(t.id - before).uv(t.type);
			before = t.id;
			const type = this.plan.types[t.type];
			if (type.owned) w.uv(t.owner ?? 0);
			for (const f of sightOf(type, t.id, t.owner ?? 0, this.viewer).all) this.value(w, f, t.fields?.[f.name]);
		}
		return w.done();
	}

	welcome(o: { tick?: number; player?: number; received?: number; instance?: string; hash?: string; version?: number; token?: number }): Bytes {
		const hash = o.hash ?? this.plan.config.hash;
		return new Writer()
			.begin(TagWelcome)
			.u8(o.version ?? this.plan.config.protocol)
			.u32(o.tick ?? 0)
			.u32(parseInt(hash.slice(8), 16))
			.u32(parseInt(hash.slice(0, 8), 16))
			.uv(o.player ?? this.viewer)
			.uv(o.received ?? 0)
			.str(o.instance ?? "one")
			.raw(new Uint8Array(16).fill(o.token ?? 7))
			.u16(this.plan.config.tickRate)
			.u16(this.plan.config.sendRate)
			.u16(this.plan.config.timelineDepth)
			.done();
	}

	snapshot(tick: number, things: Thing[], o: { next?: number; processed?: number; instance?: Values; seed?: [number, number] } = {}): Bytes {
		const w = new Writer().begin(TagSnapshot).u32(tick).u32(o.seed?.[0] ?? 1).u32(o.seed?.[1] ?? 0).uv(o.next ?? 2).uv(o.processed ?? 0);
		for (const f of this.plan.types[0].other.all) this.value(w, f, o.instance?.[f.name]);
		return this.whole(w, things);
	}

	/** Lists the fields that each thing has values for. */
	delta(tick: number, base: number, things: Thing[] = [], processed = 0): Bytes {
		return this.masked(new Writer().begin(TagDelta).u32(tick).u32(base).uv(processed), things, "sent");
	}

	keyframe(tick: number, things: Thing[]): Bytes {
		return this.masked(new Writer().begin(TagKeyframe).u32(tick), things, "shared");
	}

	private masked(w: Writer, things: Thing[], sync: "sent" | "shared"): Bytes {
		let before = 0;
		for (const t of [...things].sort((a, b) => a.id - b.id)) {
			w.uv(t.id - before);
			before = t.id;
			const fields = sightOf(this.plan.types[t.type], t.id, t.owner ?? 0, this.viewer)[sync];
			const mask = new Uint8Array((fields.length + 7) >> 3);
			fields.forEach((f, k) => {
				if (t.fields && f.name in t.fields) mask[k >> 3] |= 1 << (k & 7);
			});
			w.raw(mask);
			for (const f of fields) if (t.fields && f.name in t.fields) this.value(w, f, t.fields[f.name]);
		}
		return w.done();
	}

	enter(tick: number, things: Thing[]): Bytes {
		return this.whole(new Writer().begin(TagEnter).u32(tick), things);
	}

	leave(tick: number, ids: number[]): Bytes {
		const w = new Writer().begin(TagLeave).u32(tick);
		let before = 0;
		for (const id of ids) {
			w.uv(id - before);
			before = id;
		}
		return w.done();
	}

	commands(tick: number, list: { tick: number; player: number; seq: number; command: number; fields?: Values }[]): Bytes {
		const w = new Writer().begin(TagCommands).u32(tick);
		for (const c of list) {
			w.uv((tick - c.tick) >>> 0).uv(c.player).uv(c.seq).uv(c.command);
			for (const f of this.plan.commands[c.command].fields) this.value(w, f, c.fields?.[f.name]);
		}
		return w.done();
	}
}

/** The value of a field as the vectors write it. */
export function plain(f: Slot, bytes: Uint8Array, view: DataView, row: number): number | boolean | string {
	if (f.kind === Str) {
		const at = row + f.offset;
		return new TextDecoder().decode(bytes.slice(at + 1, at + 1 + bytes[at]));
	}
	const n = getNumber(f, view, row);
	if (f.kind === Bool) return n === 1;
	return Number.isNaN(n) ? "NaN" : Object.is(n, -0) ? "-0" : n;
}
