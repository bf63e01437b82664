import type { Confirmed } from "./confirmed";
import { Memory } from "./memory";
import type { Outbox, Own } from "./outbox";
import type { Plan } from "./plan";
import type { Runner } from "./sim";
import { after } from "./track";
import { World } from "./world";

/** A prediction goes no further than this past the confirmed world, in ticks. */
export const maxAhead = 32;

export interface PredictedEvents {
	/** The prediction was made anew, and what stood in its place is in `old` and `oldDraft`. */
	rebuilt(): void;
	/** A tick that is new; of those that the confirmed world has overtaken, the last. */
	tick(tick: number): void;
}

/**
 * The confirmed world run on to the viewer's present with its own commands. It
 * is thrown away and made anew when the confirmed world has moved, so a wrong
 * guess never has to be repaired.
 *
 *	confirmed --> ... --> world  P, the last tick that is over at the viewer's present
 *	                        |
 *	                        +--> draft  P + 1, the tick that is under way
 *
 * The picture is drawn between the two. A command is stamped P + 1, so it changes
 * the draft: what a player does is seen in the next frame, not in the next tick.
 */
export class Predicted {
	readonly world: World;
	readonly draft: World;
	readonly old: World;
	readonly oldDraft: World;
	private readonly runner: Runner;
	private readonly outbox: Outbox;
	private readonly predicts: (number: number) => boolean;
	private stale = true;
	private started = false;
	/** The draft lacks nothing. */
	private drafted = false;
	/** The first tick that the server may run an own command in. */
	private earliest = 0;

	constructor(plan: Plan, mem: Memory, runner: Runner, outbox: Outbox) {
		this.world = new World(plan, mem);
		this.draft = new World(plan, mem);
		const aside = new Memory(null, 64);
		this.old = new World(plan, aside);
		this.oldDraft = new World(plan, aside);
		for (const w of [this.world, this.draft]) w.clear();
		this.runner = runner;
		this.outbox = outbox;
		this.predicts = (n) => plan.commands[n].shared;
	}

	/** The confirmed world has moved. `restart` says that it is another one: nothing is carried over. */
	invalidate(restart: boolean): void {
		this.stale = true;
		if (restart) this.started = false;
	}

	/** A command was added for the tick that is under way. */
	commanded(): void {
		this.drafted = false;
	}

	/** Brings the prediction to tick `present` or as near as it may go. */
	advance(confirmed: Confirmed, present: number, events: PredictedEvents): void {
		if (this.stale) this.rebuild(confirmed, events);
		const limit = (confirmed.world.tick + maxAhead - 1) >>> 0;
		const to = after(present, limit) ? limit : present;
		while (after(to, this.world.tick)) {
			this.makeDraft();
			this.world.copyFrom(this.draft);
			this.drafted = false;
			events.tick(this.world.tick);
		}
		this.makeDraft();
	}

	private rebuild(confirmed: Confirmed, events: PredictedEvents): void {
		const at = this.world.tick;
		const { tick } = confirmed.world;
		// after a long absence there is nothing to go on from
		const carried = this.started && !after(tick, (at + maxAhead) >>> 0);
		if (carried) {
			// what the newest commands change is no correction
			this.makeDraft();
			this.old.copyFrom(this.world);
			this.oldDraft.copyFrom(this.draft);
		}
		const overtaken = this.started && after(tick, at);
		this.earliest = confirmed.earliest;
		confirmed.suppose((t) => this.own(t), this.world);
		this.stale = this.drafted = false;
		this.started = true;
		if (carried) {
			while (after(at, this.world.tick)) this.run(this.world);
			this.makeDraft();
			events.rebuilt();
		}
		if (overtaken) events.tick(this.world.tick);
	}

	private makeDraft(): void {
		if (this.drafted) return;
		this.drafted = true;
		this.draft.copyFrom(this.world);
		this.run(this.draft);
	}

	private run(w: World): void {
		this.runner.guess(w, this.own((w.tick + 1) >>> 0));
	}

	private own(tick: number): readonly Own[] {
		return this.outbox.at(tick, this.earliest, this.predicts);
	}
}
