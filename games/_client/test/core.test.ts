import assert from "node:assert/strict";
import test from "node:test";
import { makeCore } from "../src/core";
import { Outbox } from "../src/outbox";
import { makePlan } from "../src/plan";
import { instantiate } from "../src/wasm";
import { apply } from "./kit";
import { Server } from "./server";
import { walk, walkModule } from "./walk";

test("worlds of the largest block that a definition may have fit into the module's memory, with views and without", async () => {
	for (const view of [false, true]) {
		const plan = makePlan({ ...walk, view, layout: { ...walk.layout, size: 64 << 20 } }, false);
		const exports = await instantiate(await WebAssembly.compile(walkModule()));
		const outbox = new Outbox();
		const { confirmed, predicted } = makeCore(plan, exports, outbox);
		const server = new Server(plan, 1);
		confirmed.player = 1;
		apply(confirmed, server.snapshot(2, [{ id: 1, type: 1, fields: { v: 1 } }]));
		outbox.add({ tick: 5, player: 1, seq: 0, number: 0, record: new Uint8Array(walk.layout.commandStride) });
		predicted.advance(confirmed, 4, { rebuilt() {}, tick() {} });
		apply(confirmed, server.delta(4, 2));
		predicted.invalidate(false);
		let rebuilt = 0;
		predicted.advance(confirmed, 6, { rebuilt: () => rebuilt++, tick() {} });
		assert.deepEqual([predicted.world.tick, predicted.draft.tick, predicted.old.tick, rebuilt], [6, 7, 4, 1]);
		assert.ok(exports.memory.buffer.byteLength <= 256 << 20);
	}
});
