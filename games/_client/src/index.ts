/**
 * The browser side of gamehoster. One build of it per game, with the game's
 * schema and its compiled shared bodies baked in, is `gamehoster.js`.
 *
 *	            socket            bytes; reconnects by itself
 *	               |
 *	            reader            believes nothing
 *	               |
 *	   welcome, pong | leave enter commands keyframe delta / snapshot
 *	        |        |
 *	      clock   confirmed       the server's world at the last send tick T, in wasm memory;
 *	        |        |            one send tick is one step, wholly or not at all
 *	        |        v
 *	        +---> predicted       confirmed, run on to the present P with the own commands;
 *	        |        |            thrown away when confirmed moves
 *	        |        v
 *	        +---> picture         what the page reads: copied at frame(now), smooth fields
 *	                              drawn between ticks, corrections eased
 *
 * The server sends what clients cannot work out, and the commands of the
 * players. Confirmed files each command on the tick that the server ran it on,
 * which may lie in the past: then it goes back to a stored state, runs the
 * shared bodies again from there, and writes what past send ticks said over
 * their results once more. Both sides run the same compiled code on the same
 * bytes in the same order, so they agree bit for bit; keyframes and a state hash
 * find out where they do not.
 *
 * Deltas name the values they start from by tick, so the sent values that an
 * object had at past send ticks are kept in its track until no delta can name
 * them. A message that does not fit (`ProtocolError`) ends the connection, and
 * the next one begins with a snapshot; a gap in what the viewer holds
 * (`ResyncError`) asks for one. Neither leaves anything half done.
 *
 * Where a page's policy blocks WebAssembly the library connects as a thin
 * client: the server sends everything, and no body runs here.
 */
import type { GameConfig } from "./config";
import { type Env, browserEnv } from "./env";
import { Game, type ConnectOptions } from "./game";
import { makePlan } from "./plan";
import { type Exports, compile, instantiate, wasmAllowed } from "./wasm";

export type { GameConfig } from "./config";
export type { Game, ConnectOptions, Send } from "./game";
export type { Collection, ObjectView } from "./objects";
export type { Reason } from "./reasons";
export type { Stats } from "./stats";

/** What the page gets as `gamehoster`. */
export interface Library<M> {
	/** Joins the game. The result is usable at once and fills when the first state arrives. */
	connect(options?: ConnectOptions): Game;
	/** The exports of the game's client.js. */
	game: M;
}

/**
 * Makes a game's library from what its build knows: the config, the client
 * module in base64 ("" for none) and the exports of client.js. `env` is for
 * tests; by default it is the browser.
 */
export function create<M>(config: GameConfig, wasm: string, game: M, env: Env = browserEnv()): Library<M> {
	let module: Promise<WebAssembly.Module> | null = null;
	let told = false;

	function load(): Promise<Exports> | null {
		if (!wasmAllowed()) {
			if (!told) env.warn("gamehoster: this page's policy blocks WebAssembly, so the game runs without prediction ('wasm-unsafe-eval' allows it)");
			told = true;
			return null;
		}
		module ??= compile(wasm);
		return module.then(instantiate);
	}

	return {
		game,
		connect(options = {}) {
			const exports = wasm === "" ? null : load();
			return new Game(makePlan(config, exports === null), env, options, exports);
		},
	};
}
