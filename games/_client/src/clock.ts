import { after } from "./track";

/** A tick is 32 bits and wraps; the clock counts on past that, so that it can be subtracted and averaged. */
class Unwrapped {
	private last = 0;
	private any = false;

	of(tick: number): number {
		this.last = this.any ? this.last + ((tick - this.last) | 0) : tick;
		this.any = true;
		return this.last;
	}
}

/** Follows a target in time without ever going back: it runs up to half faster or slower until it is there. */
export class Follower {
	private value = NaN;
	private seen = 0;
	private readonly rate: number;
	private readonly leap: number;

	/** `rate` is ticks per ms; a target more than `leap` ticks ahead is jumped to. */
	constructor(rate: number, leap: number) {
		this.rate = rate;
		this.leap = leap;
	}

	reset(): void {
		this.value = NaN;
	}

	at(now: number, target: number): number {
		if (Number.isNaN(this.value) || target - this.value > this.leap) {
			this.value = target;
			this.seen = now;
			return target;
		}
		const passed = Math.max(0, now - this.seen) * this.rate;
		this.seen = Math.max(now, this.seen);
		const off = target - (this.value + passed);
		const most = passed * (Math.abs(off) > 1 ? 0.5 : 0.1);
		this.value += passed + Math.max(-most, Math.min(most, off));
		return this.value;
	}
}

const pingWindow = 8;
const arrivalWindow = 32;

/** Keeps the last few. */
function push(list: number[], v: number): void {
	if (list.length === arrivalWindow) list.shift();
	list.push(v);
}

/**
 * What time it is on the server, from pongs and from when send ticks arrive.
 * Times are ms of the page's clock, ticks are fractions of the server's.
 *
 *	server tick now   = offset of the quickest of the last pongs
 *	present           = server tick + lead, lead = half the round trip + jitter
 *	drawn sent values = newest arriving tick - one send period - jitter
 */
export class Clock {
	/** Round trip of the last pong in ms. */
	ping = NaN;
	private readonly rate: number;
	private readonly period: number;
	private readonly ticks = new Unwrapped();
	private readonly ahead: Follower;
	private readonly shown: Follower;
	private readonly trips: { rtt: number; offset: number }[] = [];
	/** Lateness of the last send ticks: arrival time in ticks less the tick. */
	private readonly late: number[] = [];
	/** The same of those that did not come in the wake of another one. */
	private readonly alone: number[] = [];
	private lastArrival = -Infinity;
	private bestRtt = 0;
	private offset = NaN;
	private earliest = NaN;
	private jitterTicks = 0;

	/** `tickRate` in Hz, `period` in ticks from one send to the next. */
	constructor(tickRate: number, period: number) {
		this.rate = tickRate / 1000;
		this.period = period;
		this.ahead = new Follower(this.rate, tickRate);
		this.shown = new Follower(this.rate, tickRate);
	}

	/** Forgets what was measured: the connection or the instance is another one. `moved` says that its ticks are, too. */
	reset(moved: boolean): void {
		this.trips.length = this.late.length = this.alone.length = 0;
		this.jitterTicks = 0;
		this.bestRtt = 0;
		this.earliest = NaN;
		if (!moved) return;
		this.offset = NaN;
		this.ahead.reset();
		this.shown.reset();
	}

	/** A pong came for the ping sent at `sent`: the server stood `part` of a tick past `tick`. */
	pong(sent: number, now: number, tick: number, part: number): void {
		const rtt = Math.max(0, now - sent);
		this.ping = rtt;
		const offset = this.ticks.of(tick) + part + (rtt / 2 - now) * this.rate;
		// The pong was written some time in the round trip. What lies outside of that
		// was true before the server dropped ticks, and is not any more.
		const doubt = (rtt / 2) * this.rate + 0.5;
		while (this.trips.length > 0 && Math.abs(this.trips[0].offset - offset) > doubt + (this.trips[0].rtt / 2) * this.rate) this.trips.shift();
		if (this.trips.length === pingWindow) this.trips.shift();
		this.trips.push({ rtt, offset });
		let best = this.trips[0];
		for (const t of this.trips) if (t.rtt < best.rtt) best = t;
		this.bestRtt = best.rtt;
		this.offset = best.offset;
	}

	/** The send tick `tick` arrived. */
	arrived(tick: number, now: number): void {
		const t = this.ticks.of(tick);
		const late = now * this.rate - t;
		push(this.late, late);
		// When a line that stood still goes on, all that piled up comes at once: that is one
		// bad moment, not many.
		if ((now - this.lastArrival) * this.rate > this.period / 2) push(this.alone, late);
		this.lastArrival = now;
		this.earliest = Math.min(...this.late);
		const worst = [...this.alone].sort((a, b) => b - a);
		// one straggler is a stall, not the line's jitter
		this.jitterTicks = worst.length > 2 ? Math.max(0, worst[1] - this.earliest) : 0;
		// the server has run `tick` for sure
		const floor = t - now * this.rate;
		if (Number.isNaN(this.offset) || this.offset < floor) this.offset = floor;
	}

	/** In ms. */
	get jitter(): number {
		return this.jitterTicks / this.rate;
	}

	/** How far the present is ahead of the server, in ticks. */
	get lead(): number {
		return (this.bestRtt / 2) * this.rate + Math.min(this.jitterTicks, 8) + 0.1;
	}

	/** Server tick less page time, in ticks. */
	get serverOffset(): number {
		return this.offset;
	}

	/** The tick that the server is in, unwrapped; NaN until something arrived. */
	server(now: number): number {
		return now * this.rate + this.offset;
	}

	/** The viewer's present. Its whole part is the last tick to predict, its fraction how far the next one is due. Never decreases. */
	present(now: number): number {
		return Number.isNaN(this.offset) ? NaN : this.ahead.at(now, this.server(now) + this.lead);
	}

	/** The tick whose sent values are drawn. Never decreases. */
	drawn(now: number): number {
		return Number.isNaN(this.earliest) ? NaN : this.shown.at(now, now * this.rate - this.earliest - this.period - Math.min(this.jitterTicks, 16));
	}
}

/** The distance from tick b to an unwrapped, fractional tick a. */
export function since(a: number, b: number): number {
	const whole = Math.floor(a);
	return ((whole - b) | 0) + (a - whole);
}

/** Whether a page that holds tick `have` is more than `limit` ticks behind `now`. */
export function behind(have: number, now: number, limit: number): boolean {
	return after(now, (have + limit) >>> 0);
}
