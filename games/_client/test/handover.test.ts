import assert from "node:assert/strict";
import test from "node:test";
import type { GameConfig } from "../src/config";
import { Confirmed } from "../src/confirmed";
import { FirstProvisional } from "../src/layout";
import type { ObjectView } from "../src/objects";
import { Outbox } from "../src/outbox";
import { Picture } from "../src/picture";
import { Predicted } from "../src/predicted";
import { apply, walkSim } from "./kit";
import { Server, type Thing } from "./server";
import { walk } from "./walk";

// The bodies of walk make a rock in every tenth tick, at the first player's x plus the
// tick. In a game with a view body it is provisional until the server announces it.
const view: GameConfig = { ...walk, view: true };

interface Stage {
	confirmed: Confirmed;
	picture: Picture;
	server: Server;
	rocks: () => [id: number, x: number][];
	heard: string[];
	/** Draws the end of a tick, a frame after the last one. */
	show(present: number, wait?: number): void;
}

async function stage(config = view): Promise<Stage> {
	const { sim, mem, plan } = await walkSim(config);
	const confirmed = new Confirmed(plan, mem, sim);
	confirmed.player = 1;
	const predicted = new Predicted(plan, mem, sim, new Outbox());
	const picture = new Picture(plan);
	const heard: string[] = [];
	const events = {
		enter: (v: ObjectView) => heard.push("enter " + (v.id >= FirstProvisional ? "p" : v.id)),
		leave: (v: ObjectView) => heard.push("leave " + (v.id >= FirstProvisional ? "p" : v.id)),
		correction() {},
	};
	let now = 0;
	let last = -1;
	return {
		confirmed,
		picture,
		server: new Server(plan, 1),
		rocks: () => [...picture.collections[2]].map((v) => [v.id, v.x as number]),
		heard,
		show(present, wait = 16) {
			now += wait;
			if (confirmed.world.tick !== last) predicted.invalidate(last < 0);
			last = confirmed.world.tick;
			predicted.advance(confirmed, present - 1, { rebuilt: () => picture.corrected(predicted, present, now, events), tick() {} });
			picture.update(predicted, confirmed, present, NaN, now, events);
		},
	};
}

const player: Thing = { id: 1, type: 1, fields: {} };
const rock = (id: number, x: number, owner = 0): Thing => ({ id, type: 2, owner, fields: { x } });

test("what the page made goes on as what the server announces, from where it was drawn", async () => {
	const s = await stage();
	apply(s.confirmed, s.server.snapshot(8, [player]));
	s.show(12);
	assert.deepEqual(s.rocks(), [[FirstProvisional, 10]]);
	const [made] = s.picture.collections[2];
	s.heard.length = 0;
	// the server has made it elsewhere
	apply(s.confirmed, s.server.enter(10, [rock(6, 14)]), s.server.delta(10, 8));
	s.show(12);
	assert.equal(s.picture.collections[2].get(6), made, "the same view");
	assert.equal(s.picture.collections[2].get(FirstProvisional), null);
	assert.equal(made.id, 6);
	assert.deepEqual(Object.keys(made), ["id"]);
	assert.equal(made.x, 10, "drawn where it was");
	let before = 10;
	for (let i = 0; i < 10; i++) {
		s.show(12);
		assert.ok((made.x as number) > before);
		before = made.x as number;
	}
	assert.ok(before > 13.9, String(before));
	assert.deepEqual(s.heard, [], "a page hears of one rock, not of two");
});

test("of several, each goes on as the nearest, and one that is new enters", async () => {
	const s = await stage();
	apply(s.confirmed, s.server.snapshot(8, [player]));
	s.show(32);
	assert.deepEqual(s.rocks().map(([, x]) => x), [10, 20, 30]);
	const [first, second, third] = s.picture.collections[2];
	assert.deepEqual(s.heard.splice(0), ["enter 1", "enter p", "enter p", "enter p"]);
	// Two are announced. The provisional ids begin again behind them: the id that was the
	// first rock's is the third's now.
	apply(s.confirmed, s.server.enter(20, [rock(6, 21), rock(10, 9), rock(14, 500)]), s.server.delta(20, 8));
	s.show(32);
	assert.deepEqual([first.id, second.id, third.id], [10, 6, FirstProvisional]);
	assert.deepEqual([first.x, second.x, third.x], [10, 20, 30], "nothing moved");
	assert.deepEqual(s.heard.splice(0), ["enter 14"]);
	assert.deepEqual(s.rocks().map(([id]) => id), [6, 10, 14, FirstProvisional], "in ascending order");
});

test("an owner's object is never another's", async () => {
	const owned: GameConfig = structuredClone(view);
	const t = owned.types[2];
	Object.assign(t, { owned: true, owner: 8, fields: t.fields.filter((f) => f.name === "x") });
	const s = await stage(owned);
	apply(s.confirmed, s.server.snapshot(8, [player]));
	s.show(12);
	const [made] = s.picture.collections[2];
	s.heard.length = 0;
	apply(s.confirmed, s.server.enter(10, [rock(6, 10, 1), rock(10, 90, 0)]), s.server.delta(10, 8));
	s.show(12);
	assert.equal(made.id, 10);
	assert.deepEqual(s.heard, ["enter 6"]);
});

test("what is not announced leaves, and without a view body nothing is handed over", async () => {
	const s = await stage();
	apply(s.confirmed, s.server.snapshot(8, [player]));
	s.show(12);
	s.heard.length = 0;
	apply(s.confirmed, s.server.delta(10, 8));
	s.show(12);
	assert.deepEqual(s.heard, ["leave p"]);
	assert.deepEqual(s.rocks(), []);
	const all = await stage(walk);
	apply(all.confirmed, all.server.snapshot(8, [player]));
	all.show(12);
	const [made] = all.picture.collections[2];
	all.heard.length = 0;
	apply(all.confirmed, all.server.delta(10, 8));
	all.show(12);
	assert.deepEqual([made.id, all.heard], [2, []]);
});
