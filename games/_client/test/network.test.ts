import assert from "node:assert/strict";
import test from "node:test";
import { TagCommand } from "../src/messages";
import { Writer } from "../src/writer";
import { Host, Page } from "./network";
import { Random } from "./random";
import { walk } from "./walk";

const bad = { delay: 150, jitter: 50, seed: 1n };
const frame = 1000 / 60;
/** Ticks in a frame. */
const part = walk.tickRate / 60;

/** Two players on lines of the given conditions, whose clocks have settled. */
async function two(conditions: Parameters<typeof Page.open>[2] = bad): Promise<{ host: Host; ada: Page; bob: Page }> {
	const host = new Host(2);
	const ada = await Page.open(host, 1, conditions);
	const bob = await Page.open(host, 3, conditions);
	host.time.pass(4000);
	for (const p of [ada, bob]) {
		assert.equal(p.game.players.size, 2);
		assert.deepEqual(p.env.warnings, []);
	}
	return { host, ada, bob };
}

/** Checks in each frame that what the page holds is what the server had. Returns how many ticks it has compared. */
function compare(host: Host, page: Page): () => number {
	let compared = 0;
	let last = 0; // before the first state
	const next = page.onFrame;
	page.onFrame = (dt) => {
		next(dt);
		const { tick, hash } = page.game.hash();
		if (tick === last) return;
		last = tick;
		assert.equal(hash, host.hashes.get(tick), `at tick ${tick}`);
		compared++;
	};
	return () => compared;
}

test("over a bad line every state is the server's, and the server's judgement is the same", async () => {
	const { host, ada, bob } = await two();
	const counts = [compare(host, ada), compare(host, bob)];
	const random = new Random(3);
	for (let i = 0; i < 300; i++) {
		host.time.pass(random.next() * 200);
		const page = random.next() < 0.5 ? ada : bob;
		if (random.next() < 0.1) page.game.send.boom();
		else assert.ok(page.game.send.go({ v: Math.round((random.next() - 0.5) * 20) }));
	}
	for (const p of [ada, bob]) p.game.send.go({ v: 0 });
	host.time.pass(2000);
	for (const [i, p] of [ada, bob].entries()) {
		assert.ok(counts[i]() > 300, String(counts[i]()));
		const { stats } = p.game;
		assert.deepEqual([stats.drift, stats.resyncs, stats.malformed, stats.reconnects, stats.snapshots], [0, 0, 0, 0, 1]);
		assert.ok(stats.faults > 0);
	}
	assert.ok(host.right > 20, String(host.right));
	assert.equal(host.wrong, 0);
	assert.equal(ada.x(1), bob.x(1));
});

test("an own command is seen in the next frame and never corrected", async () => {
	const { host, ada } = await two();
	const random = new Random(4);
	let own = 0;
	ada.game.on("correction", (v: { id: number }) => {
		if (v.id === 1) own++;
	});
	let v = 0;
	for (let i = 0; i < 60; i++) {
		host.time.pass(100 + random.next() * 100);
		const next = (v > 0 ? -1 : 1) * (5 + random.next() * 40);
		const last = ada.x(1);
		const at = ada.game.stats.present;
		ada.game.send.go({ v: next });
		const { tick } = ada.game;
		let seen = NaN;
		ada.onFrame = () => {
			if (Number.isNaN(seen)) seen = ada.x(1);
		};
		host.time.pass(frame);
		// The tick that is under way goes to where the new speed leads: so does the picture, in the
		// part of it that has passed.
		const now = ada.game.stats.present;
		const passed = now - tick;
		const without = last + v * (now - at);
		if (passed <= 1) {
			const jump = seen - without;
			const want = (next - v) * passed;
			assert.ok(Math.abs(jump - want) < Math.abs(want) * 0.05 + 0.05, `at ${passed} of the tick: ${jump}, want ${want}`);
		} else assert.notEqual(seen, without);
		v = next;
		host.time.pass(40);
	}
	assert.equal(own, 0, "the server has them on the same ticks");
});

test("others move in every frame, between the packets, by what their commands say", async () => {
	const { host, ada, bob } = await two();
	bob.game.send.go({ v: 3 });
	host.time.pass(2000);
	const steps: number[] = [];
	let last = ada.x(3);
	ada.onFrame = () => {
		steps.push(ada.x(3) - last);
		last = ada.x(3);
	};
	host.time.pass(5000);
	assert.ok(steps.length > 290);
	for (const s of steps) assert.ok(s > 0.8 * 3 * part && s < 1.2 * 3 * part, `a frame moves it by ${s}`);
	assert.equal(ada.game.stats.drift, 0);
});

test("news of others is eased in, a tenth of a second long", async () => {
	const { host, ada, bob } = await two();
	bob.game.send.go({ v: 2 });
	host.time.pass(3000);
	// Bob's own picture is the truth, since he knows what he does.
	const truth = (at: number): number => bob.x(3) + 2 * (at - bob.game.stats.present);
	const off = (): number => ada.x(3) - truth(ada.game.stats.present);
	assert.ok(Math.abs(off()) < 0.2, String(off()));
	let corrections = 0;
	ada.game.on("correction", (v: { id: number }) => {
		if (v.id === 3) corrections++;
	});
	bob.game.send.go({ v: -2 });
	const jumps: number[] = [];
	let last = ada.x(3);
	let since = NaN;
	let worst = 0;
	ada.onFrame = () => {
		const x = ada.x(3);
		jumps.push(Math.abs(x - last));
		last = x;
		if (corrections > 0 && Number.isNaN(since)) since = host.time.now;
		const error = Math.abs(ada.x(3) - (bob.x(3) - 2 * (ada.game.stats.present - bob.game.stats.present)));
		if (corrections === 0) worst = Math.max(worst, error);
		if (host.time.now - since > 100) assert.ok(error < 0.1 * worst, `${host.time.now - since} ms later still ${error} of ${worst}`);
	};
	host.time.pass(2000);
	assert.equal(corrections, 1);
	// for the time that the news takes, it is drawn where the old speed leads
	assert.ok(worst > 30 && worst < 4 * walk.tickRate * 0.55, String(worst));
	// what is seen of the correction is no jump
	assert.ok(Math.max(...jumps) < 0.45 * worst, String(Math.max(...jumps)));
	assert.equal(ada.game.stats.snaps, 0);
	// one that is further off than the field's snap distance shows at once
	ada.onFrame = () => {};
	bob.game.send.go({ v: 50 });
	host.time.pass(2000);
	assert.equal(ada.game.stats.snaps, 1);
});

test("the lead of the commands follows the line's jitter, both ways", async () => {
	const host = new Host(1);
	const ada = await Page.open(host, 1, { delay: 40, jitter: 2, seed: 2n });
	const margins = (seconds: number): number[] => {
		const from = ada.seat!.margins.length;
		for (let i = 0; i < seconds * 20; i++) {
			ada.game.send.go({ v: 1 });
			host.time.pass(50);
		}
		return ada.seat!.margins.slice(from).sort((a, b) => a - b);
	};
	host.time.pass(2000);
	const late = (all: number[]): number => all.filter((m) => m < 0).length / all.length;
	const median = (all: number[]): number => all[all.length >> 1];
	const calm = margins(10);
	assert.ok(late(calm) < 0.02, String(late(calm)));
	assert.ok(median(calm) <= 1, String(median(calm)));
	const lead = ada.game.stats.lead;
	ada.conditions = { delay: 40, jitter: 120, seed: 2n };
	margins(4);
	const rough = margins(20);
	assert.ok(late(rough) < 0.1, `${late(rough)} of the commands are late on a rough line`);
	assert.ok(ada.game.stats.lead > lead + 2, `${ada.game.stats.lead} after ${lead}`);
	ada.conditions = { delay: 40, jitter: 2, seed: 2n };
	margins(4);
	const again = margins(10);
	assert.ok(late(again) < 0.02, String(late(again)));
	assert.ok(median(again) <= 1, String(median(again)));
	assert.ok(Math.abs(ada.game.stats.lead - lead) < 0.5, `${ada.game.stats.lead}, once ${lead}`);
});

test("stalls of a second: it waits, catches up and needs nothing anew", async () => {
	const { host, ada, bob } = await two({ delay: 60, jitter: 20, stall: 1000, stallEvery: 6000, seed: 5n });
	const counts = [compare(host, ada), compare(host, bob)];
	let longest = 0;
	let still = 0;
	let present = 0;
	let stalls = 0;
	let lead = 0;
	let recovered = 0;
	const next = ada.onFrame;
	ada.onFrame = (dt) => {
		next(dt);
		const { stats } = ada.game;
		// how long the picture stands still, since no prediction goes further than 32 ticks
		still = stats.present === present ? still + dt : 0;
		present = stats.present;
		longest = Math.max(longest, still);
		const ahead = stats.predicted - stats.tick;
		assert.ok(ahead <= 32);
		if (ahead > 25) {
			if (recovered > 0) stalls++;
			recovered = 0;
		} else recovered += dt;
		lead = Math.max(lead, stats.lead);
	};
	for (let i = 0; i < 600; i++) {
		host.time.pass(100);
		for (const p of [ada, bob]) p.game.send.go({ v: (i % 7) - 3 });
	}
	host.time.pass(3000);
	assert.ok(stalls >= 5, `${stalls} stalls`);
	assert.ok(longest < 600, `the picture stood still for ${longest} ms`);
	assert.ok(lead < 4, `a stall makes the lead ${lead} ticks`);
	for (const [i, p] of [ada, bob].entries()) {
		assert.ok(counts[i]() > 400, String(counts[i]()));
		assert.deepEqual([p.game.stats.reconnects, p.game.stats.resyncs, p.game.stats.drift], [0, 0, 0]);
	}
	assert.equal(host.wrong, 0);
});

for (const asleep of [false, true]) {
	test("a page comes back from five minutes in the background, where it " + (asleep ? "slept" : "listened on"), async () => {
		const { host, ada, bob } = await two();
		bob.game.send.go({ v: 0.125 });
		host.time.pass(1000);
		let runs = 0;
		const { sim } = ada.game["core"]!;
		const tick = sim!.tick.bind(sim);
		sim!.tick = (w, commands) => {
			runs++;
			tick(w, commands);
		};
		const before = ada.game.stats.snapshots;
		if (asleep) ada.sleep();
		else ada.env.hide(true);
		const minutes = 5;
		host.time.pass(minutes * 60_000);
		const ticks = minutes * 60 * walk.tickRate;
		// it takes in what comes, and predicts nothing
		assert.ok(runs < (asleep ? 1 : 1.1 * ticks), `${runs} ticks were run in the background`);
		runs = 0;
		if (asleep) ada.wake();
		else ada.env.hide(false);
		const compared = compare(host, ada);
		host.time.pass(1000);
		assert.ok(runs < 700, `${runs} ticks were run in the second after`);
		assert.equal(ada.game.stats.snapshots, before + (asleep ? 1 : 0));
		assert.equal(ada.game.stats.resyncs, asleep ? 1 : 0);
		assert.ok(compared() > 5);
		assert.ok(Math.abs(ada.game.stats.present - bob.game.stats.present) < 3, `${ada.game.stats.present} and ${bob.game.stats.present}`);
		assert.ok(Math.abs(ada.x(3) - bob.x(3)) < 0.5, `${ada.x(3)} and ${bob.x(3)}`);
		assert.equal(ada.game.stats.reconnects, 0);
	});
}

test("a bit that flips in a client heals within a turn of the keyframes, and is reported by field", async () => {
	const { host, ada } = await two();
	const { world } = ada.game["core"]!.confirmed;
	const player = world.plan.types[1];
	const row = world.find(player, 3);
	assert.deepEqual([ada.game.stats.drift, ada.game.stats.driftBy], [0, {}]);
	const flip = (): void => world.bytes.set([world.bytes[row + 20 + 2] ^ 1], row + 20 + 2);
	// in all copies that it would come back from
	const { confirmed } = ada.game["core"]!;
	flip();
	world.pack(confirmed.pasts[confirmed.pasts.length - 1].state);
	const seen = (): boolean => {
		const { tick, hash } = ada.game.hash();
		return host.hashes.get(tick) === hash;
	};
	assert.equal(seen(), false);
	// a turn is one send tick per object here: the instance, two players, and up to four rocks
	let sends = 0;
	while (!seen()) {
		host.time.pass(1000 / walk.sendRate);
		assert.ok(++sends <= 8, "it has not healed within a turn");
	}
	assert.deepEqual([ada.game.stats.drift, ada.game.stats.driftBy], [1, { "player.angle": 1 }]);
	const compared = compare(host, ada);
	host.time.pass(2000);
	assert.ok(compared() > 20);
	assert.equal(ada.game.stats.resyncs, 0);
});

test("objects that come apart from the server's are asked for anew", async () => {
	const { host, ada } = await two();
	const { confirmed } = ada.game["core"]!;
	const { world } = confirmed;
	const rock = world.plan.types[2];
	assert.ok(world.count(rock) > 2);
	// the client believes its newest rock to be another one
	world.view.setUint32(world.row(rock, world.count(rock) - 1), 4000, true);
	world.pack(confirmed.pasts[confirmed.pasts.length - 1].state);
	host.time.pass(2500);
	assert.ok(ada.game.stats.resyncs >= 1, String(ada.game.stats.resyncs));
	const compared = compare(host, ada);
	host.time.pass(2000);
	assert.ok(compared() > 20);
	ada.onFrame = () => {};
	// a state on which even the compiled bodies fail
	world.view.setUint32(world.base + rock.counts, 0x7fffffff, true);
	host.time.pass(2500);
	assert.ok(ada.game.stats.resyncs >= 2);
	const again = compare(host, ada);
	host.time.pass(2000);
	assert.ok(again() > 20);
	assert.equal(ada.game.stats.reconnects, 0);
});

test("a connection that breaks on a bad line is taken up again", async () => {
	const { host, ada, bob } = await two();
	ada.game.send.go({ v: 1 });
	host.time.pass(1000);
	ada.env.socket.close(1006);
	ada.env.socket.onclose?.({ code: 1006 });
	host.time.pass(3000);
	const compared = compare(host, ada);
	ada.game.send.go({ v: 0 });
	host.time.pass(3000);
	assert.ok(compared() > 40);
	assert.equal(ada.game.stats.reconnects, 1);
	assert.equal(ada.x(1), bob.x(1));
});

test("who joins while a player's commands are always late gets its snapshot again while they are of before it, and never after", async () => {
	const host = new Host(3);
	const ada = await Page.open(host, 1, { delay: 40, seed: 5n });
	host.time.pass(1000);
	// bob's commands come some four ticks after their own, for 1,000 ticks
	const bob = host.seat(3, true, () => {});
	let seq = 0;
	const late = (): void => {
		host.receive(bob, new Writer().begin(TagCommand).u32(host.model.tick - 3).uv(++seq).uv(0).f32((seq % 7) - 3).done());
	};
	const tick = 1000 / walk.tickRate;
	for (let i = 0; i < 30; i++, host.time.pass(tick)) late();
	const before = ada.game.stats.snapshots;
	const cleo = await Page.open(host, 5, { delay: 60, jitter: 20, seed: 6n });
	const counts = [compare(host, ada), compare(host, cleo)];
	const first = cleo.env.socket;
	for (let i = 0; i < 1000; i++, host.time.pass(tick)) {
		late();
		if (i % 40 === 20) cleo.game.send.go({ v: (i % 7) - 3 });
	}
	cleo.game.send.go({ v: 0 });
	host.time.pass(2000);
	const most = 1 + 4 / (walk.tickRate / walk.sendRate);
	const { stats } = cleo.game;
	assert.ok(stats.snapshots > 1 && stats.snapshots <= most, String(stats.snapshots));
	assert.equal(ada.game.stats.snapshots, before);
	assert.ok(stats.rewinds > 300, String(stats.rewinds));
	assert.equal(cleo.env.socket, first);
	for (const [i, p] of [ada, cleo].entries()) {
		assert.ok(counts[i]() > 400, String(counts[i]()));
		assert.deepEqual([p.game.stats.drift, p.game.stats.resyncs, p.game.stats.malformed, p.game.stats.reconnects], [0, 0, 0, 0]);
		assert.deepEqual(p.env.warnings, []);
	}
	assert.ok(host.right > 10 && host.wrong === 0);
	assert.equal(ada.x(5), cleo.x(5));
});

test("a thin client on a bad line is shown everything, smoothly, a little later", async () => {
	const host = new Host(2);
	const thin = await Page.open(host, 1, bad, { thin: true });
	const bob = await Page.open(host, 3, bad);
	host.time.pass(4000);
	bob.game.send.go({ v: 3 });
	host.time.pass(3000);
	const steps: number[] = [];
	let last = thin.x(3);
	let rocks = 0;
	thin.onFrame = () => {
		steps.push(thin.x(3) - last);
		last = thin.x(3);
		for (const r of thin.game.entities.rock) rocks = Math.max(rocks, r.id);
	};
	host.time.pass(10_000);
	for (const s of steps) assert.ok(s > 0.5 * 3 * part && s < 1.7 * 3 * part, `a frame moves it by ${s}`);
	assert.ok(rocks > 40);
	assert.equal(thin.game.entities.rock.size, 4);
	// it is behind by the line and what it waits for, and no more
	const behind = (bob.x(3) - thin.x(3)) / 3;
	assert.ok(behind > 4 && behind < 24, `${behind} ticks`);
	// its own command comes back after a round trip
	const sent = host.time.now;
	thin.game.send.go({ v: 7 });
	let moved = NaN;
	const from = thin.x(1);
	thin.onFrame = () => {
		if (Number.isNaN(moved) && thin.x(1) !== from) moved = host.time.now - sent;
	};
	host.time.pass(2000);
	assert.ok(moved > 300 && moved < 900, String(moved));
	assert.deepEqual([thin.game.stats.resyncs, thin.game.stats.malformed, thin.game.stats.reconnects], [0, 0, 0]);
	bob.game.send.bless();
	host.time.pass(1500);
	assert.equal(thin.game.players.get(3)!.hp, 777);
});
