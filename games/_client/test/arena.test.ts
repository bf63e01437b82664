import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import type { GameConfig } from "../src/config";
import { Confirmed } from "../src/confirmed";
import { hashWorld } from "../src/hash";
import { Memory } from "../src/memory";
import { TagEnter, TagLeave, TagWelcome, parseWelcome } from "../src/messages";
import { makePlan } from "../src/plan";
import { Reader } from "../src/reader";
import { Sim } from "../src/sim";
import { instantiate } from "../src/wasm";
import { apply, contents, still } from "./kit";

interface Recording {
	config: GameConfig;
	module: string;
	viewers: { name: string; player: number; thin: boolean; sends: { tick: number; hash: string; messages: string[] }[] }[];
}

// What the Go server sent, recorded by fixture/main.go.
const recorded = (file: string): Recording => JSON.parse(readFileSync("test/fixture/" + file, "utf8")) as Recording;

interface Replayed {
	confirmed: Confirmed;
	sim: Sim | null;
	drift: string[];
	/** Messages by tag. */
	tags: Map<number, number>;
}

/** Applies what a viewer was sent, holds each state against the recorded hash, and hands it to `look`. */
async function replay(r: Recording, v: Recording["viewers"][0], look: (c: Confirmed) => void = () => {}): Promise<Replayed> {
	let confirmed: Confirmed;
	let sim: Sim | null = null;
	if (v.thin) confirmed = still(r.config, v.player, true).confirmed;
	else {
		const plan = makePlan(r.config, false);
		const exports = await instantiate(await WebAssembly.compile(Buffer.from(r.module, "base64")));
		const mem = new Memory(exports.memory, exports.heap.value as number);
		sim = new Sim(plan, mem, exports);
		confirmed = new Confirmed(plan, mem, sim);
	}
	const drift: string[] = [];
	confirmed.onDrift = (label) => drift.push(label);
	const tags = new Map<number, number>();
	for (const s of v.sends) {
		const messages = s.messages.map((m) => new Uint8Array(Buffer.from(m, "base64")));
		if (messages[0][0] === TagWelcome) {
			const w = parseWelcome(new Reader(messages.shift()!, 1));
			assert.equal(w.player, v.player);
			confirmed.player = w.player;
		}
		for (const m of messages) tags.set(m[0], (tags.get(m[0]) ?? 0) + 1);
		apply(confirmed, ...messages);
		assert.equal(confirmed.world.tick, s.tick);
		assert.equal(hashWorld(confirmed.world).hex(), s.hash, `${v.name} at tick ${s.tick}`);
		look(confirmed);
	}
	assert.ok(v.sends.length > 40);
	return { confirmed, sim, drift, tags };
}

test("a real server's stream: every state has the server's hash, and all viewers hold the same", async () => {
	const seen = new Map<number, unknown>();
	let common = 0;
	const all = recorded("arena.json");
	for (const v of all.viewers) {
		const { sim, confirmed, drift } = await replay(all, v, ({ world }) => {
			// what everyone may see is the same for all
			const now = contents(world, -1);
			if (seen.has(world.tick)) {
				assert.deepEqual(now, seen.get(world.tick), `${v.name} at tick ${world.tick}`);
				common++;
			}
			seen.set(world.tick, now);
		});
		if (sim) {
			assert.ok(sim.faults > 0, "the recording has bodies that fail");
			assert.ok(confirmed.rewinds > 10, `${v.name} went back ${confirmed.rewinds} times`);
		}
		// a client cannot foresee what server bodies write; nothing else may differ
		for (const label of drift) assert.match(label, /^(instance\.(wave|mood)|player\.[xy]|coin\.[xy])$/);
	}
	assert.ok(common > 120, String(common));
});

test("a real server's stream of a game with views: every state is what the viewer may hold", async () => {
	const all = recorded("arena-view.json");
	assert.equal(all.config.view, true);
	let rewinds = 0;
	const shots = all.config.types.findIndex((t) => t.name === "shot");
	let most = 0;
	for (const v of all.viewers) {
		const { confirmed, tags } = await replay(all, v, ({ world }) => (most = Math.max(most, world.count(world.plan.types[shots]))));
		// a spectator sees nothing that a view body judges
		assert.ok(v.player === 0 || (tags.get(TagEnter)! > 5 && tags.get(TagLeave)! > 5), `${v.name}: ${JSON.stringify([...tags])}`);
		rewinds += confirmed.rewinds;
	}
	assert.ok(rewinds > 10, `${rewinds} times back`);
	assert.ok(most > 2, `${most} shots at most`);
});
