/** The part of a WebSocket that the library uses. */
export interface SocketLike {
	binaryType: string;
	onopen: ((e: unknown) => void) | null;
	onmessage: ((e: { data: unknown }) => void) | null;
	onclose: ((e: { code: number }) => void) | null;
	onerror: ((e: unknown) => void) | null;
	send(data: Uint8Array<ArrayBuffer>): void;
	close(code?: number, reason?: string): void;
}

/** All that the library takes from where it runs, so that tests give it their own time and sockets. */
export interface Env {
	/** ms, of the same origin as the time given to requestAnimationFrame. */
	now(): number;
	/** [0, 1). */
	random(): number;
	after(ms: number, run: () => void): unknown;
	cancel(timer: unknown): void;
	open(url: string): SocketLike;
	/** Whether the page is in the background. */
	hidden(): boolean;
	/** Calls back when the page goes to the background or returns. The result ends that. */
	onVisibility(run: () => void): () => void;
	/** The address that the library was loaded from; empty if it cannot be known. */
	script: string;
	warn(text: string, cause?: unknown): void;
}

/** The browser, or a runtime that has the same globals. */
export function browserEnv(): Env {
	const doc = typeof document === "undefined" ? null : document;
	return {
		now: () => performance.now(),
		random: Math.random,
		after: (ms, run) => setTimeout(run, ms),
		cancel: (timer) => clearTimeout(timer as number),
		open: (url) => new WebSocket(url) as unknown as SocketLike,
		hidden: () => doc?.visibilityState === "hidden",
		onVisibility(run) {
			doc?.addEventListener("visibilitychange", run);
			return () => doc?.removeEventListener("visibilitychange", run);
		},
		script: scriptAddress(doc),
		warn: (text, cause) => (cause === undefined ? console.warn(text) : console.warn(text, cause)),
	};
}

/** Has to run while the script is being loaded: later nobody knows which one it was. */
function scriptAddress(doc: Document | null): string {
	const current = doc?.currentScript;
	if (current && "src" in current && current.src) return current.src;
	// imported as a module: the only place that names the file is a stack trace
	return /https?:\/\/[^\s()@]+?\.js/.exec(new Error().stack ?? "")?.[0] ?? "";
}
