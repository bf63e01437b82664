import type { Relayed } from "./messages";
import { after } from "./track";

/** An own command and the tick that it was stamped with. */
export type Own = Relayed;

/** Own commands that the server has not run or refused yet, by seq. */
export class Outbox {
	readonly list: Own[] = [];
	private next = 1;
	private readonly due: Own[] = [];

	/** Gives the command its seq and keeps it. */
	add(c: Own): void {
		c.seq = this.next++;
		this.list.push(c);
	}

	/** The server has dealt with every own command up to `seq`. */
	processed(seq: number): void {
		let n = 0;
		while (n < this.list.length && this.list[n].seq <= seq) n++;
		this.list.splice(0, n);
	}

	/** After a welcome: what the server has not received by then is lost, and the next seq follows what it has. */
	resume(received: number, sameSeat: boolean): void {
		if (!sameSeat) this.list.length = 0;
		while (this.list.length > 0 && this.list[this.list.length - 1].seq > received) this.list.pop();
		this.next = received + 1;
	}

	/**
	 * The commands that a prediction takes the server to run in `tick`: those stamped with
	 * it and, in `earliest`, the first tick that can still take any, what was stamped with
	 * one before it. The list is valid until the next call.
	 */
	at(tick: number, earliest: number, predicts: (number: number) => boolean): readonly Own[] {
		this.due.length = 0;
		for (const c of this.list) {
			const at = after(earliest, c.tick) ? earliest : c.tick;
			if (at === tick && predicts(c.number)) this.due.push(c);
		}
		return this.due;
	}
}
