import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import type { GameConfig } from "../src/config";
import { Confirmed } from "../src/confirmed";
import { hashWorld } from "../src/hash";
import { Memory } from "../src/memory";
import { TagWelcome, parseWelcome } from "../src/messages";
import { makePlan } from "../src/plan";
import { Reader } from "../src/reader";
import { Sim } from "../src/sim";
import { instantiate } from "../src/wasm";
import { apply, contents, still } from "./kit";

// What the Go server sent, recorded by fixture/main.go.
const recorded = JSON.parse(readFileSync("test/fixture/arena.json", "utf8")) as {
	config: GameConfig;
	module: string;
	viewers: { name: string; player: number; thin: boolean; sends: { tick: number; hash: string; messages: string[] }[] }[];
};

test("a real server's stream: every state has the server's hash, and all viewers hold the same", async () => {
	const seen = new Map<number, unknown>();
	let common = 0;
	for (const v of recorded.viewers) {
		let confirmed: Confirmed;
		let sim: Sim | null = null;
		if (v.thin) confirmed = still(recorded.config, v.player, true).confirmed;
		else {
			const plan = makePlan(recorded.config, false);
			const exports = await instantiate(await WebAssembly.compile(Buffer.from(recorded.module, "base64")));
			const mem = new Memory(exports.memory, exports.heap.value as number);
			sim = new Sim(plan, mem, exports);
			confirmed = new Confirmed(plan, mem, sim);
		}
		const drift: string[] = [];
		confirmed.onDrift = (label) => drift.push(label);
		for (const s of v.sends) {
			const messages = s.messages.map((m) => new Uint8Array(Buffer.from(m, "base64")));
			if (messages[0][0] === TagWelcome) {
				const w = parseWelcome(new Reader(messages.shift()!, 1));
				assert.equal(w.player, v.player);
				confirmed.player = w.player;
			}
			apply(confirmed, ...messages);
			assert.equal(confirmed.world.tick, s.tick);
			assert.equal(hashWorld(confirmed.world).hex(), s.hash, `${v.name} at tick ${s.tick}`);
			// what everyone may see is the same for all
			const all = contents(confirmed.world, -1);
			if (seen.has(s.tick)) {
				assert.deepEqual(all, seen.get(s.tick), `${v.name} at tick ${s.tick}`);
				common++;
			}
			seen.set(s.tick, all);
		}
		assert.ok(v.sends.length > 40);
		if (sim) {
			assert.ok(sim.faults > 0, "the recording has bodies that fail");
			assert.ok(confirmed.rewinds > 10, `${v.name} went back ${confirmed.rewinds} times`);
		}
		// a client cannot foresee what server bodies write; nothing else may differ
		for (const label of drift) assert.match(label, /^(instance\.(wave|mood)|player\.[xy]|coin\.[xy])$/);
	}
	assert.ok(common > 120, String(common));
});
