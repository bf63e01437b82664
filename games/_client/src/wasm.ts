import { GameError } from "./errors";

/** What the client module of a game exports. */
export interface Exports {
	memory: WebAssembly.Memory;
	tick(base: number, input: number): void;
	heap: WebAssembly.Global;
	fault: WebAssembly.Global;
	fault_at: WebAssembly.Global;
	fault_body: WebAssembly.Global;
	fault_actor: WebAssembly.Global;
}

/** Compiles a module handed over as base64. Rejects where the page's policy forbids wasm. */
export function compile(base64: string): Promise<WebAssembly.Module> {
	const text = atob(base64);
	const bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
	return WebAssembly.compile(bytes);
}

export async function instantiate(module: WebAssembly.Module): Promise<Exports> {
	const instance = await WebAssembly.instantiate(module, {});
	const e = instance.exports as unknown as Partial<Exports>;
	if (!e.memory || typeof e.tick !== "function" || !e.heap) throw new GameError("the game's module lacks memory, tick or heap");
	return e as Exports;
}

/** Whether the page's policy lets WebAssembly in: tried on the smallest module there is. */
export function wasmAllowed(): boolean {
	try {
		return new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)) instanceof WebAssembly.Module;
	} catch {
		return false;
	}
}
