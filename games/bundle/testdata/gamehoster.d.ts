// The library of the game "rocks", as a page sees it. Written with gamehoster.js; changes here are lost.
//
// Next to <script src="/rocks/gamehoster.js">: /// <reference path="./gamehoster.d.ts" />

declare namespace gamehoster {
	/** The instance: what there is once. */
	interface Instance {
		readonly id: number;
		/** u16, shared */
		readonly level: number;
	}

	/** A player; at most 8 in an instance. */
	interface Player {
		readonly id: number;
		/** f32, shared, drawn between ticks */
		readonly x: number;
		/** f32, shared, an angle in radians, drawn between ticks */
		readonly heading: number;
		/** u8, sent, only to its owner, empty for others */
		readonly hand: number;
		/** f32, sent, from -10 to 10 by 0.5 */
		readonly y: number;
		/** bool, shared */
		readonly alive: boolean;
		/** at most 12 bytes of UTF-8, sent */
		readonly nick: string;
	}

	/** An entity; at most 16 in an instance. */
	interface Bullet {
		readonly id: number;
		/** Its player; null once that one is gone. */
		readonly owner: Player | null;
		/** null for none and for one out of view, shared */
		readonly target: Player | null;
	}

	/** An entity; at most 3 in an instance. */
	interface Bus {
		readonly id: number;
	}

	/** The entities of the picture by type, under the type's name and its plural. */
	interface Entities {
		readonly bullet: Collection<Bullet>;
		readonly bullets: Collection<Bullet>;
		readonly bus: Collection<Bus>;
		readonly buses: Collection<Bus>;
	}

	/** An entity and the name of its type, as events have them. */
	type EntityEvents = [entity: Bullet, type: "bullet"] | [entity: Bus, type: "bus"];

	/**
	 * What a player can do. The result is false where there is nobody to send to. A value of a wrong type is a
	 * TypeError, one that the server would refuse a RangeError; what is left out is 0, false, empty or null.
	 */
	interface Send {
		aim(values: {
			/** f32 from -1 to 1 */
			x?: number;
			/** an object or its id */
			at?: Bullet | number | null;
			/** at most 8 bytes of UTF-8 */
			text?: string;
			/** f64 */
			free?: number;
			/** u8 from 1 to 5 */
			gear: number;
		}): boolean;
		stop(): boolean;
	}

	/**
	 * The objects of one type in the picture, in ascending order of id. An object stays the same one as long as it lives.
	 * In a game with view.js, what the page's own rules made has an id from 2^31 up until the server announces it.
	 */
	interface Collection<T> extends Iterable<T> {
		readonly size: number;
		get(id: number): T | null;
	}

	/** Why a connection ended. */
	interface Reason {
		/** WebSocket close code; 1006 when the connection just went away. */
		readonly code: number;
		/** For a person to read. */
		readonly text: string;
		/** Whether the library connects again by itself. */
		readonly reconnects: boolean;
	}

	/** What the library measures. Numbers grow from the connect on unless they say otherwise. */
	interface Stats {
		/** Round trip of the last ping in ms; NaN before the first. */
		readonly ping: number;
		/** Spread of the arrival of send ticks in ms. */
		readonly jitter: number;
		/** Ticks that the present is ahead of the server. */
		readonly lead: number;
		/** Server time less page time, in ticks. */
		readonly offset: number;
		/** Tick of the server's last known state. */
		readonly tick: number;
		/** Tick of the predicted state. */
		readonly predicted: number;
		/** The tick that is drawn, with the part of it that has passed. */
		readonly present: number;
		readonly bytesIn: number;
		readonly bytesOut: number;
		/** Bytes by message name, both ways. */
		readonly bytes: { readonly [message: string]: number };
		/** Objects whose rebuilt prediction differed from the one shown, and those of them that were too far off to be eased. */
		readonly corrections: number;
		readonly snaps: number;
		/** Values of shared fields that differed from the server's, all and by field. */
		readonly drift: number;
		readonly driftBy: { readonly [field: string]: number };
		/** Late commands of others that took the known state back. */
		readonly rewinds: number;
		/** Body runs that failed and were left out. */
		readonly faults: number;
		readonly snapshots: number;
		/** Snapshots asked for, since the state could not be brought on. */
		readonly resyncs: number;
		/** Messages that could not be read. */
		readonly malformed: number;
		readonly reconnects: number;
	}

	interface ConnectOptions {
		/** ws(s)://host/game; by default where the library came from. */
		url?: string | undefined;
		/** Name of the instance to join; by default the server chooses. */
		instance?: string | undefined;
		/** A token of an earlier connection, to take its seat again. */
		resume?: string | undefined;
		/** Look on without a seat. */
		watch?: boolean | undefined;
		/** The player's name, at most 32 bytes of UTF-8. */
		name?: string | undefined;
	}

	/** What the handlers of `on` are called with, by event. */
	interface Events {
		/** Connected; the instance's name. */
		welcome: [instance: string];
		/** The state is whole; again after each reconnect. */
		ready: [];
		/** A player came into the picture. */
		join: [player: Player, type: "player"];
		/** A player left it. */
		drop: [player: Player, type: "player"];
		/** An entity came into the picture. */
		enter: EntityEvents;
		/** An entity left it; its fields keep their last values. */
		leave: EntityEvents;
		/** A newly predicted tick: the place to send what a held key repeats. */
		tick: [tick: number];
		/** An object whose prediction was wrong, and its type's name. */
		correction: [object: object, type: string];
		/** The connection broke; ms until the next attempt. */
		reconnecting: [reason: Reason, wait: number];
		/** The end. */
		closed: [reason: Reason];
	}

	/** One connection to the game. */
	interface Game {
		/** The own player; null for a spectator and while there is none. */
		readonly me: Player | null;
		readonly players: Collection<Player>;
		readonly entities: Entities;
		readonly instance: Instance;
		readonly send: Send;
		readonly stats: Stats;
		/** The name of the instance; empty before the welcome. */
		readonly name: string;
		/** What `connect({resume})` takes to have this seat again; empty before the welcome. */
		readonly resumeToken: string;
		/** The last tick that was predicted. A command sent now takes effect on the next one. */
		readonly tick: number;
		/** Calls the handler at an event; the result ends that. */
		on<E extends keyof Events>(event: E, handler: (...values: Events[E]) => void): () => void;
		/** Makes the picture that of page time `now` in ms, as requestAnimationFrame gives it. Objects keep still until the next call. */
		frame(now?: number): void;
		/** Tick and hash of the shared state last received, to compare with other viewers'. */
		hash(): { tick: number; hash: string };
		/** Leaves the game. */
		close(): void;
	}

	/** Joins the game. The result is usable at once and fills when the first state arrives. */
	function connect(options?: ConnectOptions): Game;
	/** The exports of the game's client.js. */
	const game: {
		readonly "hull": any;
		readonly "outline": any;
	};
}
