import { Fnv } from "./fnv";
import { RowID } from "./layout";
import { type Field, type Type, F64, Ref, Str } from "./plan";
import type { World } from "./world";

/** Hashes what every viewer of a game without a view body holds alike: each object's shared fields, by id. */
export function hashWorld(w: World): Fnv {
	const h = new Fnv();
	const types = w.plan.types;
	fields(h, w, types[0], w.row(types[0], 0));
	const next = types.map(() => 0);
	for (;;) {
		let least: Type | null = null;
		let row = 0;
		for (let i = 1; i < types.length; i++) {
			if (next[i] >= w.count(types[i])) continue;
			const r = w.row(types[i], next[i]);
			if (!least || w.id(r) < w.id(row)) {
				least = types[i];
				row = r;
			}
		}
		if (!least) return h;
		next[least.index]++;
		h.u32(w.view.getUint32(row + RowID, true));
		h.u32(least.index);
		h.u32(w.owner(least, row));
		fields(h, w, least, row);
	}
}

function fields(h: Fnv, w: World, t: Type, row: number): void {
	for (const f of t.hashed) field(h, w, f, row + f.offset);
}

function field(h: Fnv, w: World, f: Field, at: number): void {
	const bytes = w.bytes;
	if (f.kind === Ref) {
		h.uv(w.view.getUint32(at, true));
		return;
	}
	let n = f.kind === F64 ? 8 : f.size;
	if (f.kind === Str) {
		n = bytes[at++];
		h.uv(n);
	}
	for (let i = 0; i < n; i++) h.u8(bytes[at + i]);
}
