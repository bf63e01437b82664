import { ProtocolError } from "./errors";
import { type Slot, Bool, F32, F64, I16, I32, I8, Ref, Str, U16, U32, U8, setNumber } from "./plan";
import type { Reader } from "./reader";

/** The greatest wire value of a stepped field. */
function greatest(f: Slot): number {
	const q = f.quant!;
	return Math.floor((q.max - q.min) / q.step + 0.5);
}

/**
 * Reads one field's wire value into a row, whose bytes `row` and `view` both
 * show from 0. Bits are copied, never converted, so that each NaN and each
 * negative zero arrives as it was.
 */
export function readField(r: Reader, f: Slot, row: Uint8Array, view: DataView, at: number): void {
	const to = at + f.offset;
	if (f.quant) {
		const u = f.quant.bytes === 1 ? r.u8() : f.quant.bytes === 2 ? r.u16() : r.u32();
		if (u > greatest(f)) throw new ProtocolError("stepped value is out of range");
		setNumber(f, view, at, f.quant.min + u * f.quant.step);
		return;
	}
	switch (f.kind) {
		case Bool:
			row[to] = r.bool();
			break;
		case I8:
		case U8:
			row[to] = r.u8();
			break;
		case I16:
		case U16:
			view.setUint16(to, r.u16(), true);
			break;
		case I32:
		case U32:
		case F32:
			view.setUint32(to, r.u32(), true);
			break;
		case F64:
			view.setUint32(to, r.u32(), true);
			view.setUint32(to + 4, r.u32(), true);
			break;
		case Ref:
			view.setUint32(to, r.uv(), true);
			break;
		case Str: {
			const from = r.text(f.len);
			const n = r.at - from;
			row[to] = n;
			for (let i = 0; i < n; i++) row[to + 1 + i] = r.bytes[from + i];
			row.fill(0, to + 1 + n, to + f.size);
		}
	}
}
