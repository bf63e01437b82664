/**
 * Bytes in which blocks lie: the game's wasm memory or, without one, a plain
 * buffer. Growing a wasm memory detaches its buffer, so nobody keeps `bytes` or
 * `view` across an `alloc`.
 */
export class Memory {
	bytes: Uint8Array;
	view: DataView;
	private next: number;
	private readonly wasm: WebAssembly.Memory | null;

	/** Hands out what lies from `from` on. */
	constructor(wasm: WebAssembly.Memory | null, from: number) {
		this.wasm = wasm;
		this.next = from;
		const buffer = wasm ? wasm.buffer : new ArrayBuffer(0);
		this.bytes = new Uint8Array(buffer);
		this.view = new DataView(buffer);
	}

	/** Takes n zero bytes and returns their address, a multiple of 64. Throws RangeError when the browser has no room. */
	alloc(n: number): number {
		const at = (this.next + 63) & ~63;
		this.next = at + n;
		const missing = this.next - this.bytes.length;
		if (missing > 0) {
			let buffer: ArrayBuffer;
			if (this.wasm) {
				this.wasm.grow(Math.ceil(missing / 65536));
				buffer = this.wasm.buffer;
			} else {
				buffer = new ArrayBuffer(this.next);
				new Uint8Array(buffer).set(this.bytes);
			}
			this.bytes = new Uint8Array(buffer);
			this.view = new DataView(buffer);
		}
		return at;
	}
}
