import type { Env } from "./env";

/** What a page may listen for. */
const names = ["welcome", "ready", "join", "drop", "enter", "leave", "tick", "correction", "reconnecting", "closed"];

type Handler = (...values: unknown[]) => void;

/** Handlers by event name. A handler that throws is reported and disturbs no one else. */
export class Events {
	private readonly handlers = new Map<string, Handler[]>();
	private readonly env: Env;

	constructor(env: Env) {
		this.env = env;
	}

	/** Adds a handler and returns a function that takes it away again. */
	on(name: string, handler: Handler): () => void {
		if (!names.includes(name)) this.env.warn("gamehoster: there is no event " + name + "; there are " + names.join(", "));
		// lists are replaced, not changed, so that a handler may go while it is called
		this.handlers.set(name, [...(this.handlers.get(name) ?? []), handler]);
		return () => {
			this.handlers.set(name, (this.handlers.get(name) ?? []).filter((h) => h !== handler));
		};
	}

	/** Whether anyone listens for the event. */
	heard(name: string): boolean {
		return (this.handlers.get(name) ?? []).length > 0;
	}

	emit(name: string, ...values: unknown[]): void {
		for (const h of this.handlers.get(name) ?? []) {
			try {
				h(...values);
			} catch (e) {
				this.env.warn("gamehoster: a handler of " + name + " threw", e);
			}
		}
	}
}
