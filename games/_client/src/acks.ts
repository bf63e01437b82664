import { after } from "./track";

/** Ms of ticks from an acked send tick to the next one that is acked as it comes: ten acks a second or fewer. */
const spacing = 90;

/**
 * Decides which of the applied send ticks are acked. An ack stands for all send ticks
 * before it, and costs a packet, so not each has one. Distances are in ticks and not in
 * time: a line's jitter does not decide, and what piled up while it stood still is
 * acked as if it had come in time.
 *
 *	30 ticks and 15 sends a second, so that an ack is due after 3 ticks
 *
 *	send ticks   snapshot 0     2      4      6 --- nothing more comes --- ping
 *	acked                 0            4                                   6
 *
 * What is withheld goes out with the next ping if no ack that stands for it has by then.
 */
export class Acks {
	private readonly distance: number;
	private readonly write: (tick: number) => void;
	private acked = 0;
	/** The newest send tick that was applied; null if it was acked. */
	private withheld: number | null = null;

	constructor(tickRate: number, write: (tick: number) => void) {
		this.distance = Math.ceil((spacing * tickRate) / 1000);
		this.write = write;
	}

	/** A connection begins: nothing of the one before is acked any more. */
	open(): void {
		this.withheld = null;
	}

	/** A send tick was applied. That of a snapshot is acked at once, as the ones after it may count from anew. */
	applied(tick: number, snapshot: boolean): void {
		this.withheld = tick;
		if (snapshot || !after((this.acked + this.distance) >>> 0, tick)) this.flush();
	}

	/** Acks what is withheld, if anything is. */
	flush(): void {
		if (this.withheld === null) return;
		this.acked = this.withheld;
		this.withheld = null;
		this.write(this.acked);
	}
}
