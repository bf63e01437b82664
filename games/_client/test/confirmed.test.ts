import assert from "node:assert/strict";
import test from "node:test";
import { Confirmed } from "../src/confirmed";
import { ProtocolError, ResyncError } from "../src/errors";
import { hashWorld } from "../src/hash";
import { Memory } from "../src/memory";
import { Outbox } from "../src/outbox";
import { makePlan } from "../src/plan";
import { Predicted } from "../src/predicted";
import type { Command } from "../src/sim";
import type { World } from "../src/world";
import { apply, contents, inside, still, walkSim } from "./kit";
import { Random } from "./random";
import { Server, type Thing } from "./server";
import { type Order, WalkModel, walk } from "./walk";

/**
 * A whole server by brute force: it knows every command with the tick it takes
 * effect on and, for each state it is asked for, runs the model from the start.
 */
class Truth {
	readonly orders: Order[] = [];
	private readonly joins: { tick: number; id: number }[] = [];
	private readonly leaves: { tick: number; id: number }[] = [];

	constructor(private readonly start: number) {}

	join(tick: number, id: number): void {
		this.joins.push({ tick, id });
	}

	leave(tick: number, id: number): void {
		this.leaves.push({ tick, id });
	}

	at(tick: number): WalkModel {
		const m = new WalkModel(this.start);
		while (m.tick !== tick) {
			const next = (m.tick + 1) >>> 0;
			for (const l of this.leaves) if (l.tick === next) m.players.delete(l.id);
			const orders = this.orders.filter((o) => o.tick === next).sort((a, b) => a.player - b.player || a.seq - b.seq);
			m.step(orders);
			// a player is first updated in the tick after its join
			for (const j of this.joins) if (j.tick === next) m.players.set(j.id, { x: 0, v: 0, angle: 0 });
		}
		return m;
	}
}

async function viewer(player: number, config = walk): Promise<{ confirmed: Confirmed; server: Server; predicted: Predicted; outbox: Outbox; plan: Confirmed["world"]["plan"] }> {
	const { sim, mem, plan } = await walkSim(config);
	const confirmed = new Confirmed(plan, mem, sim);
	confirmed.player = player;
	const outbox = new Outbox();
	return { confirmed, server: new Server(plan, player), predicted: new Predicted(plan, mem, sim, outbox), outbox, plan };
}

function whole(m: WalkModel, sent: Map<number, Record<string, number>>): Thing[] {
	return [
		...[...m.players].map(([id, p]) => ({ id, type: 1, fields: { ...p, ...sent.get(id) } })),
		...[...m.rocks].map(([id, x]) => ({ id, type: 2, fields: { x, ...sent.get(id) } })),
	];
}

for (const [name, start] of [
	["from tick 0", 0],
	["over the wrap of ticks", 0xffffffff - 101],
] as const) {
	test("late commands, joins, leaves and skipped sends: the state is the server's at each send tick, " + name, async () => {
		const random = new Random(7 + (start & 7));
		const { confirmed, server } = await viewer(1);
		const truth = new Truth(start);
		const sent = new Map<number, Record<string, number>>();
		// as sent, by send tick: what a delta of that base says that a field was
		const history = new Map<number, Map<number, Record<string, number>>>();
		const present = new Set([1, 3]);
		for (const id of present) truth.join(start + 1, id);
		const joined = new Map([...present].map((id) => [id, 1]));
		let first = (start + 2) >>> 0;
		let seq = 0;
		let queued: Order[] = [];
		let base = first;
		let newest = first;
		const model = truth.at(first);
		for (const id of present) sent.set(id, { hp: 100 });
		for (const id of model.rocks.keys()) sent.set(id, { size: 0, y: 0 });
		history.set(first, structuredClone(sent));
		apply(confirmed, server.snapshot(first, whole(model, sent), { next: model.next, instance: { steps: model.steps } }));
		const listedSince = new Map<number, number>();
		for (let n = 4; n < 260; n += 2) {
			const tick = (start + n) >>> 0;
			for (const player of present) {
				while (random.below(3) === 0) {
					const back = random.below(Math.min(25, n - Math.max(joined.get(player)!, 2) - 1) + 1);
					const o = { tick: (tick - back) >>> 0, player, seq: ++seq, command: random.below(12) === 0 ? 1 : 0, v: random.next() * 6 - 3 };
					truth.orders.push(o);
					queued.push(o);
				}
			}
			const messages: Uint8Array[] = [];
			const gone: number[] = [];
			const come: number[] = [];
			if (random.below(8) === 0) {
				const id = 5 + 2 * n;
				if (present.size < 4) {
					present.add(id);
					joined.set(id, n);
					truth.join(tick, id);
					come.push(id);
				} else {
					const out = [...present].find((p) => p !== 1)!;
					present.delete(out);
					truth.leave(tick, out);
					gone.push(out);
					sent.delete(out);
				}
			}
			const now = truth.at(tick);
			for (const id of come) sent.set(id, { hp: 100 });
			for (const id of now.rocks.keys()) if (!sent.has(id)) sent.set(id, { size: 0, y: 0 });
			for (const id of [...sent.keys()]) if (id % 2 === 0 && !now.rocks.has(id)) sent.delete(id);
			for (const [, s] of sent) {
				if (random.below(3) > 0) continue;
				if ("hp" in s) s.hp = random.below(3);
				else if (random.below(2)) s.size = random.below(3);
				else s.y = random.below(3);
			}
			// a viewer whose socket is full gets nothing for a while
			if (gone.length + come.length === 0 && random.below(5) === 0) {
				history.set(tick, structuredClone(sent));
				continue;
			}
			if (random.below(2)) base = newest;
			if (gone.length) messages.push(server.leave(tick, gone));
			if (come.length) messages.push(server.enter(tick, come.map((id) => ({ id, type: 1, fields: { ...now.players.get(id)!, ...sent.get(id) } }))));
			if (queued.length) {
				const list = queued.sort((a, b) => ((a.tick - b.tick) | 0) || a.player - b.player || a.seq - b.seq);
				messages.push(server.commands(tick, list.map((o) => ({ ...o, fields: { v: o.v } }))));
				queued = [];
			}
			const then = history.get(base)!;
			const listed: Thing[] = [];
			for (const [id, s] of sent) {
				const was = then.get(id);
				const fields = was ? Object.fromEntries(Object.entries(s).filter(([k, v]) => was[k] !== v)) : s;
				const since = listedSince.get(id);
				if (!was || Object.keys(fields).length || (since !== undefined && ((since - base) | 0) > 0)) {
					listed.push({ id, type: id % 2 ? 1 : 2, fields });
					listedSince.set(id, tick);
				}
			}
			messages.push(server.delta(tick, base, listed, seq));
			history.set(tick, structuredClone(sent));
			apply(confirmed, ...messages);
			newest = tick;
			assert.equal(hashWorld(confirmed.world).hex(), now.hash(), "tick " + n);
			const things = contents(confirmed.world, 1).things;
			for (const t of things) {
				for (const [k, v] of Object.entries(sent.get(t.id) ?? {})) assert.equal(t.fields![k], v, `${k} of ${t.id} at ${n}`);
			}
			assert.equal(things.length, 1 + sent.size);
		}
		assert.ok(confirmed.rewinds > 30, String(confirmed.rewinds));
		assert.ok(confirmed.pasts.length < 40, String(confirmed.pasts.length));
		assert.ok(confirmed.tracks.size <= 40, String(confirmed.tracks.size));
	});
}

test("what a viewer lacks is asked for, and nothing changes meanwhile", async () => {
	const { confirmed, server } = await viewer(1);
	assert.throws(() => apply(confirmed, server.delta(4, 2)), ResyncError);
	apply(confirmed, server.snapshot(100, [{ id: 1, type: 1, fields: { hp: 3 } }]));
	const before = inside(confirmed);
	const lacking: Record<string, Uint8Array[]> = {
		"an unknown base": [server.delta(102, 98)],
		"a delta of an unknown object": [server.delta(102, 100, [{ id: 3, type: 1, fields: { hp: 1 } }])],
		"a keyframe of an unknown object": [server.keyframe(102, [{ id: 6, type: 2, fields: { x: 1 } }]), server.delta(102, 100)],
		"values of an object that the base lacks": [server.enter(102, [{ id: 6, type: 2 }]), server.delta(102, 100, [{ id: 6, type: 2, fields: { size: 1 } }])],
		"a command older than every past state": [server.commands(102, [{ tick: 100, player: 1, seq: 1, command: 0, fields: { v: 1 } }]), server.delta(102, 100)],
		"too great a gap": [server.delta(100 + 2 * 200, 100)],
		"no room": [server.enter(102, [3, 5, 7, 9].map((id) => ({ id, type: 1 }))), server.delta(102, 100)],
	};
	for (const [what, messages] of Object.entries(lacking)) {
		assert.throws(() => apply(confirmed, ...messages), ResyncError, what);
		assert.deepEqual(inside(confirmed), before, what);
	}
	const wrong: Record<string, Uint8Array[]> = {
		"a send tick again": [server.delta(100, 100)],
		"an old snapshot": [server.snapshot(90, [])],
		"a player's id on a rock": [server.enter(102, [{ id: 7, type: 2 }]), server.delta(102, 100)],
		"a rock's id on a player": [server.enter(102, [{ id: 8, type: 1 }]), server.delta(102, 100)],
		"an object of the instance's type": [server.enter(102, [{ id: 8, type: 0 }]), server.delta(102, 100)],
		"more than fit": [server.snapshot(102, [1, 3, 5, 7, 9].map((id) => ({ id, type: 1 })))],
		"messages of two ticks": [server.leave(102, [1]), server.delta(104, 100)],
		"two leaves": [server.leave(102, [1]), server.leave(102, [1]), server.delta(102, 100)],
		"enter before leave": [server.enter(102, [{ id: 3, type: 1 }]), server.leave(102, [1]), server.delta(102, 100)],
		"a snapshot in a send tick": [server.leave(102, [1]), server.snapshot(102, [])],
		"an unknown command": [new Uint8Array([...server.commands(102, []), 1, 1, 1, 9]), server.delta(102, 100)],
		"commands out of order": [
			server.commands(102, [
				{ tick: 102, player: 3, seq: 1, command: 1 },
				{ tick: 102, player: 1, seq: 1, command: 1 },
			]),
			server.delta(102, 100),
		],
	};
	for (const [what, messages] of Object.entries(wrong)) {
		assert.throws(() => apply(confirmed, ...messages), ProtocolError, what);
		assert.deepEqual(inside(confirmed), before, what);
	}
	apply(confirmed, server.delta(102, 100));
	assert.equal(confirmed.world.tick, 102);
});

test("a leave of nobody is ignored, an enter of a held id replaces it", () => {
	const { plan, confirmed } = still(walk, 1);
	const server = new Server(plan, 1);
	apply(confirmed, server.snapshot(2, [{ id: 1, type: 1, fields: { x: 5, hp: 9 } }]));
	apply(confirmed, server.leave(4, [5, 8]), server.enter(4, [{ id: 1, type: 1, fields: { v: 2 } }]), server.delta(4, 2));
	assert.deepEqual(contents(confirmed.world, 1).things[1].fields, { x: 0, v: 2, angle: 0, hp: 0 });
});

test("what bodies had brought back by themselves before it entered is theirs to bring back", () => {
	const plan = makePlan(walk, false);
	const rock = plan.types[2]!;
	const tick = (w: World, commands: readonly Command[]): void => {
		w.tick++;
		if (commands.length > 0) w.remove(rock, w.find(rock, 4));
	};
	const confirmed = new Confirmed(plan, new Memory(null, 64), { tick, guess: tick });
	const server = new Server(plan, 1);
	const rocks = (): unknown => contents(confirmed.world, 1).things.filter((t) => t.type === 2).map((t) => t.id);
	const me = { id: 1, type: 1 };
	apply(confirmed, server.snapshot(2, [me, { id: 4, type: 2 }]));
	const both = [4, 8].map((id) => ({ id, type: 2 }));
	apply(confirmed, server.delta(4, 2));
	apply(confirmed, server.enter(6, both), server.delta(6, 2));
	assert.deepEqual(rocks(), [4, 8]);
	const late = { tick: 5, player: 1, seq: 1, command: 0, fields: { v: 1 } };
	apply(confirmed, server.commands(8, [late]), server.delta(8, 2));
	assert.deepEqual(rocks(), [8], "the bodies did not know of 8, which enters again");
});

test("an absent field has the value held after the base, not the newest", () => {
	const { plan, confirmed } = still(walk, 1);
	const server = new Server(plan, 1);
	const rock = (fields: Record<string, number>): Thing => ({ id: 2, type: 2, fields });
	const now = (): unknown => {
		const { size, y } = contents(confirmed.world, 1).things[1].fields!;
		return [size, y];
	};
	apply(confirmed, server.snapshot(2, [rock({ size: 1, y: 1 })]));
	apply(confirmed, server.delta(4, 2, [rock({ size: 2 })]));
	assert.deepEqual(now(), [2, 1]);
	apply(confirmed, server.delta(6, 2, [rock({ y: 3 })]));
	assert.deepEqual(now(), [1, 3], "size went and came back: it differs from nothing");
	apply(confirmed, server.delta(8, 4, [rock({})]));
	assert.deepEqual(now(), [2, 1]);
	apply(confirmed, server.delta(10, 8));
	assert.deepEqual(now(), [2, 1], "what is not listed keeps its newest value");
});

test("a keyframe that changes a bit is drift, by field", () => {
	const { plan, confirmed } = still(walk, 1);
	const server = new Server(plan, 1);
	const drift: string[] = [];
	confirmed.onDrift = (label) => drift.push(label);
	apply(confirmed, server.snapshot(2, [{ id: 1, type: 1, fields: { x: 5, v: 0 } }]));
	const same = server.keyframe(4, [{ id: 1, type: 1, fields: { x: 5, v: 0 } }]);
	apply(confirmed, same, server.delta(4, 2));
	assert.deepEqual(drift, []);
	assert.throws(() => apply(confirmed, server.keyframe(6, [{ id: 1, type: 1, fields: { x: 6 } }]), server.delta(6, 3)), ResyncError);
	assert.deepEqual(drift, [], "of a send tick that is not applied there is none");
	apply(confirmed, server.keyframe(6, [{ id: 1, type: 1, fields: { x: 5, v: "-0", angle: 1 } }]), server.delta(6, 2));
	assert.deepEqual(drift, ["player.v", "player.angle"]);
});

test("in a game with a view body existence is the server's alone", async () => {
	const { sim, mem } = await walkSim();
	const plan = structuredClone({ ...sim["plan"] });
	plan.config.view = true;
	const confirmed = new Confirmed(plan, mem, sim);
	confirmed.player = 1;
	const server = new Server(plan, 1);
	const rocks = [4, 8, 12, 16].map((id) => ({ id, type: 2, fields: { x: id, y: id, size: 1 } }));
	apply(confirmed, server.snapshot(8, [{ id: 1, type: 1, fields: { v: 1 } }, ...rocks], { next: 50 }));
	// in tick 10 the bodies remove rock 4 and make another one
	apply(confirmed, server.delta(12, 8));
	const ids = (): number[] => contents(confirmed.world, 1).things.map((t) => t.id);
	assert.deepEqual(ids(), [0, 1, 4, 8, 12, 16]);
	assert.deepEqual(contents(confirmed.world, 1).things[2].fields, { size: 1, y: 4, x: 4 });
	apply(confirmed, server.leave(14, [4]), server.enter(14, [{ id: 50, type: 2 }]), server.delta(14, 12));
	assert.deepEqual(ids(), [0, 1, 8, 12, 16, 50]);
	assert.equal(confirmed.world.view.getUint32(confirmed.world.base + 8, true), 0x80000002);
});

test("the prediction is the confirmed world run on with the own commands", async () => {
	const { confirmed, server, predicted, outbox, plan } = await viewer(1);
	apply(confirmed, server.snapshot(2, [{ id: 1, type: 1, fields: { v: 1 } }]));
	predicted.invalidate(true);
	const ticks: number[] = [];
	let rebuilt = 0;
	const advance = (present: number): void => predicted.advance(confirmed, present, { rebuilt: () => rebuilt++, tick: (t) => ticks.push(t) });
	advance(5);
	assert.deepEqual(ticks, [3, 4, 5]);
	const x = (w = predicted.world): unknown => contents(w, 1).things[1].fields!.x;
	assert.deepEqual([x(), x(predicted.draft)], [3, 4]);
	const record = new Uint8Array(24);
	new DataView(record.buffer).setFloat32(16, 10, true);
	outbox.add({ player: 1, seq: 0, number: 0, record, tick: 6 });
	predicted.commanded();
	advance(5);
	assert.deepEqual([x(), x(predicted.draft)], [3, 13], "a command changes the tick that is under way");
	advance(7);
	assert.deepEqual([x(), x(predicted.draft)], [23, 33]);
	assert.equal(rebuilt, 0);
	// the server has not seen it by tick 8: it will go back for it
	apply(confirmed, server.delta(8, 2));
	const hash = hashWorld(confirmed.world).hex();
	predicted.invalidate(false);
	advance(9);
	assert.equal(rebuilt, 1);
	assert.deepEqual([hashWorld(confirmed.world).hex(), confirmed.world.tick, confirmed.log.size], [hash, 8, 0], "which is the prediction's affair");
	assert.deepEqual([predicted.old.tick, predicted.oldDraft.tick], [7, 8]);
	assert.deepEqual(ticks.splice(0), [3, 4, 5, 6, 7, 8, 9]);
	assert.equal(x(), 3 + 40);
	advance(8);
	assert.equal(predicted.world.tick, 9, "it never goes back");
	// it was run in tick 10 there: too late to go back so far
	apply(confirmed, server.commands(10, [{ tick: 10, player: 1, seq: 1, command: 0, fields: { v: 10 } }]), server.delta(10, 8, [], 1));
	outbox.processed(confirmed.processed);
	assert.equal(outbox.list.length, 0);
	predicted.invalidate(false);
	advance(11);
	assert.equal(x(), 7 + 10 + 10);
	predicted.invalidate(false);
	advance(11);
	assert.equal(rebuilt, 3);
	for (const [a, b] of [
		[predicted.old, predicted.world],
		[predicted.oldDraft, predicted.draft],
	]) {
		assert.equal(hashWorld(a).hex(), hashWorld(b).hex());
	}
	advance(4000);
	assert.equal(predicted.draft.tick, 10 + 32, "and no further than 32 ticks ahead");
	// far behind, there is nothing to go on from
	apply(confirmed, server.snapshot(500, [{ id: 1, type: 1 }]));
	predicted.invalidate(false);
	ticks.length = 0;
	advance(501);
	assert.equal(rebuilt, 3);
	assert.deepEqual(ticks, [500, 501]);
	assert.equal(plan.types.length, 3);
});

test("a command that is too late for its tick is predicted on the first that the server can go back to", async () => {
	for (const [timelineDepth, at] of [[0, 21], [4, 17], [32, 15]]) {
		const { confirmed, server, predicted, outbox } = await viewer(1, { ...walk, timelineDepth });
		apply(confirmed, server.snapshot(2, [{ id: 1, type: 1, fields: { v: 1 } }]));
		for (let tick = 4; tick <= 20; tick += 2) apply(confirmed, server.delta(tick, 2));
		const record = new Uint8Array(24);
		new DataView(record.buffer).setFloat32(16, 11, true);
		outbox.add({ player: 1, seq: 0, number: 0, record, tick: 15 });
		predicted.invalidate(true);
		predicted.advance(confirmed, 24, { rebuilt() {}, tick() {} });
		assert.equal(contents(predicted.world, 1).things[1].fields!.x, 22 + 10 * (25 - at), `depth ${timelineDepth}`);
		assert.equal(contents(confirmed.world, 1).things[1].fields!.x, 18);
	}
	// what came before the snapshot cannot be reached any more
	const { confirmed, server, predicted, outbox } = await viewer(1);
	apply(confirmed, server.snapshot(20, [{ id: 1, type: 1, fields: { v: 1 } }]));
	outbox.add({ player: 1, seq: 0, number: 0, record: new Uint8Array(24), tick: 15 });
	predicted.invalidate(true);
	predicted.advance(confirmed, 24, { rebuilt() {}, tick() {} });
	assert.equal(contents(predicted.world, 1).things[1].fields!.x, 0, "it stops in the first tick after");
});

test("after a resume only what the server received is kept", () => {
	const outbox = new Outbox();
	const add = (): void => outbox.add({ player: 1, seq: 0, number: 0, record: new Uint8Array(24), tick: 1 });
	for (let i = 0; i < 5; i++) add();
	outbox.resume(3, true);
	assert.deepEqual(outbox.list.map((c) => c.seq), [1, 2, 3]);
	add();
	assert.equal(outbox.list[3].seq, 4);
	outbox.resume(0, false);
	add();
	assert.deepEqual(outbox.list.map((c) => c.seq), [1]);
});

test("hours of play take no more memory than minutes", () => {
	const { plan, confirmed } = still(walk, 1);
	const server = new Server(plan, 1);
	apply(confirmed, server.snapshot(0, [{ id: 1, type: 1 }]));
	const size = (): number[] => [confirmed.pasts.length, confirmed.log.size, confirmed["pool"].length, confirmed["spare"].length, Math.max(...[...confirmed.tracks.values()].map((t) => t.versions))];
	for (let tick = 2; tick < 60000; tick += 2) {
		const rock = 4 + 2 * tick;
		const messages = [
			...(tick > 8 ? [server.leave(tick, [4 + 2 * (tick - 6)])] : []),
			server.enter(tick, [{ id: rock, type: 2 }]),
			server.commands(tick, [{ tick: tick < 40 ? tick : tick - (tick % 5), player: 1, seq: tick, command: 0, fields: { v: 1 } }]),
			server.delta(tick, Math.max(0, tick - 6), [{ id: 1, type: 1, fields: { hp: tick & 0xff } }]),
		];
		apply(confirmed, ...messages);
		if (tick % 1000 === 0) for (const n of size()) assert.ok(n < 40, size().join());
	}
	assert.ok(confirmed.tracks.size < 60, String(confirmed.tracks.size));
});
