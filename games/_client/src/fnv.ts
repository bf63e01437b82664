/** FNV-1a of 64 bits in two halves of 32, because a browser's numbers stop at 53. */
export class Fnv {
	hi = 0xcbf29ce4;
	lo = 0x84222325;

	u8(byte: number): void {
		const lo = (this.lo ^ byte) >>> 0;
		// times the prime 2^40 + 0x1b3
		const low = lo * 0x1b3;
		this.hi = (this.hi * 0x1b3 + Math.floor(low / 0x100000000) + ((lo << 8) >>> 0)) >>> 0;
		this.lo = low >>> 0;
	}

	u32(v: number): void {
		for (let shift = 0; shift < 32; shift += 8) this.u8((v >>> shift) & 0xff);
	}

	uv(v: number): void {
		for (; v > 0x7f; v = Math.floor(v / 128)) this.u8((v & 0x7f) | 0x80);
		this.u8(v);
	}

	hex(): string {
		return hex32(this.hi) + hex32(this.lo);
	}
}

export function hex32(v: number): string {
	return (v >>> 0).toString(16).padStart(8, "0");
}
