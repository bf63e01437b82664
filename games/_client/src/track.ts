import type { Type } from "./plan";
import type { World } from "./world";

/** Whether tick a comes after tick b; ticks wrap. */
export function after(a: number, b: number): boolean {
	return ((a - b) | 0) > 0;
}

/** Copies a few bytes without making a view of them, which costs more than they do. */
function copy(from: Uint8Array, at: number, to: Uint8Array, toAt: number, n: number): void {
	for (let i = 0; i < n; i++) to[toAt + i] = from[at + i];
}

/**
 * The values that one object's sent fields had after the send ticks that
 * changed them: a ring of copies of the row's sent bytes.
 */
export class Track {
	readonly type: Type;
	/** The newest tick at which the object was known to exist. */
	seen: number;
	private readonly span: number;
	private capacity = 4;
	private head = 0;
	private length = 0;
	private ticks = new Uint32Array(4);
	/** Versions, one after the other; `view` shows the same bytes. */
	data: Uint8Array;
	view: DataView;

	constructor(type: Type, tick: number) {
		this.type = type;
		this.seen = tick;
		this.span = type.sentTo - type.sentFrom;
		this.data = new Uint8Array(4 * this.span);
		this.view = new DataView(this.data.buffer);
	}

	get versions(): number {
		return this.length;
	}

	private index(i: number): number {
		return (this.head + i) % this.capacity;
	}

	/** The tick of the newest version. */
	get newest(): number {
		return this.ticks[this.index(this.length - 1)];
	}

	/** Records the row's sent bytes as those of `tick`, which is not before the newest. */
	record(tick: number, w: World, row: number): void {
		if (this.length === 0 || this.newest !== tick) {
			if (this.length === this.capacity) this.grow();
			this.length++;
			this.ticks[this.index(this.length - 1)] = tick;
		}
		copy(w.bytes, row + this.type.sentFrom, this.data, this.index(this.length - 1) * this.span, this.span);
	}

	private grow(): void {
		const ticks = new Uint32Array(2 * this.capacity);
		const data = new Uint8Array(2 * this.capacity * this.span);
		for (let i = 0; i < this.length; i++) {
			const from = this.index(i);
			ticks[i] = this.ticks[from];
			data.set(this.data.subarray(from * this.span, (from + 1) * this.span), i * this.span);
		}
		this.head = 0;
		this.capacity *= 2;
		this.ticks = ticks;
		this.data = data;
		this.view = new DataView(data.buffer);
	}

	/**
	 * Where the version in force after `tick` begins, as an address of a row in
	 * `data` (add a field's offset); NaN if the object had none yet.
	 */
	at(tick: number): number {
		for (let i = this.length - 1; i >= 0; i--) {
			if (!after(this.ticks[this.index(i)], tick)) return this.index(i) * this.span - this.type.sentFrom;
		}
		return NaN;
	}

	/** Writes the version in force after `tick` to a row; false if there is none. */
	write(tick: number, w: World, row: number): boolean {
		const at = this.at(tick);
		if (Number.isNaN(at)) return false;
		copy(this.data, at + this.type.sentFrom, w.bytes, row + this.type.sentFrom, this.span);
		return true;
	}

	/** Forgets what was recorded at `tick`, the newest. */
	undo(tick: number): void {
		if (this.length > 0 && this.newest === tick) this.length--;
	}

	/** Forgets the versions that were over before `horizon`. */
	prune(horizon: number): void {
		while (this.length > 1 && !after(this.ticks[this.index(1)], horizon)) {
			this.head = (this.head + 1) % this.capacity;
			this.length--;
		}
	}
}
