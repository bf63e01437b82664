import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { lines } from "./line";

interface Schedule {
	Conditions: Record<"Delay" | "Jitter" | "Stall" | "StallEvery" | "Bandwidth", number> & { Seed: string };
	Connection: number;
	There: [now: number, bytes: number, out: number][];
	Back: [now: number, bytes: number, out: number][];
}

test("the conditioner has the server's schedules", () => {
	const all = JSON.parse(readFileSync("../../wire/line/testdata/schedules.json", "utf8")) as Schedule[];
	assert.ok(all.length > 2);
	for (const s of all) {
		const { Delay, Jitter, Stall, StallEvery, Bandwidth, Seed } = s.Conditions;
		const both = lines({ delay: Delay / 1e6, jitter: Jitter / 1e6, stall: Stall / 1e6, stallEvery: StallEvery / 1e6, bandwidth: Bandwidth, seed: BigInt(Seed) }, s.Connection);
		[s.There, s.Back].forEach((direction, i) => {
			assert.ok(direction.length > 100);
			for (const [now, bytes, out] of direction) {
				const at = both[i].arrival(now / 1e6, bytes);
				assert.ok(Math.abs(at - out / 1e6) < 1e-3, `connection ${s.Connection}: ${at}, not ${out / 1e6}`);
			}
		});
	}
});
