import type { Runner } from "./sim";

/**
 * Stands in for the bodies where a page's policy blocks wasm. The server then
 * announces every object and sends shared fields like sent ones, so a tick
 * changes nothing but its number.
 */
export const thinRunner: Runner = {
	tick(w) {
		w.tick = w.tick + 1;
	},
};
