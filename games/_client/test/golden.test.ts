import assert from "node:assert/strict";
import test from "node:test";
import { hashWorld } from "../src/hash";
import { appendCommand, parseCommands, parseLeave, parsePong, parseWelcome } from "../src/messages";
import { makePlan } from "../src/plan";
import { Reader } from "../src/reader";
import { makeRecord } from "../src/sending";
import { Writer } from "../src/writer";
import { golden, goldenConfig } from "./golden";
import { apply, contents, still } from "./kit";
import { Server, type Thing, plain } from "./server";

function body(bytes: Uint8Array): Reader {
	return new Reader(bytes, 1);
}

const plan = makePlan(goldenConfig, false);

test("welcome", () => {
	for (const v of golden("welcome")) {
		const w = parseWelcome(body(v.bytes));
		assert.deepEqual(
			{
				version: w.version,
				tick: w.tick,
				hash: w.hash,
				player: w.player,
				received: w.received,
				instance: w.instance,
				token: w.token,
				tickRate: w.tickRate,
				sendRate: w.sendRate,
				timelineDepth: w.timelineDepth,
				name: v.name,
			},
			v.expect,
		);
	}
});

test("pong", () => {
	for (const v of golden("pong")) {
		const p = parsePong(body(v.bytes));
		assert.deepEqual({ nonce: p.nonce, tick: p.tick, elapsed: p.part * 65536, name: v.name }, v.expect);
	}
});

test("leave", () => {
	for (const v of golden("leave")) {
		const r = body(v.bytes);
		assert.equal(r.u32(), v.expect.tick);
		assert.deepEqual(parseLeave(r), v.expect.ids);
	}
});

test("commands", () => {
	for (const v of golden("commands")) {
		const r = body(v.bytes);
		const tick = r.u32();
		const list = parseCommands(r, plan, tick).map((c) => {
			const view = new DataView(c.record.buffer);
			const fields = Object.fromEntries(plan.commands[c.number].fields.map((f) => [f.name, plain(f, c.record, view, 0)]));
			return { tick: c.tick, player: c.player, seq: c.seq, command: c.number, fields };
		});
		assert.deepEqual({ tick, commands: list, name: v.name }, v.expect);
	}
});

test("what a client sends", () => {
	for (const v of golden("command")) {
		const values = Object.fromEntries(Object.entries(v.expect.fields).map(([k, x]) => [k, x === "-0" ? -0 : x]));
		const record = makeRecord(plan, v.expect.command, values);
		const c = { player: 3, seq: v.expect.seq, number: v.expect.command, record };
		assert.deepEqual(appendCommand(new Writer(), plan, c, v.expect.tick), v.bytes, v.name);
	}
	for (const v of golden("ack")) assert.deepEqual(new Writer().begin(2).u32(v.expect.tick).done(), v.bytes);
	for (const v of golden("ping")) assert.deepEqual(new Writer().begin(3).u32(v.expect.nonce).done(), v.bytes);
	for (const v of golden("resync")) assert.deepEqual(new Writer().begin(5).done(), v.bytes);
});

function things(expect: Record<string, any>): Thing[] {
	return [{ id: 0, type: 0, owner: 0, fields: expect.instance }, ...expect.objects];
}

test("snapshot", () => {
	for (const v of golden("snapshot")) {
		const { confirmed } = still(goldenConfig, v.expect.viewer);
		apply(confirmed, v.bytes);
		assert.deepEqual(contents(confirmed.world, v.expect.viewer), { tick: v.expect.tick, things: things(v.expect) }, v.name);
		assert.equal(confirmed.processed, v.expect.processed);
		const { view, base } = confirmed.world;
		assert.equal(view.getUint32(base + 8, true), v.expect.next);
		assert.equal(view.getBigUint64(base + 16, true), BigInt("0x" + v.expect.seed));
	}
});

const [whole] = golden("snapshot");

test("the hash of the snapshot's world", () => {
	const { confirmed } = still(goldenConfig, 3);
	apply(confirmed, whole.bytes);
	const known = golden("statehash").find((v) => v.expect.tick === 900) ?? golden("statehash")[0];
	assert.equal(hashWorld(confirmed.world).hex(), known.expect.hash);
	const h = hashWorld(confirmed.world);
	assert.deepEqual(new Writer().begin(4).u32(known.expect.tick).u32(h.lo).u32(h.hi).done(), known.bytes);
});

/** The snapshot's things with the changes that a message names. */
function changed(before: Thing[], expect: Record<string, any>): Thing[] {
	return before.map((t) => {
		const change = expect.objects.find((o: Thing) => o.id === t.id);
		return change ? { ...t, fields: { ...t.fields, ...change.fields } } : t;
	});
}

test("delta", () => {
	for (const v of golden("delta")) {
		const { viewer, tick, base, thin } = v.expect;
		const { plan, confirmed } = still(goldenConfig, viewer, thin);
		const from = v.expect.objects.length > 0 ? whole.expect.objects : [];
		apply(confirmed, new Server(plan, viewer).snapshot(base, from, { instance: whole.expect.instance }));
		const before = contents(confirmed.world, viewer).things;
		apply(confirmed, v.bytes);
		assert.deepEqual(contents(confirmed.world, viewer), { tick, things: changed(before, v.expect) }, v.name);
		assert.equal(confirmed.processed, v.expect.processed);
	}
});

test("keyframe", () => {
	for (const v of golden("keyframe")) {
		const { plan, confirmed } = still(goldenConfig, 3);
		const server = new Server(plan, 3);
		const zeroed = whole.expect.objects.map((t: Thing) => ({ ...t, fields: {} }));
		apply(confirmed, server.snapshot(900, zeroed));
		const before = contents(confirmed.world, 3).things;
		apply(confirmed, v.bytes, server.delta(v.expect.tick, 900));
		assert.deepEqual(contents(confirmed.world, 3), { tick: v.expect.tick, things: changed(before, v.expect) }, v.name);
	}
});

test("enter", () => {
	for (const v of golden("enter")) {
		const { viewer, tick } = v.expect;
		const { plan, confirmed } = still(goldenConfig, viewer);
		const server = new Server(plan, viewer);
		apply(confirmed, server.snapshot(900, [{ id: viewer, type: 1 }]));
		const before = contents(confirmed.world, viewer).things;
		apply(confirmed, v.bytes, server.delta(tick, 900));
		const all = [...before, ...v.expect.objects].sort((a, b) => a.id - b.id);
		assert.deepEqual(contents(confirmed.world, viewer), { tick, things: all }, v.name);
	}
});
