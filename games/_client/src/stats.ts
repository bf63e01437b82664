/** What the library measures. Numbers grow from the connect on unless they say otherwise. */
export interface Stats {
	/** Round trip of the last ping in ms; NaN before the first. */
	ping: number;
	/** Spread of the arrival of send ticks in ms. */
	jitter: number;
	/** Ticks that the present is ahead of the server. */
	lead: number;
	/** Server time less page time, in ticks. */
	offset: number;
	/** Tick of the confirmed world, and of the predicted one. */
	tick: number;
	predicted: number;
	/** The tick that is drawn, with the part of it that has passed. */
	present: number;
	bytesIn: number;
	bytesOut: number;
	/** Bytes by message name, both ways. */
	bytes: Record<string, number>;
	/** Objects whose rebuilt prediction differed from the one shown, and those of them that were too far off to be eased. */
	corrections: number;
	snaps: number;
	/** Keyframed values that differed, all and by field. */
	drift: number;
	driftBy: Record<string, number>;
	/** Late commands of others that took the confirmed world back. */
	rewinds: number;
	/** Body runs that failed and were left out. */
	faults: number;
	snapshots: number;
	/** Snapshots asked for, since the state could not be brought on. */
	resyncs: number;
	/** Messages that could not be read. */
	malformed: number;
	reconnects: number;
}

export function newStats(): Stats {
	return {
		ping: NaN,
		jitter: 0,
		lead: 0,
		offset: NaN,
		tick: 0,
		predicted: 0,
		present: 0,
		bytesIn: 0,
		bytesOut: 0,
		bytes: {},
		corrections: 0,
		snaps: 0,
		drift: 0,
		driftBy: {},
		rewinds: 0,
		faults: 0,
		snapshots: 0,
		resyncs: 0,
		malformed: 0,
		reconnects: 0,
	};
}
