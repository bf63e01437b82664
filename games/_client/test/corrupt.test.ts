import assert from "node:assert/strict";
import test from "node:test";
import type { Confirmed } from "../src/confirmed";
import { ProtocolError, ResyncError } from "../src/errors";
import { parsePong, parseWelcome } from "../src/messages";
import type { Plan } from "../src/plan";
import { Reader } from "../src/reader";
import { golden, goldenConfig } from "./golden";
import { apply, inside, still } from "./kit";
import { Random } from "./random";
import { Server } from "./server";

const [whole] = golden("snapshot");

/** The messages that make a send tick of one message from a golden file, in a world where it fits. */
interface Case {
	name: string;
	viewer: number;
	thin: boolean;
	base: number;
	message: Uint8Array;
	around: (server: Server, m: Uint8Array) => Uint8Array[];
}

function cases(): Case[] {
	const list: Case[] = [];
	const add = (file: string, around: (tick: number) => Case["around"]): void => {
		for (const v of golden(file)) {
			const base = v.expect.base ?? (v.expect.tick - 2) >>> 0;
			list.push({ name: file + ": " + v.name, viewer: v.expect.viewer ?? 3, thin: v.expect.thin ?? false, base, message: v.bytes, around: around(v.expect.tick) });
		}
	};
	add("snapshot", () => (_, m) => [m]);
	add("delta", () => (_, m) => [m]);
	const beside = (tick: number): Case["around"] => (server, m) => [m, server.delta(tick, (tick - 2) >>> 0)];
	add("keyframe", beside);
	add("commands", beside);
	add("enter", beside);
	add("leave", beside);
	return list;
}

function damage(random: Random, good: Uint8Array): Uint8Array {
	const b = Array.from(good);
	const times = 1 + random.below(2);
	for (let i = 0; i < times; i++) {
		const at = 1 + random.below(Math.max(1, b.length - 1));
		switch (random.below(6)) {
			case 0:
				b[at] = random.below(256);
				break;
			case 1:
				if (at < b.length) b[at] ^= 1 << random.below(8);
				break;
			case 2:
				b.length = at;
				break;
			case 3:
				b.push(random.below(256));
				break;
			case 4:
				b.splice(at, 1);
				break;
			case 5:
				b.splice(at, 0, random.below(256));
		}
	}
	return Uint8Array.from(b, (x) => x ?? 0);
}

function world(c: Case): { plan: Plan; confirmed: Confirmed; server: Server } {
	const { plan, confirmed } = still(goldenConfig, c.viewer, c.thin);
	const server = new Server(plan, c.viewer);
	apply(confirmed, server.snapshot(c.base, whole.expect.objects, { instance: whole.expect.instance }));
	return { plan, confirmed, server };
}

/** Applies or refuses, and must not have changed anything in the second case. */
function attempt(c: Case, m: Uint8Array, made: ReturnType<typeof world>): boolean {
	const before = inside(made.confirmed);
	try {
		apply(made.confirmed, ...c.around(made.server, m));
		return true;
	} catch (e) {
		if (e instanceof Error && e.message === "not a whole send tick") return false;
		assert.ok(e instanceof ProtocolError || e instanceof ResyncError, String(e instanceof Error ? e.stack : e));
		assert.deepEqual(inside(made.confirmed), before, c.name + ": " + Buffer.from(m).toString("hex"));
		return false;
	}
}

test("each cut and each longer message is refused, and nothing of it is applied", () => {
	for (const c of cases()) {
		if (c.name.includes("lists nothing") || c.name.includes("empty instance")) continue;
		for (let n = 5; n < c.message.length; n++) {
			const made = world(c);
			// a list that ends between two objects is a shorter list
			attempt(c, c.message.subarray(0, n), made);
		}
		const longer = new Uint8Array(c.message.length + 1);
		longer.set(c.message);
		assert.equal(attempt(c, longer, world(c)), false, c.name);
	}
});

test("no damage makes anything but an error of the protocol, nor half a change", () => {
	const random = new Random(3);
	for (const c of cases()) {
		let made = world(c);
		for (let i = 0; i < 300; i++) if (attempt(c, damage(random, c.message), made)) made = world(c);
	}
});

test("a damaged message in a run of good ones leaves the rest readable", () => {
	const random = new Random(4);
	const { plan, confirmed } = still(goldenConfig, 3);
	const server = new Server(plan, 3);
	const twin = still(goldenConfig, 3).confirmed;
	const objects = whole.expect.objects;
	const start = server.snapshot(1, objects);
	apply(confirmed, start);
	apply(twin, start);
	let refused = 0;
	let base = 1;
	for (let i = 0; i < 400; i++) {
		const tick = 3 + 2 * i;
		const rock = { id: 2, type: 2, fields: { hits: random.below(1000) } };
		const me = { id: 3, type: 1, fields: random.below(2) ? { score: i, ammo: i } : { score: i } };
		const bullet = { id: 400 + 4 * i, type: 3, owner: 3, fields: { x: i, heat: i & 255, charge: -i } };
		const gone = i > 8 ? [400 + 4 * (i - 9)] : [];
		if (tick - base > 12 || random.below(3) === 0) base = tick - 2;
		const good = [
			...(gone.length ? [server.leave(tick, gone)] : []),
			server.enter(tick, [bullet]),
			server.keyframe(tick, [{ id: 2, type: 2, fields: { x: i, name: "r" + (i % 100) } }]),
			server.delta(tick, base, [rock, me], i),
		];
		const which = random.below(good.length);
		const bad = good.map((m, k) => (k === which ? damage(random, m) : m));
		const before = inside(confirmed);
		const behind = inside(twin);
		try {
			apply(twin, ...bad);
			// the damage made another good message: this twin has gone its own way
			while (twin.pasts.length) twin.pasts.pop();
			twin.ready = false;
			apply(twin, server.snapshot(tick, objects));
			apply(confirmed, ...good);
			confirmed.ready = false;
			apply(confirmed, server.snapshot(tick, objects));
			base = tick;
			continue;
		} catch (e) {
			assert.ok(e instanceof Error);
			if (e.message !== "not a whole send tick") assert.ok(e instanceof ProtocolError || e instanceof ResyncError, String(e.stack));
			refused++;
		}
		assert.deepEqual(inside(twin), behind);
		assert.deepEqual(inside(confirmed), before);
		apply(twin, ...good);
		apply(confirmed, ...good);
		assert.deepEqual(inside(twin), inside(confirmed));
	}
	assert.ok(refused > 200, String(refused));
});

test("welcome and pong are read wholly or not at all", () => {
	const random = new Random(5);
	for (const [file, parse] of [
		["welcome", parseWelcome],
		["pong", parsePong],
	] as const) {
		for (const v of golden(file)) {
			for (let n = 1; n < v.bytes.length; n++) assert.throws(() => parse(new Reader(v.bytes.subarray(0, n), 1)), ProtocolError);
			for (let i = 0; i < 500; i++) {
				try {
					parse(new Reader(damage(random, v.bytes), 1));
				} catch (e) {
					assert.ok(e instanceof ProtocolError);
				}
			}
		}
	}
});
