import { Confirmed } from "../src/confirmed";
import { hashWorld } from "../src/hash";
import { Memory } from "../src/memory";
import { type Plan, makePlan, sightOf } from "../src/plan";
import { Reader } from "../src/reader";
import { SendTick } from "../src/sendtick";
import { Sim } from "../src/sim";
import { thinRunner } from "../src/thin";
import { instantiate } from "../src/wasm";
import type { World } from "../src/world";
import type { GameConfig } from "../src/config";
import { type Thing, type Values, plain } from "./server";
import { walk, walkModule } from "./walk";

/** A confirmed world that runs no bodies. */
export function still(config: GameConfig, player: number, thin = false): { plan: Plan; confirmed: Confirmed } {
	const plan = makePlan(config, thin);
	const confirmed = new Confirmed(plan, new Memory(null, 64), thinRunner);
	confirmed.player = player;
	return { plan, confirmed };
}

/** The hand-made game's bodies and memory. */
export async function walkSim(config = walk): Promise<{ sim: Sim; mem: Memory; plan: ReturnType<typeof makePlan> }> {
	const plan = makePlan(config, false);
	const exports = await instantiate(await WebAssembly.compile(walkModule()));
	const mem = new Memory(exports.memory, exports.heap.value as number);
	return { sim: new Sim(plan, mem, exports), mem, plan };
}

/** Applies the messages of one write: a send tick, behind a snapshot that came again if there is one. */
export function apply(c: Confirmed, ...messages: Uint8Array[]): void {
	const s = new SendTick();
	let complete = false;
	for (const m of messages) {
		const r = new Reader(m);
		complete = s.add(r.u8(), r);
		if (!complete) continue;
		c.apply(s);
		s.clear();
	}
	if (!complete) throw new Error("not a whole send tick");
}

/** All that the viewer of the player id may see (of -1: what anyone may), as plain values. */
export function contents(w: World, player: number): { tick: number; things: Thing[] } {
	const things: Thing[] = [];
	for (const t of w.plan.types) {
		for (let i = 0; i < w.count(t); i++) {
			const row = w.row(t, i);
			const id = w.id(row);
			const owner = w.owner(t, row);
			const fields: Values = {};
			for (const f of sightOf(t, id, owner, player).all) fields[f.name] = plain(f, w.bytes, w.view, row);
			things.push({ id, type: t.index, owner, fields });
		}
	}
	return { tick: w.tick, things: things.sort((a, b) => a.id - b.id) };
}

/** Everything that a later message could depend on, to compare before and after one that fails. */
export function inside(c: Confirmed): unknown {
	const w = c.world;
	const packed = { bytes: new Uint8Array(0), length: 0 };
	w.pack(packed);
	return {
		world: Buffer.from(packed.bytes.subarray(0, packed.length)).toString("hex"),
		hash: hashWorld(w).hex(),
		ready: c.ready,
		processed: c.processed,
		tracks: [...c.tracks].sort((a, b) => a[0] - b[0]).map(([id, t]) => [id, t.type.index, t.versions, t.versions > 0 ? t.newest : 0]),
		pasts: c.pasts.map((p) => [p.tick, Buffer.from(p.state.bytes.subarray(0, p.state.length)).toString("hex")]),
		log: c.log.size,
	};
}
