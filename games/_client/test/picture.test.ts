import assert from "node:assert/strict";
import test from "node:test";
import type { Confirmed } from "../src/confirmed";
import { Memory } from "../src/memory";
import type { ObjectView } from "../src/objects";
import { Outbox } from "../src/outbox";
import { Picture, between } from "../src/picture";
import { type Plan, Angle, Linear } from "../src/plan";
import { Predicted } from "../src/predicted";
import { thinRunner } from "../src/thin";
import { goldenConfig } from "./golden";
import { apply, still } from "./kit";
import { Server, type Thing } from "./server";
import { walk } from "./walk";

interface Stage {
	plan: Plan;
	confirmed: Confirmed;
	predicted: Predicted;
	picture: Picture;
	server: Server;
	heard: string[];
	/** Draws at page time `now` what lies `part` of the way from the prediction to its draft, and sent values of `sent`. */
	frame(now: number, part: number, sent?: number): void;
}

function stage(config = walk): Stage {
	const { plan, confirmed } = still(config, 1);
	const predicted = new Predicted(plan, new Memory(null, 64), thinRunner, new Outbox());
	const picture = new Picture(plan);
	const heard: string[] = [];
	const events = {
		enter: (v: ObjectView) => heard.push("enter " + v.id),
		leave: (v: ObjectView) => heard.push("leave " + v.id),
		correction: (v: ObjectView, _t: unknown, snapped: boolean) => heard.push((snapped ? "snap " : "correction ") + v.id),
	};
	return {
		plan,
		confirmed,
		predicted,
		picture,
		server: new Server(plan, 1),
		heard,
		frame(now, part, sent = NaN) {
			const present = (): number => predicted.world.tick + part;
			predicted.advance(confirmed, predicted.world.tick, { rebuilt: () => picture.corrected(predicted, present(), now, events), tick: () => {} });
			picture.update(predicted, confirmed, present(), sent, now, events);
		},
	};
}

test("numbers go straight, angles the short way, and far jumps show at once", () => {
	const { plan } = stage();
	const f = { ...plan.types[1].plan[0], smooth: Linear, snap: 100 };
	assert.equal(between(f, 10, 20, 0), 10);
	assert.equal(between(f, 10, 20, 0.25), 12.5);
	assert.equal(between(f, 10, 20, 1), 20);
	assert.equal(between(f, 10, 110, 0.5), 60);
	assert.equal(between(f, 10, 110.5, 0.5), 110.5);
	assert.equal(between(f, NaN, 3, 0.5), 3);
	assert.ok(Number.isNaN(between(f, 3, NaN, 0.5)));
	assert.equal(between({ ...f, snap: Infinity }, 0, Infinity, 0.5), Infinity);
	const a = { ...f, smooth: Angle, snap: Infinity };
	const near = (x: number, y: number): void => assert.ok(Math.abs(Math.sin(x - y)) < 1e-9 && Math.cos(x - y) > 0, `${x} ${y}`);
	near(between(a, 3, -3, 0.5), Math.PI);
	near(between(a, -3, 3, 0.5), Math.PI);
	near(between(a, 0.1, 2 * Math.PI - 0.1, 0.5), 0);
	near(between(a, 1, 1 + 20 * Math.PI, 0.5), 1);
	assert.equal(between(a, -3, 3, 1), 3, "the end is the value itself");
});

test("shared smooth fields are drawn between the last two ticks", () => {
	const s = stage();
	apply(s.confirmed, s.server.snapshot(10, [{ id: 1, type: 1, fields: { x: 10, angle: 3 } }]));
	s.predicted.invalidate(true);
	s.frame(0, 0);
	const me = s.picture.collections[1].get(1)!;
	assert.equal(me.x, 10);
	const w = s.predicted.draft;
	const row = w.find(s.plan.types[1], 1);
	w.view.setFloat32(row + 12, 20, true);
	w.view.setFloat32(row + 20, -3, true);
	s.frame(16, 0.5);
	assert.equal(me.x, 15);
	assert.ok(Math.abs(Math.cos(me.angle as number) + 1) < 1e-6);
	s.frame(32, 1);
	assert.equal(me.x, 20);
	assert.equal(me.hp, 0);
	assert.equal(s.picture.tick, 11, "that of the draft");
});

test("sent smooth fields are drawn between the send ticks around the time shown", () => {
	const s = stage();
	const rock = (y: number, size = 1): Thing => ({ id: 2, type: 2, fields: { y, size, x: 5 } });
	apply(s.confirmed, s.server.snapshot(10, [rock(0)]));
	s.predicted.invalidate(true);
	apply(s.confirmed, s.server.delta(12, 10, [{ id: 2, type: 2, fields: { y: 8 } }]));
	apply(s.confirmed, s.server.delta(14, 10));
	apply(s.confirmed, s.server.delta(16, 14, [{ id: 2, type: 2, fields: { y: 20 } }]));
	s.predicted.invalidate(true);
	const shown: [number, number][] = [
		[5, 0],
		[10, 0],
		[11, 4],
		[12, 8],
		[13.5, 8],
		[15, 14],
		[16, 20],
		[19, 20],
	];
	for (const [tick, y] of shown) {
		s.frame(0, 0, tick);
		assert.equal(s.picture.collections[2].get(2)!.y, y, "at " + tick);
	}
});

test("views are the same objects as long as they live, and keep their last values", () => {
	const s = stage();
	apply(s.confirmed, s.server.snapshot(2, [{ id: 1, type: 1 }, { id: 2, type: 2, fields: { x: 7, y: 3, size: 9 } }, { id: 6, type: 2, fields: { x: 8 } }]));
	s.predicted.invalidate(true);
	s.frame(0, 0);
	assert.deepEqual(s.heard, ["enter 1", "enter 2", "enter 6"]);
	const rocks = s.picture.collections[2];
	const [a, b] = [...rocks];
	assert.deepEqual([rocks.size, a.id, b.id, rocks.get(2) === a, rocks.get(4)], [2, 2, 6, true, null]);
	s.heard.length = 0;
	apply(s.confirmed, s.server.leave(4, [2]), s.server.enter(4, [{ id: 10, type: 2, fields: { x: 1 } }]), s.server.delta(4, 2));
	s.predicted.invalidate(true);
	assert.deepEqual([a.x, b.x, rocks.size], [7, 8, 2], "nothing moves between frames");
	s.frame(16, 0);
	assert.deepEqual(s.heard, ["leave 2", "enter 10"]);
	assert.deepEqual([a.x, a.y, a.size, b.x, rocks.get(6) === b, rocks.get(2)], [7, 3, 9, 8, true, null]);
	s.frame(32, 0);
	assert.deepEqual([...rocks].map((r) => r.id), [6, 10]);
});

test("a correction is eased away, and one past the snap distance is not", () => {
	const s = stage();
	apply(s.confirmed, s.server.snapshot(2, [1, 3].map((id) => ({ id, type: 1, fields: { x: 50 } }))));
	s.predicted.invalidate(true);
	s.frame(0, 1);
	const [a, b] = [...s.picture.collections[1]];
	s.heard.length = 0;
	s.predicted.advance(s.confirmed, 4, { rebuilt() {}, tick() {} });
	apply(s.confirmed, s.server.keyframe(4, [{ id: 1, type: 1, fields: { x: 60 } }, { id: 3, type: 1, fields: { x: 500 } }]), s.server.delta(4, 2));
	s.predicted.invalidate(false);
	s.frame(0, 1);
	assert.deepEqual(s.heard, ["correction 1", "snap 3"]);
	assert.equal(a.x, 50, "what was shown goes on");
	assert.equal(b.x, 500);
	let last = 50;
	for (let now = 10; now <= 100; now += 10) {
		s.frame(now, 1);
		assert.ok((a.x as number) > last);
		last = a.x as number;
	}
	assert.ok(last > 59, String(last));
	s.frame(1000, 1);
	assert.equal(a.x, 60, "nothing is left of it");
});

test("each kind of field reads as what it is", () => {
	const s = stage(goldenConfig);
	apply(
		s.confirmed,
		s.server.snapshot(
			2,
			[
				{ id: 1, type: 1, fields: { ready: true, target: 2, note: "Größe", lives: -3, mana: 0.1, level: -300, bonus: 4e9, score: -7, ammo: 3, zoom: 0.25 } },
				{ id: 2, type: 2, fields: { name: "ok" } },
				{ id: 6, type: 3, owner: 1, fields: { by: 300 } },
				{ id: 10, type: 3, owner: 0 },
			],
			{ instance: { title: "one", leader: 1, fuel: 62.5, round: 3 } },
		),
	);
	s.predicted.invalidate(true);
	s.frame(0, 0);
	const [, players, rocks, bullets] = s.picture.collections;
	const me = players.get(1)!;
	assert.deepEqual([me.ready, me.note, me.lives, me.mana, me.level, me.bonus, me.score, me.ammo, me.zoom], [true, "Größe", -3, 0.1, -300, 4e9, -7, 3, 0.25]);
	assert.equal(me.target, rocks.get(2));
	assert.equal(bullets.get(6)!.owner, me);
	assert.equal(bullets.get(6)!.by, null, "a dead reference is null");
	assert.equal(bullets.get(10)!.owner, null);
	const { instance } = s.picture;
	assert.deepEqual([instance.id, instance.title, instance.leader, instance.fuel, instance.round], [0, "one", me, 62.5, 3]);
	assert.equal(me.note, me.note);
	apply(s.confirmed, s.server.delta(4, 2, [{ id: 1, type: 1, fields: { note: "b" } }]));
	s.predicted.invalidate(true);
	s.frame(16, 0);
	assert.equal(me.note, "b");
	assert.ok("score" in me);
	assert.deepEqual(Object.keys(me), ["id"]);
});
