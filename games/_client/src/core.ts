import { Confirmed } from "./confirmed";
import { Memory } from "./memory";
import type { Outbox } from "./outbox";
import type { Plan } from "./plan";
import { Predicted } from "./predicted";
import { Sim } from "./sim";
import { thinRunner } from "./thin";
import type { Exports } from "./wasm";

/** The two worlds of a game and what runs them. */
export interface Core {
	confirmed: Confirmed;
	predicted: Predicted;
	sim: Sim | null;
}

/**
 * Lays the worlds out in the module's memory or, without a module, in a plain buffer.
 * Only those that bodies run on are there, which are three: the module's memory has an
 * end, at 256 MiB, and a world may have 64.
 */
export function makeCore(plan: Plan, exports: Exports | null, outbox: Outbox): Core {
	const mem = exports ? new Memory(exports.memory, exports.heap.value as number) : new Memory(null, 64);
	const sim = exports ? new Sim(plan, mem, exports) : null;
	const runner = sim ?? thinRunner;
	return { confirmed: new Confirmed(plan, mem, runner), predicted: new Predicted(plan, mem, runner, outbox), sim };
}
