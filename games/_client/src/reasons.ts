/** Why a connection ended. */
export interface Reason {
	/** WebSocket close code; 1006 when the connection just went away. */
	code: number;
	/** For a person to read. */
	text: string;
	/** Whether the library connects again by itself. */
	reconnects: boolean;
}

// Codes of the library's own, for ends that no server asked for.
export const Malformed = 4100;
export const Silent = 4101;
export const CodeFailed = 4102;
export const OtherVersion = 4005;

const table: Record<number, [text: string, reconnects: boolean]> = {
	1000: ["the game is over", false],
	1001: ["the server is restarting", true],
	1002: ["the server could not read what this page sent; reload the page", false],
	1003: ["the server could not read what this page sent; reload the page", false],
	1006: ["the connection was lost", true],
	1008: ["this page sent too much at once", false],
	1009: ["this page sent too much at once", false],
	1011: ["the server failed, and what was played is lost", true],
	4001: ["the game goes on in another window", false],
	4002: ["the game has ended", false],
	4003: ["you were removed from the game", false],
	4004: ["there is no such game, or it is full", false],
	4005: ["the game was updated; reload the page", false],
	4006: ["the server is moving the game", true],
	4007: ["the connection is too slow to keep up", true],
	4008: ["the connection was idle for too long", true],
	4009: ["the server is full; trying again later", true],
	[Malformed]: ["the server sent something unreadable", true],
	[Silent]: ["the server stopped answering", true],
	[CodeFailed]: ["the game's code failed in this browser", false],
};

/** What a close code means. One that is in no table counts as a lost connection. */
export function reasonOf(code: number): Reason {
	const [text, reconnects] = table[code] ?? table[1006];
	return { code, text, reconnects };
}

const least = 250;
const most = 8000;

/**
 * How long to wait in ms before attempt number `attempt` (from 0) to connect
 * again: doubling from 0.25 s to 8 s, spread so that the players of a server that
 * came back do not arrive all at once. A worker that drains is left at once, a
 * full box is left alone for longer.
 */
export function backoff(code: number, attempt: number, random: number): number {
	if (code === 4006 && attempt === 0) return least * random;
	const step = Math.min(most, least * 2 ** (code === 4009 ? Math.max(attempt, 4) : attempt));
	return Math.max(least, step * (0.5 + 0.5 * random));
}
