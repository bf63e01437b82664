const golden = 0x9e3779b97f4a7c15n;
const u64 = (x: bigint): bigint => BigInt.asUintN(64, x);

function mix(x: bigint): bigint {
	x = u64((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n);
	x = u64((x ^ (x >> 27n)) * 0x94d049bb133111ebn);
	return x ^ (x >> 31n);
}

const unit = (seed: bigint, n: number): number => Number(mix(u64(seed + BigInt(n) * golden)) >> 11n) / 2 ** 53;

/** Times are in ms, bandwidth is in bytes a second; what is left out is 0. */
export interface Conditions {
	delay?: number;
	jitter?: number;
	stall?: number;
	stallEvery?: number;
	bandwidth?: number;
	seed?: bigint;
}

/** The two directions of the n-th connection under the conditions. */
export function lines(c: Conditions, n: number): [there: Line, back: Line] {
	const seed = mix(u64((c.seed ?? 0n) + BigInt(n + 1) * golden));
	const stalls = mix(u64(seed + golden));
	return [new Line(c, mix(seed + 1n), stalls), new Line(c, mix(seed + 2n), stalls)];
}

/** The server's network conditioner (wire/line) once more, for tests in virtual time. It is held to the server's own schedules. */
export class Line {
	private stalled = 0;
	private begins: number;
	private busy = 0;
	private last = 0;

	constructor(
		private readonly c: Conditions,
		private readonly jitter: bigint,
		private readonly stalls: bigint,
	) {
		this.begins = this.pause();
	}

	private pause(): number {
		return (0.5 + unit(this.stalls, ++this.stalled)) * (this.c.stallEvery ?? 0);
	}

	/** When n bytes that go in at `now` come out. */
	arrival(now: number, n: number): number {
		const { delay = 0, jitter = 0, bandwidth = 0 } = this.c;
		this.busy = Math.max(this.busy, now) + (bandwidth > 0 ? (n / bandwidth) * 1000 : 0);
		const out = this.busy + delay + (jitter > 0 ? unit(this.jitter, Math.floor(now / 4)) * jitter : 0);
		this.last = Math.max(this.last, this.held(Math.max(out, this.last)));
		return this.last;
	}

	private held(out: number): number {
		const { stall = 0 } = this.c;
		if (stall === 0) return out;
		while (out >= this.begins + stall) this.begins += stall + this.pause();
		return out >= this.begins ? this.begins + stall : out;
	}
}
