// What the rules of the game "rocks" have. Written with gamehoster.js; changes here are lost.
//
// At the top of a body file: /// <reference path="./bodies.d.ts" />
// and before its function:   /** @param {rules.Player} player */

declare namespace rules {
	/** The instance: its fields and all objects. */
	interface Instance {
		/** The tick that is running. */
		readonly tick: number;
		/** Seconds of a tick. */
		readonly dt: number;
		/** Whether the instance takes new players; in server bodies only. */
		open: boolean;
		/** Ends the instance; in server bodies only. */
		end(): void;
		readonly players: Collection<Player>;
		readonly bullets: MakesOwned<Bullet>;
		readonly buses: Makes<Bus>;
		/** u16, shared */
		level: number;
	}

	/** A player; at most 8 in an instance. */
	interface Player {
		readonly id: number;
		/** Closes the player's connection with 4003; in server bodies only. */
		remove(): void;
		/** u32, in server bodies only */
		secret: number;
		/** f32, shared */
		x: number;
		/** f32, shared */
		heading: number;
		/** u8, sent, read in server bodies only */
		hand: number;
		/** f32, sent */
		y: number;
		/** bool, shared */
		alive: boolean;
		/** at most 12 bytes of UTF-8, sent */
		nick: string;
		/** at most 32 bytes of UTF-8, in server bodies only */
		name: string;
	}

	/** An entity; at most 16 in an instance. */
	interface Bullet {
		readonly id: number;
		/** Its player; null once that one is gone. */
		readonly owner: Player | null;
		remove(): void;
		/** null for none and for one that is gone, shared */
		target: Player | null;
	}

	/** An entity; at most 3 in an instance. */
	interface Bus {
		readonly id: number;
		remove(): void;
	}

	/** What aim(player, command) is called with. */
	interface AimCommand {
		/** f32 from -1 to 1 */
		readonly x: number;
		/** null for none and for one that is gone */
		readonly at: Bullet | null;
		/** at most 8 bytes of UTF-8 */
		readonly text: string;
		/** f64 */
		readonly free: number;
		/** u8 from 1 to 5 */
		readonly gear: number;
	}

	/** What stop(player, command) is called with. */
	interface StopCommand {
	}

	/** The objects of a type, in ascending order of id. */
	interface Collection<T> extends Iterable<T> {
		/** How many there are; what was removed in this tick is left out. */
		readonly count: number;
		/** Null where there is none, and for one that was removed. */
		find(id: number): T | null;
	}

	interface Makes<T> extends Collection<T> {
		/** A new object; null when all that max allows are in use. */
		spawn(): T | null;
	}

	interface MakesOwned<T> extends Collection<T> {
		/** A new object of a player, for life; null when all that max allows are in use. */
		spawn(owner: Player): T | null;
	}
}

/** The instance. */
declare const game: rules.Instance;

/** A number from 0 up to, not including, 1: the same one on the server and in browsers. */
declare function random(): number;

/** A number that no browser can know; in server bodies only. */
declare function serverRandom(): number;

/** Writes a line to the server's log. Templates are for this alone: log(`${p.id} is at ${p.x}`). */
declare function log(...values: (string | number | boolean)[]): void;
