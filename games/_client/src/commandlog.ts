import type { Relayed } from "./messages";
import type { Command } from "./sim";
import { after } from "./track";

const none: readonly Command[] = [];

/** Commands of all players by the tick that they take effect on, each tick's in order of player, then seq. */
export class CommandLog {
	private readonly ticks = new Map<number, Relayed[]>();

	get size(): number {
		return this.ticks.size;
	}

	at(tick: number): readonly Command[] {
		return this.ticks.get(tick) ?? none;
	}

	/** Files a command; false if it had been filed already. */
	file(c: Relayed): boolean {
		const list = this.ticks.get(c.tick);
		if (!list) {
			this.ticks.set(c.tick, [c]);
			return true;
		}
		let i = list.length;
		while (i > 0 && (list[i - 1].player > c.player || (list[i - 1].player === c.player && list[i - 1].seq > c.seq))) i--;
		if (i > 0 && list[i - 1].player === c.player && list[i - 1].seq === c.seq) return false;
		list.splice(i, 0, c);
		return true;
	}

	remove(c: Relayed): void {
		const list = this.ticks.get(c.tick);
		if (!list) return;
		list.splice(list.indexOf(c), 1);
		if (list.length === 0) this.ticks.delete(c.tick);
	}

	clear(): void {
		this.ticks.clear();
	}

	/** Forgets the commands of ticks up to `tick`. */
	prune(tick: number): void {
		for (const t of this.ticks.keys()) if (!after(t, tick)) this.ticks.delete(t);
	}
}
