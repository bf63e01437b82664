import assert from "node:assert/strict";
import test from "node:test";
import { Clock, Follower, behind, since } from "../src/clock";
import { Random } from "./random";

/** Runs a clock against a server of 30 ticks and 15 sends a second over a line of the given delay. */
function run(o: { delay: number; jitter?: number; seconds: number; first?: number; stall?: (ms: number) => boolean; frame?: (c: Clock, now: number, truth: number) => void; server?: (ms: number) => number }): Clock {
	const clock = new Clock(30, 2);
	const random = new Random(8);
	const first = o.first ?? 1000;
	const truth = o.server ?? ((ms: number) => first + ms * 0.03);
	const wait = (): number => o.delay + random.next() * (o.jitter ?? 0);
	const events: { at: number; run: () => void }[] = [];
	let arrival = 0;
	for (let t = 0; t < o.seconds * 1000; t += 1000 / 15) {
		// one line: nothing overtakes
		arrival = Math.max(arrival, t + wait());
		const at = arrival;
		const tick = Math.floor(truth(t) / 2) * 2;
		const sent = t + (tick - truth(t)) / 0.03;
		events.push({ at: Math.max(at + (sent - t), 0), run: () => clock.arrived(tick >>> 0, Math.max(at + (sent - t), 0)) });
	}
	for (let t = 10; t < o.seconds * 1000; t += t < 1000 ? 200 : 1000) {
		const there = t + wait();
		const back = there + wait();
		const s = truth(there);
		events.push({ at: back, run: () => clock.pong(t, back, Math.floor(s) >>> 0, s - Math.floor(s)) });
	}
	for (let t = 0; t < o.seconds * 1000; t += 16) {
		if (!o.stall?.(t)) events.push({ at: t, run: () => o.frame?.(clock, t, truth(t)) });
	}
	events.sort((a, b) => a.at - b.at);
	for (const e of events) e.run();
	return clock;
}

test("over a steady line the server's tick is known to a fraction", () => {
	for (const delay of [1, 50, 150]) {
		let worst = 0;
		const clock = run({
			delay,
			seconds: 10,
			frame: (c, now, truth) => {
				if (now > 2000) worst = Math.max(worst, Math.abs(c.server(now) - truth));
			},
		});
		assert.ok(worst < 0.2, `${delay} ms: off by ${worst} ticks`);
		assert.ok(Math.abs(clock.ping - 2 * delay) < 1);
		assert.ok(clock.jitter < 5, String(clock.jitter));
		// a command sent now arrives before its tick is run
		assert.ok(clock.lead > delay * 0.03 && clock.lead < delay * 0.03 + 1, String(clock.lead));
	}
});

test("the present never goes back, whatever the line does", () => {
	let last = -Infinity;
	let shown = -Infinity;
	let worst = 0;
	run({
		delay: 60,
		jitter: 80,
		seconds: 30,
		stall: (t) => t > 10_000 && t < 13_000,
		frame: (c, now, truth) => {
			const p = c.present(now);
			if (Number.isNaN(p)) return;
			assert.ok(p >= last, `present went from ${last} to ${p} at ${now}`);
			last = p;
			const d = c.drawn(now);
			assert.ok(d >= shown);
			shown = d;
			if (now > 5000) worst = Math.max(worst, Math.abs(p - (truth + c.lead)));
			if (now > 5000) assert.ok(d < truth - 2, "sent values are shown after they came");
		},
	});
	assert.ok(worst < 4, String(worst));
});

test("jitter widens the lead and a quiet line narrows it again", () => {
	const rough = run({ delay: 50, jitter: 60, seconds: 20 });
	const calm = run({ delay: 50, seconds: 20 });
	assert.ok(rough.lead > calm.lead + 0.5, `${rough.lead} ${calm.lead}`);
	let early = 0;
	let late = 0;
	const random = new Random(9);
	const clock = new Clock(30, 2);
	for (let i = 0; i < 300; i++) {
		clock.arrived(2 * i, (i * 1000) / 15 + (i < 100 ? random.next() * 80 : 0));
		if (i === 99) early = clock.lead;
		if (i === 299) late = clock.lead;
	}
	assert.ok(early > late + 1, `${early} ${late}`);
});

test("a server that dropped ticks is waited for, one that leapt is followed", () => {
	// 20 ticks less from the fifth second on
	let last = 0;
	let off = Infinity;
	run({
		delay: 20,
		seconds: 40,
		server: (ms) => 1000 + ms * 0.03 - (ms > 5000 ? 20 : 0),
		frame: (c, now, truth) => {
			const p = c.present(now);
			if (Number.isNaN(p)) return;
			assert.ok(p >= last);
			last = p;
			off = Math.abs(p - c.lead - truth);
			if (now > 9000) assert.ok(off < 1, `${off} at ${now}`);
		},
	});
	assert.ok(off < 0.5, String(off));
	const f = new Follower(0.03, 30);
	assert.equal(f.at(0, 100), 100);
	assert.equal(f.at(10, 200), 200);
	assert.equal(f.at(0, 150), 200, "time that goes back changes nothing");
});

test("ticks wrap without a jump", () => {
	let last = NaN;
	run({
		delay: 30,
		seconds: 10,
		first: 2 ** 32 - 150,
		frame: (c, now) => {
			const p = c.present(now);
			if (!Number.isNaN(last)) assert.ok(p - last < 2 && p >= last, `${last} ${p}`);
			last = p;
		},
	});
	assert.ok(last > 2 ** 32);
	assert.equal(since(2 ** 32 + 5.5, 3), 2.5);
	assert.equal(since(2 ** 32 + 1, 0xffffffff), 2);
	assert.equal(behind(0xfffffff0, 20, 30), true);
	assert.equal(behind(0xfffffff0, 10, 30), false);
});
