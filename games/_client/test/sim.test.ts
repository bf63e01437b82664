import assert from "node:assert/strict";
import test from "node:test";
import { hashWorld } from "../src/hash";
import { type Command, Sim } from "../src/sim";
import { World } from "../src/world";
import { walkSim } from "./kit";
import { Random } from "./random";
import { type Order, WalkModel } from "./walk";

function command(o: Order): Command {
	const record = new Uint8Array(24);
	new DataView(record.buffer).setFloat32(16, o.v, true);
	return { player: o.player, seq: o.seq, number: o.command, record };
}

test("the module and the model walk alike", async () => {
	const { sim, mem, plan } = await walkSim();
	const w = new World(plan, mem);
	w.clear();
	w.nextShared = 2;
	const model = new WalkModel();
	const random = new Random(1);
	for (const id of [1, 3, 9]) {
		w.insert(plan.types[1], id, 0);
		model.players.set(id, { x: 0, v: 0, angle: 0 });
	}
	for (let i = 0; i < 300; i++) {
		const orders: Order[] = [];
		for (const player of [1, 3, 5, 9]) {
			if (random.below(4) === 0) orders.push({ tick: i, player, seq: i, command: random.below(3), v: random.next() * 10 - 5 });
		}
		sim.tick(w, orders.map(command));
		model.step(orders);
		assert.equal(hashWorld(w).hex(), model.hash(), "tick " + w.tick);
	}
	assert.ok(sim.faults > 0);
});

test("a body that fails is left out for its actor, from the ninth time on for all", async () => {
	const { sim, mem, plan } = await walkSim();
	const w = new World(plan, mem);
	w.clear();
	const booms: Command[] = [];
	for (let i = 0; i < 40; i++) booms.push(command({ tick: 0, player: 1 + 2 * i, seq: 1, command: 1, v: 0 }));
	sim.tick(w, booms);
	assert.equal(sim.faults, 9);
	assert.equal(w.view.getUint32(w.base + 72, true), 1, "what the failed runs wrote is taken back");
	assert.equal(w.tick, 1);
});

test("a guess leaves out at once what failed in the last two ticks", async () => {
	const { sim, mem, plan } = await walkSim();
	const w = new World(plan, mem);
	w.clear();
	const boom = (player: number) => command({ tick: 0, player, seq: 1, command: 1, v: 0 });
	const faults = (run: () => void): number => {
		const before = sim.faults;
		run();
		return sim.faults - before;
	};
	assert.equal(faults(() => sim.guess(w, [boom(1)])), 1);
	assert.equal(faults(() => sim.tick(w, [boom(1), boom(3)])), 2);
	assert.equal(faults(() => sim.guess(w, [boom(1), boom(3)])), 2, "once may be chance");
	assert.equal(faults(() => sim.tick(w, [boom(1), boom(5)])), 2, "a tick that counts leaves nothing out unseen");
	assert.equal(faults(() => sim.guess(w, [boom(1), boom(3), boom(5)])), 2, "player 1's is left out");
	assert.equal(faults(() => sim.tick(w, [])), 0);
	assert.equal(faults(() => sim.guess(w, [boom(1)])), 1, "what has run is run again");
});

test("a failure that names no body is the end", async () => {
	const { mem, plan } = await walkSim();
	const zero = { value: 0 } as WebAssembly.Global;
	const sim = new Sim(plan, mem, {
		memory: new WebAssembly.Memory({ initial: 1 }),
		tick: () => {
			throw new RangeError("call stack");
		},
		heap: zero,
		fault: zero,
		fault_at: zero,
		fault_body: zero,
		fault_actor: zero,
	});
	const w = new World(plan, mem);
	w.clear();
	assert.throws(() => sim.tick(w, []), /game's code failed/);
});

test("rows stay in order of id through random inserts and removals", async () => {
	const { mem, plan } = await walkSim();
	const w = new World(plan, mem);
	const other = new World(plan, mem);
	const packed = { bytes: new Uint8Array(0), length: 0 };
	w.clear();
	const rock = plan.types[2];
	const held = new Set<number>();
	const random = new Random(6);
	for (let i = 0; i < 5000; i++) {
		const id = 2 + 2 * random.below(30);
		if (held.has(id)) {
			w.remove(rock, w.find(rock, id));
			held.delete(id);
		} else {
			const row = w.insert(rock, id, 0);
			assert.equal(row !== 0, held.size < 8, "exactly max fit");
			if (row) held.add(id);
		}
		const ids = Array.from({ length: w.count(rock) }, (_, k) => w.id(w.row(rock, k)));
		assert.deepEqual(ids, [...held].sort((a, b) => a - b));
		for (let k = 0; k < 64; k += 2) assert.equal(w.find(rock, k) !== 0, held.has(k));
		if (i % 50 === 0) {
			other.copyFrom(w);
			w.pack(packed);
			w.clear();
			w.unpack(packed);
			assert.equal(hashWorld(w).hex(), hashWorld(other).hex());
		}
	}
});
