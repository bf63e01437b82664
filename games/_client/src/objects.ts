import { PlayerType, RowOwner } from "./layout";
import { type Field, type Type, Bool, F64, Ref, Str, getNumber } from "./plan";

/**
 * An object of the picture as the page sees it: its id and a getter per field. The same
 * object as long as it lives. In a game with a view body, what the page's own rules made
 * has an id from 2^31 up until the server announces it; then the id changes.
 */
export interface ObjectView {
	readonly id: number;
	readonly [field: string]: unknown;
}

/** Where a view reads: a row of the picture or, once the object is gone, a copy of its last one. */
export interface Cell {
	source: { readonly bytes: Uint8Array; readonly view: DataView };
	row: number;
	/** Drawn values of its smooth fields, from `slot` on. */
	drawn: Float64Array;
	slot: number;
	/** What is still to be eased away, per smooth field. */
	ease: Float64Array;
	texts: { bytes: Uint8Array; text: string }[];
}

const cellOf = Symbol("cell");

interface WithCell extends ObjectView {
	[cellOf]: Cell;
}

/** Gives the view another id. The picture's collections are the caller's to mend. */
export function rename(v: ObjectView, id: number): void {
	Object.defineProperty(v, "id", { value: id, enumerable: true, configurable: true });
}

export function cell(v: ObjectView): Cell {
	return (v as WithCell)[cellOf];
}

/** Finds the view of an object of the picture, null if there is none. */
export type Resolve = (type: number, id: number) => ObjectView | null;

/** Makes the function that makes a type's views. */
export function viewMaker(t: Type, resolve: Resolve): (id: number) => ObjectView {
	const proto: object = {};
	const define = (name: string, get: (this: WithCell) => unknown): void => {
		Object.defineProperty(proto, name, { get, enumerable: true });
	};
	if (t.owned) {
		define("owner", function () {
			const c = this[cellOf];
			return resolve(PlayerType, c.source.view.getUint32(c.row + RowOwner, true));
		});
	}
	t.plan.forEach((f, i) => define(f.name, getter(f, i, resolve)));
	return (id) => {
		const c: Cell = {
			source: nowhere,
			row: 0,
			drawn: nothing,
			slot: 0,
			ease: t.smooth.length > 0 ? new Float64Array(t.smooth.length) : nothing,
			texts: [],
		};
		const v = Object.create(proto) as WithCell;
		rename(v, id);
		Object.defineProperty(v, cellOf, { value: c });
		return v;
	};
}

const nothing = new Float64Array(0);
const nowhere = { bytes: new Uint8Array(0), view: new DataView(new ArrayBuffer(0)) };

function getter(f: Field, index: number, resolve: Resolve): (this: WithCell) => unknown {
	if (f.drawn >= 0) {
		return function () {
			const c = this[cellOf];
			return c.drawn[c.slot + f.drawn];
		};
	}
	switch (f.kind) {
		case Bool:
			return function () {
				const c = this[cellOf];
				return c.source.bytes[c.row + f.offset] !== 0;
			};
		case Ref:
			return function () {
				const c = this[cellOf];
				return resolve(f.ref, c.source.view.getUint32(c.row + f.offset, true));
			};
		case Str:
			return function () {
				return text(this[cellOf], f, index);
			};
		case F64:
			return function () {
				const c = this[cellOf];
				return c.source.view.getFloat64(c.row + f.offset, true);
			};
	}
	return function () {
		const c = this[cellOf];
		return getNumber(f, c.source.view, c.row);
	};
}

const utf8 = new TextDecoder();

/** Decodes a text once and again only when its bytes have changed. */
function text(c: Cell, f: Field, index: number): string {
	const from = c.row + f.offset;
	const bytes = c.source.bytes;
	const known = c.texts[index];
	if (known) {
		let same = true;
		for (let i = 0; same && i < f.size; i++) same = known.bytes[i] === bytes[from + i];
		if (same) return known.text;
	}
	const own = bytes.slice(from, from + f.size);
	const made = { bytes: own, text: utf8.decode(own.subarray(1, 1 + own[0])) };
	c.texts[index] = made;
	return made.text;
}

/** The objects of one type in the picture, in ascending order of id. */
export class Collection<T extends ObjectView = ObjectView> implements Iterable<T> {
	/** Filled by the picture. */
	readonly list: T[] = [];
	readonly byId = new Map<number, T>();

	get size(): number {
		return this.list.length;
	}

	get(id: number): T | null {
		return this.byId.get(id) ?? null;
	}

	[Symbol.iterator](): IterableIterator<T> {
		return this.list[Symbol.iterator]();
	}
}
