/** A small seeded generator (mulberry32), so that a failing run can be run again. */
export class Random {
	private state: number;

	constructor(seed: number) {
		this.state = seed >>> 0;
	}

	/** [0, 1) */
	next(): number {
		this.state = (this.state + 0x6d2b79f5) >>> 0;
		let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	}

	/** An integer in [0, n). */
	below(n: number): number {
		return Math.floor(this.next() * n);
	}
}
