import type { Env, SocketLike } from "./env";
import { type Reason, Silent, backoff, reasonOf } from "./reasons";

export interface SocketEvents {
	/** The address to connect to, asked for at each attempt. */
	url(): string;
	open(): void;
	/** One message; null for one that was not binary. */
	message(bytes: Uint8Array | null): void;
	/** The connection is gone; the next attempt begins in `wait` ms. */
	down(reason: Reason, wait: number): void;
	/** The connection is gone and none follows. */
	closed(reason: Reason): void;
}

/** An attempt that has not opened by then is given up, in ms. */
const openTimeout = 10_000;

/** One WebSocket after another, until a reason ends it for good. */
export class Socket {
	private readonly env: Env;
	private readonly events: SocketEvents;
	private ws: SocketLike | null = null;
	private timer: unknown = null;
	private attempt = 0;
	private ended = false;

	constructor(env: Env, events: SocketEvents) {
		this.env = env;
		this.events = events;
	}

	/** Opens the next WebSocket. */
	start(): void {
		if (this.ended) return;
		let ws: SocketLike;
		try {
			ws = this.env.open(this.events.url());
		} catch (e) {
			this.env.warn("gamehoster: the address cannot be connected to", e);
			this.finish({ ...reasonOf(1006), reconnects: false });
			return;
		}
		this.ws = ws;
		ws.binaryType = "arraybuffer";
		this.timer = this.env.after(openTimeout, () => this.drop(Silent));
		ws.onopen = () => {
			this.env.cancel(this.timer);
			this.events.open();
		};
		ws.onmessage = (e) => this.events.message(e.data instanceof ArrayBuffer ? new Uint8Array(e.data) : null);
		ws.onclose = (e) => this.lost(e.code);
		ws.onerror = null;
	}

	/** Sends while connected; otherwise does nothing. */
	send(bytes: Uint8Array<ArrayBuffer>): void {
		this.ws?.send(bytes);
	}

	/** The connection works: a later failure starts the backoff from its beginning. */
	settled(): void {
		this.attempt = 0;
	}

	/** Leaves the connection for a reason of the library's own, which decides whether another follows. */
	drop(code: number): void {
		this.abandon(code);
		this.lost(code);
	}

	/** Ends it for good. */
	close(): void {
		if (this.ended) return;
		this.abandon(1000);
		this.finish({ code: 1000, text: "the page left the game", reconnects: false });
	}

	private abandon(code: number): void {
		const ws = this.ws;
		if (!ws) return;
		ws.onopen = ws.onmessage = ws.onclose = null;
		ws.close(code);
	}

	private lost(code: number): void {
		if (this.ended) return;
		this.ws = null;
		this.env.cancel(this.timer);
		const reason = reasonOf(code);
		if (!reason.reconnects) {
			this.finish(reason);
			return;
		}
		const wait = backoff(code, this.attempt++, this.env.random());
		this.timer = this.env.after(wait, () => this.start());
		this.events.down(reason, wait);
	}

	private finish(reason: Reason): void {
		this.ended = true;
		this.ws = null;
		this.env.cancel(this.timer);
		this.events.closed(reason);
	}
}
