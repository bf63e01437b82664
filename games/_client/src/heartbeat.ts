import type { Env } from "./env";

// Times are in ms.
const pingPeriod = 1000;
/** The first pings come quicker, so that the clock is right soon. */
const firstPings = 5;
const firstPingPeriod = 200;
/** Pings that may be unanswered at a time; older ones are forgotten. */
const maxPinged = 16;
/** A server that says nothing for so long is given up. */
const silence = 10_000;

export interface HeartbeatEvents {
	ping(nonce: number): void;
	/** The server has fallen silent. No further beat comes. */
	silent(): void;
}

/** Pings the server of one connection after the other, and notices when nothing comes from it any more. */
export class Heartbeat {
	private readonly env: Env;
	private readonly events: HeartbeatEvents;
	private timer: unknown = null;
	private heardAt = 0;
	private pinging = false;
	private pings = 0;
	/** When each ping without an answer was sent, by nonce. */
	private readonly sent = new Map<number, number>();

	constructor(env: Env, events: HeartbeatEvents) {
		this.env = env;
		this.events = events;
	}

	/** A connection has opened. It may be pinged once the server has greeted it. */
	open(): void {
		this.pinging = false;
		this.pings = 0;
		this.sent.clear();
		this.heard();
		this.beat();
	}

	/** Pings now and from now on. */
	welcomed(): void {
		this.pinging = true;
		this.ping();
	}

	/** Something came from the server, or the page was not there to hear it. */
	heard(): void {
		this.heardAt = this.env.now();
	}

	/** When the ping was sent that a pong answers: undefined if there was none, NaN if that is forgotten. */
	answered(nonce: number): number | undefined {
		if (nonce < this.pings - maxPinged) return NaN;
		const at = this.sent.get(nonce);
		this.sent.delete(nonce);
		return at;
	}

	stop(): void {
		this.env.cancel(this.timer);
	}

	private beat(): void {
		if (this.env.now() - this.heardAt > silence && !this.env.hidden()) {
			this.events.silent();
			return;
		}
		if (this.pinging) this.ping();
		this.timer = this.env.after(this.pings < firstPings ? firstPingPeriod : pingPeriod, () => this.beat());
	}

	private ping(): void {
		const nonce = this.pings++;
		this.sent.set(nonce, this.env.now());
		this.sent.delete(nonce - maxPinged);
		this.events.ping(nonce);
	}
}
