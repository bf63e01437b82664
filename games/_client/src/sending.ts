import { blankRecord } from "./messages";
import { type CommandSlot, type Plan, Bool, F32, I16, I32, I8, Ref, Str, U16, U32, U8, setNumber, setText } from "./plan";

const utf8 = new TextEncoder();

const ranges: Record<number, [least: number, most: number]> = {
	[I8]: [-0x80, 0x7f],
	[U8]: [0, 0xff],
	[I16]: [-0x8000, 0x7fff],
	[U16]: [0, 0xffff],
	[I32]: [-0x80000000, 0x7fffffff],
	[U32]: [0, 0xffffffff],
	[Ref]: [0, 0xffffffff],
};

/**
 * Makes the record of a command from the values a page gave; a field that it
 * left out is zero, false, empty or no object. Throws TypeError for a value of
 * the wrong type and RangeError for one that the server would refuse.
 */
export function makeRecord(plan: Plan, number: number, values: Record<string, unknown>): Uint8Array {
	const record = blankRecord(plan);
	const view = new DataView(record.buffer);
	const { name, fields } = plan.commands[number];
	for (const given of Object.keys(values)) {
		if (!fields.some((f) => f.name === given)) throw new TypeError("command " + name + " has no field " + given);
	}
	for (const f of fields) put(f, name + "." + f.name, values[f.name], record, view);
	return record;
}

const bounds = (f: CommandSlot): string => f.min + " to " + f.max;

function put(f: CommandSlot, label: string, v: unknown, record: Uint8Array, view: DataView): void {
	if (v === undefined || (v === null && f.kind === Ref)) {
		// what a page leaves out still has to be in range
		if (f.kind !== Str && f.kind !== Ref && f.kind !== Bool && (0 < f.min || 0 > f.max)) throw new RangeError(label + " is missing, and 0 is not within " + bounds(f));
		return;
	}
	if (f.kind === Str) {
		if (typeof v !== "string") throw new TypeError(label + " is no string");
		const bytes = utf8.encode(v);
		if (bytes.length > f.len) throw new RangeError(label + " is longer than " + f.len + " bytes");
		setText(f, record, 0, bytes);
		return;
	}
	if (f.kind === Bool) {
		if (typeof v !== "boolean") throw new TypeError(label + " is neither true nor false");
		setNumber(f, view, 0, v ? 1 : 0);
		return;
	}
	const n = f.kind === Ref && typeof v === "object" ? (v as { id?: unknown }).id : v;
	if (typeof n !== "number") throw new TypeError(label + " is no number");
	const stored = f.kind === F32 ? Math.fround(n) : n;
	const range = ranges[f.kind];
	const fits = range ? Number.isInteger(n) && n >= range[0] && n <= range[1] : Number.isFinite(stored);
	if (!fits) throw new RangeError(label + " cannot be " + n);
	if (stored < f.min || stored > f.max) throw new RangeError(label + " is " + n + ", which is not within " + bounds(f));
	setNumber(f, view, 0, stored);
}
