import assert from "node:assert/strict";
import test from "node:test";
import { backoff, reasonOf } from "../src/reasons";

test("each close code has a reason a person can read, and says whether it ends here", () => {
	const table: [code: number, reconnects: boolean, says: RegExp][] = [
		[1000, false, /over/],
		[1001, true, /restart/],
		[1002, false, /reload/],
		[1003, false, /reload/],
		[1006, true, /lost/],
		[1008, false, /too much/],
		[1009, false, /too much/],
		[4001, false, /another window/],
		[4002, false, /ended/],
		[4003, false, /removed/],
		[4004, false, /no such game|full/],
		[4005, false, /reload/],
		[4006, true, /moving/],
		[4007, true, /slow/],
		[4008, true, /idle/],
		[4009, true, /full/],
		[1005, true, /lost/],
		[1011, true, /lost/],
		[4999, true, /lost/],
	];
	for (const [code, reconnects, says] of table) {
		const r = reasonOf(code);
		assert.equal(r.code, code);
		assert.equal(r.reconnects, reconnects, String(code));
		assert.match(r.text, says);
	}
});

test("attempts come after 0.25 s to 8 s, spread", () => {
	for (const luck of [0, 0.5, 0.999]) {
		let last = 0;
		for (let attempt = 0; attempt < 100; attempt++) {
			const wait = backoff(1006, attempt, luck);
			assert.ok(wait >= 250 && wait <= 8000, String(wait));
			assert.ok(wait >= last);
			last = wait;
		}
		assert.ok(last >= 4000);
	}
	assert.notEqual(backoff(1006, 3, 0.1), backoff(1006, 3, 0.9));
	assert.ok(backoff(4006, 0, 0.5) < 250, "a worker that drains is left at once");
	assert.ok(backoff(4006, 1, 0.5) >= 250);
	assert.ok(backoff(4009, 0, 0) >= 2000, "a full box is left alone for a while");
});
