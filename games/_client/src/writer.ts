const encoder = new TextEncoder();

/** Builds one message in a buffer that it reuses. The result of `done` is a copy and the caller's. */
export class Writer {
	private bytes = new Uint8Array(256);
	private view = new DataView(this.bytes.buffer);
	private at = 0;

	begin(tag: number): this {
		this.at = 0;
		return this.u8(tag);
	}

	done(): Uint8Array<ArrayBuffer> {
		return this.bytes.slice(0, this.at);
	}

	private room(n: number): number {
		const at = this.at;
		this.at += n;
		if (this.at > this.bytes.length) {
			const bytes = new Uint8Array(Math.max(this.at, 2 * this.bytes.length));
			bytes.set(this.bytes);
			this.bytes = bytes;
			this.view = new DataView(bytes.buffer);
		}
		return at;
	}

	u8(v: number): this {
		const at = this.room(1);
		this.view.setUint8(at, v);
		return this;
	}

	u16(v: number): this {
		const at = this.room(2);
		this.view.setUint16(at, v, true);
		return this;
	}

	u32(v: number): this {
		const at = this.room(4);
		this.view.setUint32(at, v, true);
		return this;
	}

	f32(v: number): this {
		const at = this.room(4);
		this.view.setFloat32(at, v, true);
		return this;
	}

	f64(v: number): this {
		const at = this.room(8);
		this.view.setFloat64(at, v, true);
		return this;
	}

	uv(v: number): this {
		while (v > 0x7f) {
			this.u8((v & 0x7f) | 0x80);
			v = Math.floor(v / 128);
		}
		return this.u8(v);
	}

	raw(bytes: Uint8Array): this {
		const at = this.room(bytes.length);
		this.bytes.set(bytes, at);
		return this;
	}

	str(text: string): this {
		const bytes = encoder.encode(text);
		return this.uv(bytes.length).raw(bytes);
	}
}
