import { GameError } from "./errors";
import { AllActors, CommandNumber, CommandPlayer, CommandSeq, InputHeader, SkipSize } from "./layout";
import { Memory } from "./memory";
import type { Plan } from "./plan";
import type { Exports } from "./wasm";
import { World } from "./world";

/** One command, as the shared bodies take it. `record` has the layout's stride, fields included; the head is filled in when it is run. */
export interface Command {
	player: number;
	seq: number;
	/** Its number in the definition. */
	number: number;
	record: Uint8Array;
}

/** Runs one tick on a world. */
export interface Runner {
	/** Takes `w` from its tick to the next with the commands given, which are in order of player, then seq. */
	tick(w: World, commands: readonly Command[]): void;
	/** As tick, for a world that is a guess and will be thrown away. */
	guess(w: World, commands: readonly Command[]): void;
}

/** After so many reruns of a tick for one body, the body is left out of that tick. */
const rerunsPerBody = 8;

/**
 * Runs the game's compiled shared bodies. A body that fails (an endless loop, a
 * null) ends in a trap with earlier stores left behind: the tick's start is put
 * back and the tick runs again without that body for that actor, as the server
 * does, so both arrive at the same state.
 *
 * A body that loops without end costs all its fuel each time, and a page runs many
 * ticks ahead of the server, in every packet anew. So guesses leave out at once what
 * failed in both of the last two ticks that were none.
 */
export class Sim implements Runner {
	private readonly plan: Plan;
	private readonly mem: Memory;
	private readonly exports: Exports;
	private readonly start: World;
	private input = 0;
	private inputSize = 0;
	/** Body and actor by turns. */
	private readonly skips: number[] = [];
	private readonly reruns = new Map<number, number>();
	/** The skips of the last tick that was no guess, and those that the one before it had, too. */
	private failed: number[] = [];
	private failing: number[] = [];
	/** Traps so far. */
	faults = 0;

	constructor(plan: Plan, mem: Memory, exports: Exports) {
		this.plan = plan;
		this.mem = mem;
		this.exports = exports;
		this.start = new World(plan, new Memory(null, 64));
	}

	tick(w: World, commands: readonly Command[]): void {
		this.skips.length = 0;
		this.run(w, commands);
		if (this.failed.length + this.skips.length === 0) return;
		this.failing = pairs(this.skips, (body, actor) => includesPair(this.failed, body, actor));
		this.failed = this.skips.slice();
	}

	guess(w: World, commands: readonly Command[]): void {
		this.skips.length = 0;
		for (const v of this.failing) this.skips.push(v);
		this.run(w, commands);
	}

	private run(w: World, commands: readonly Command[]): void {
		this.start.copyFrom(w);
		this.reruns.clear();
		for (;;) {
			try {
				this.exports.tick(w.base, this.fill(commands));
				return;
			} catch (e) {
				w.copyFrom(this.start);
				this.skip(e);
			}
		}
	}

	private skip(cause: unknown): void {
		const { fault, fault_body, fault_actor } = this.exports;
		const body = fault_body.value >>> 0;
		const runs = this.reruns.get(body) ?? 0;
		if (!(cause instanceof WebAssembly.RuntimeError) || fault.value === 0 || runs > rerunsPerBody) {
			throw new GameError("the game's code failed: " + String(cause));
		}
		this.faults++;
		this.reruns.set(body, runs + 1);
		this.skips.push(body, runs < rerunsPerBody ? fault_actor.value >>> 0 : AllActors);
		fault.value = 0;
	}

	/** Writes the tick's input and returns its address, 0 for none. */
	private fill(commands: readonly Command[]): number {
		const skips = this.skips.length / 2;
		if (skips + commands.length === 0) return 0;
		const stride = this.plan.config.layout.commandStride;
		const size = InputHeader + skips * SkipSize + commands.length * stride;
		if (size > this.inputSize) {
			this.inputSize = Math.max(4096, 2 * size);
			this.input = this.mem.alloc(this.inputSize);
		}
		const view = this.mem.view;
		let at = this.input;
		view.setUint32(at, skips, true);
		view.setUint32(at + 4, 0, true);
		view.setUint32(at + 8, 0, true);
		view.setUint32(at + 12, commands.length, true);
		at += InputHeader;
		for (const v of this.skips) {
			view.setUint32(at, v, true);
			at += 4;
		}
		for (const c of commands) {
			this.mem.bytes.set(c.record, at);
			view.setUint32(at + CommandPlayer, c.player, true);
			view.setUint32(at + CommandSeq, c.seq, true);
			view.setUint32(at + CommandNumber, c.number, true);
			at += stride;
		}
		return this.input;
	}
}

/** Those pairs of a list of numbers, by turns, for which `keep` holds. */
function pairs(list: readonly number[], keep: (a: number, b: number) => boolean): number[] {
	const kept: number[] = [];
	for (let i = 0; i < list.length; i += 2) {
		if (keep(list[i], list[i + 1])) kept.push(list[i], list[i + 1]);
	}
	return kept;
}

function includesPair(list: readonly number[], a: number, b: number): boolean {
	return pairs(list, (x, y) => x === a && y === b).length > 0;
}
