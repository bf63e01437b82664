import { ProtocolError } from "./errors";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads one message from its bytes and believes nothing that it has not checked. Every method throws ProtocolError. */
export class Reader {
	readonly bytes: Uint8Array;
	private readonly view: DataView;
	at: number;

	constructor(bytes: Uint8Array, at = 0) {
		this.bytes = bytes;
		this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		this.at = at;
	}

	get left(): number {
		return this.bytes.length - this.at;
	}

	/** Moves past n bytes and returns where they begin. */
	take(n: number): number {
		const at = this.at;
		if (n > this.bytes.length - at) throw new ProtocolError("message ends too early");
		this.at = at + n;
		return at;
	}

	u8(): number {
		return this.view.getUint8(this.take(1));
	}

	u16(): number {
		return this.view.getUint16(this.take(2), true);
	}

	u32(): number {
		return this.view.getUint32(this.take(4), true);
	}

	bool(): number {
		const v = this.u8();
		if (v > 1) throw new ProtocolError("bool is neither 0 nor 1");
		return v;
	}

	/** An unsigned LEB128 of a u32 in its shortest form. */
	uv(): number {
		let v = 0;
		for (let shift = 0; shift < 35; shift += 7) {
			const b = this.u8();
			if (shift === 28 && b > 15) break;
			v += (b & 0x7f) * 2 ** shift;
			if (b < 0x80) {
				if (b === 0 && shift > 0) throw new ProtocolError("varint is not in its shortest form");
				return v;
			}
		}
		throw new ProtocolError("varint is longer than a u32");
	}

	/** Checks a text of at most max bytes and returns where it begins; it ends at `at`. */
	text(max: number): number {
		const n = this.uv();
		if (n > max) throw new ProtocolError("text is too long");
		const from = this.take(n);
		let high = 0;
		for (let i = from; i < this.at; i++) high |= this.bytes[i];
		if (high >= 0x80) this.decode(from);
		return from;
	}

	str(max: number): string {
		return this.decode(this.text(max));
	}

	private decode(from: number): string {
		try {
			return utf8.decode(this.bytes.subarray(from, this.at));
		} catch {
			throw new ProtocolError("text is not UTF-8");
		}
	}

	/**
	 * The next id of an ascending list, given the one before it. The first of a
	 * list counts from 0 and may be `least`; any other has to be greater.
	 */
	id(before: number, first: boolean, least: number): number {
		const step = this.uv();
		const id = before + step;
		if (id > 0xffffffff || (first ? id < least : step === 0)) throw new ProtocolError("ids do not ascend");
		return id;
	}

	/** The position of a mask over n fields; the bits past n are zero. */
	mask(n: number): number {
		const bytes = (n + 7) >> 3;
		const at = this.take(bytes);
		if ((n & 7) !== 0 && this.bytes[at + bytes - 1] >> (n & 7) !== 0) throw new ProtocolError("mask has bits past its fields");
		return at;
	}

	/** Every message ends with its frame. */
	end(): void {
		if (this.left !== 0) throw new ProtocolError("message has trailing bytes");
	}
}
