import type { Env, SocketLike } from "../src/env";

/** Time that passes when it is told to, with its timers. */
export class FakeTime {
	now = 1000;
	private timers: { at: number; run: () => void; id: number }[] = [];
	private ids = 0;

	after(ms: number, run: () => void): number {
		this.timers.push({ at: this.now + ms, run, id: ++this.ids });
		return this.ids;
	}

	cancel(id: unknown): void {
		this.timers = this.timers.filter((t) => t.id !== id);
	}

	get pending(): number {
		return this.timers.length;
	}

	pass(ms: number): void {
		const end = this.now + ms;
		for (;;) {
			const next = this.timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at || a.id - b.id)[0];
			if (!next) break;
			this.cancel(next.id);
			this.now = Math.max(this.now, next.at);
			next.run();
		}
		this.now = end;
	}
}

export class FakeSocket implements SocketLike {
	binaryType = "";
	onopen: SocketLike["onopen"] = null;
	onmessage: SocketLike["onmessage"] = null;
	onclose: SocketLike["onclose"] = null;
	onerror: SocketLike["onerror"] = null;
	readonly sent: Uint8Array[] = [];
	closedWith: number | undefined;

	constructor(readonly url: string) {}

	send(data: Uint8Array<ArrayBuffer>): void {
		this.sent.push(data);
	}

	close(code?: number): void {
		this.closedWith = code;
	}

	/** What the server sends. */
	receive(...messages: Uint8Array[]): void {
		for (const m of messages) this.onmessage?.({ data: m.slice().buffer });
	}

	/** Takes the messages sent so far. */
	take(): Uint8Array[] {
		return this.sent.splice(0);
	}
}

export class FakeEnv implements Env {
	constructor(readonly time = new FakeTime()) {}

	readonly sockets: FakeSocket[] = [];
	readonly warnings: string[] = [];
	script = "https://play.example/walk/gamehoster.js";
	luck = 0.5;
	isHidden = false;
	private watchers: (() => void)[] = [];

	now = (): number => this.time.now;
	random = (): number => this.luck;
	after = (ms: number, run: () => void): unknown => this.time.after(ms, run);
	cancel = (timer: unknown): void => this.time.cancel(timer);
	hidden = (): boolean => this.isHidden;
	warn = (text: string): void => void this.warnings.push(text);

	open = (url: string): SocketLike => {
		const s = new FakeSocket(url);
		this.sockets.push(s);
		return s;
	};

	onVisibility = (run: () => void): (() => void) => {
		this.watchers.push(run);
		return () => (this.watchers = this.watchers.filter((w) => w !== run));
	};

	hide(hidden: boolean): void {
		this.isHidden = hidden;
		for (const w of this.watchers) w();
	}

	get watching(): number {
		return this.watchers.length;
	}

	/** The newest socket. */
	get socket(): FakeSocket {
		return this.sockets[this.sockets.length - 1];
	}
}
