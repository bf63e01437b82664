import type { Memory } from "./memory";
import type { Outbox } from "./outbox";
import type { Plan } from "./plan";
import type { Runner } from "./sim";
import { after } from "./track";
import { World } from "./world";

/** A prediction goes no further than this past the confirmed world. */
export const maxAhead = 32;

/**
 * The confirmed world run on to the viewer's present with its own commands. It
 * is thrown away and made anew when the confirmed world has moved, so a wrong
 * guess never has to be repaired.
 */
export class Predicted {
	readonly world: World;
	/** The state one tick earlier, to interpolate from. */
	readonly before: World;
	/** What `world` was before the last rebuild, at the same tick as after it. */
	readonly old: World;
	private readonly runner: Runner;
	private readonly outbox: Outbox;
	private readonly predicts: (number: number) => boolean;
	private stale = true;
	private started = false;

	constructor(plan: Plan, mem: Memory, runner: Runner, outbox: Outbox) {
		this.world = new World(plan, mem);
		this.before = new World(plan, mem);
		this.old = new World(plan, mem);
		this.world.clear();
		this.before.clear();
		this.runner = runner;
		this.outbox = outbox;
		this.predicts = (n) => plan.commands[n].shared;
	}

	/** The confirmed world has moved. `restart` says that it is another one: nothing is carried over. */
	invalidate(restart: boolean): void {
		this.stale = true;
		if (restart) this.started = false;
	}

	/**
	 * Brings the prediction to tick `present` or as near as it may go, and calls
	 * `onTick` for each tick that is new; of those that the confirmed world has
	 * overtaken, for the last. True if it was rebuilt over what was
	 * there before, which is then in `old`.
	 */
	advance(confirmed: World, present: number, onTick: (tick: number) => void): boolean {
		const rebuilt = this.stale && this.started;
		const at = this.world.tick;
		if (this.stale) {
			if (rebuilt) this.old.copyFrom(this.world);
			this.world.copyFrom(confirmed);
			if (!rebuilt) this.before.copyFrom(confirmed);
			this.stale = false;
			this.started = true;
			if (rebuilt) {
				while (after(at, this.world.tick)) this.step(confirmed.tick);
				if (this.world.tick !== at) onTick(this.world.tick);
			}
		}
		const limit = (confirmed.tick + maxAhead) >>> 0;
		const to = after(present, limit) ? limit : present;
		while (after(to, this.world.tick)) {
			this.step(confirmed.tick);
			onTick(this.world.tick);
		}
		return rebuilt && this.old.tick === this.world.tick;
	}

	private step(confirmed: number): void {
		const w = this.world;
		this.before.copyFrom(w);
		this.runner.tick(w, this.outbox.at((w.tick + 1) >>> 0, confirmed, this.predicts));
	}
}
