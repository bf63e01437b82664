import type { GameConfig, KindName, QuantConfig, TypeConfig } from "./config";
import { PlayerType, RowOwner } from "./layout";

// How a field's value is stored and sent, by kind.
export const Bool = 0;
export const I8 = 1;
export const U8 = 2;
export const I16 = 3;
export const U16 = 4;
export const I32 = 5;
export const U32 = 6;
export const F32 = 7;
export const F64 = 8;
export const Str = 9;
export const Ref = 10;

const kinds: KindName[] = ["bool", "i8", "u8", "i16", "u16", "i32", "u32", "f32", "f64", "str", "ref"];
const sizes = [1, 1, 1, 2, 2, 4, 4, 4, 8, 0, 4];

export const Steps = 0;
export const Linear = 1;
export const Angle = 2;

/** What is read of a field in a row or in a command record. */
export interface Slot {
	name: string;
	kind: number;
	/** Bytes in a row; of a str its length byte included. */
	size: number;
	offset: number;
	/** The most bytes of a str. */
	len: number;
	/** The type number that a ref refers to. */
	ref: number;
	quant: QuantConfig | null;
}

export interface Field extends Slot {
	/** Its values come from the server at send ticks; otherwise the viewer reproduces them. */
	sent: boolean;
	ownerOnly: boolean;
	smooth: number;
	/** Infinity for never. */
	snap: number;
	/** Number among the type's smooth fields; -1 for none. */
	drawn: number;
	initial: number | string;
	/** "type.field", as statistics name it. */
	label: string;
}

/** What a viewer may see of one object: all three lists are in schema order. */
export interface Sight {
	all: Field[];
	sent: Field[];
	shared: Field[];
}

export interface Type extends TypeConfig {
	index: number;
	plan: Field[];
	smooth: Field[];
	/** What the state hash is taken over, thin client or not. */
	hashed: Field[];
	/** What its player or owner sees, and what everyone else does. */
	own: Sight;
	other: Sight;
	/** The bytes of a row that hold fields which come from the server at send ticks. */
	sentFrom: number;
	sentTo: number;
	/** A row of a new object: zero but for the defaults. */
	blank: Uint8Array;
}

export interface Plan {
	config: GameConfig;
	/** No body runs here; the server sends the shared fields like sent ones and announces every object. */
	thin: boolean;
	types: Type[];
	commands: { name: string; shared: boolean; fields: CommandSlot[] }[];
	/** Ticks from one send to the next. */
	period: number;
}

export interface CommandSlot extends Slot {
	min: number;
	max: number;
}

/** Derives from a game's config what reading, writing and drawing need to know of each field. */
export function makePlan(config: GameConfig, thin: boolean): Plan {
	return {
		config,
		thin,
		period: config.tickRate / config.sendRate,
		types: config.types.map((t, i) => makeType(t, i, thin)),
		commands: config.commands.map((c) => ({
			name: c.name,
			shared: c.shared,
			fields: c.fields.map((f) => {
				// the bounds are compared with the value as it is stored
				const as = f.kind === "f32" ? Math.fround : Number;
				return { ...slot(f), min: as(f.min ?? -Infinity), max: as(f.max ?? Infinity) };
			}),
		})),
	};
}

function slot(f: { name: string; kind: KindName; len?: number; ref?: number; offset: number; quant?: QuantConfig }): Slot {
	const kind = kinds.indexOf(f.kind);
	const len = f.len ?? 0;
	return { name: f.name, kind, len, size: kind === Str ? 1 + len : sizes[kind], offset: f.offset, ref: f.ref ?? 0, quant: f.quant ?? null };
}

function makeType(t: TypeConfig, index: number, thin: boolean): Type {
	let smooths = 0;
	const plan = t.fields.map((f): Field => {
		const smooth = f.smooth === "angle" ? Angle : f.smooth ? Linear : Steps;
		return {
			...slot(f),
			sent: thin || f.sync === "sent",
			ownerOnly: f.audience === "owner",
			smooth,
			snap: f.snap || Infinity,
			drawn: smooth === Steps ? -1 : smooths++,
			initial: typeof f.default === "string" ? f.default : Number(f.default ?? 0),
			label: t.name + "." + f.name,
		};
	});
	const sight = (own: boolean): Sight => {
		const all = plan.filter((f) => own || !f.ownerOnly);
		return { all, sent: all.filter((f) => f.sent), shared: all.filter((f) => !f.sent) };
	};
	const sent = plan.filter((f) => f.sent);
	return {
		...t,
		index,
		plan,
		smooth: plan.filter((f) => f.smooth !== Steps),
		hashed: plan.filter((_, i) => t.fields[i].sync === "shared"),
		own: sight(true),
		other: sight(false),
		sentFrom: sent.length > 0 ? Math.min(...sent.map((f) => f.offset)) : RowOwner,
		sentTo: sent.length > 0 ? Math.max(...sent.map((f) => f.offset + f.size)) : RowOwner,
		blank: blankRow(t.stride, plan),
	};
}

function blankRow(stride: number, fields: Field[]): Uint8Array {
	const row = new Uint8Array(stride);
	const view = new DataView(row.buffer);
	for (const f of fields) {
		if (typeof f.initial === "string") setText(f, row, 0, new TextEncoder().encode(f.initial));
		else setNumber(f, view, 0, f.initial);
	}
	return row;
}

/** Stores the bytes of a str field, zero filled. */
export function setText(f: Slot, row: Uint8Array, at: number, text: Uint8Array): void {
	at += f.offset;
	row[at] = text.length;
	row.set(text, at + 1);
	row.fill(0, at + 1 + text.length, at + f.size);
}

/** Stores a number as a typed array of the field's kind does. */
export function setNumber(f: Slot, view: DataView, row: number, v: number): void {
	const at = row + f.offset;
	switch (f.kind) {
		case Bool:
			view.setUint8(at, v ? 1 : 0);
			break;
		case I8:
		case U8:
			view.setUint8(at, v);
			break;
		case I16:
		case U16:
			view.setUint16(at, v, true);
			break;
		case I32:
		case U32:
		case Ref:
			view.setUint32(at, v, true);
			break;
		case F32:
			view.setFloat32(at, v, true);
			break;
		case F64:
			view.setFloat64(at, v, true);
	}
}

/** The number that a field of any kind but str holds. */
export function getNumber(f: Slot, view: DataView, row: number): number {
	const at = row + f.offset;
	switch (f.kind) {
		case I8:
			return view.getInt8(at);
		case I16:
			return view.getInt16(at, true);
		case U16:
			return view.getUint16(at, true);
		case I32:
			return view.getInt32(at, true);
		case U32:
		case Ref:
			return view.getUint32(at, true);
		case F32:
			return view.getFloat32(at, true);
		case F64:
			return view.getFloat64(at, true);
	}
	return view.getUint8(at);
}

/** What the viewer `player` (0 for a spectator) sees of an object. */
export function sightOf(t: Type, id: number, owner: number, player: number): Sight {
	return player !== 0 && (t.index === PlayerType ? id : owner) === player ? t.own : t.other;
}
