import assert from "node:assert/strict";
import test from "node:test";
import { Acks } from "../src/acks";
import type { GameConfig } from "../src/config";
import type { Game, ConnectOptions } from "../src/game";
import { create } from "../src/index";
import { makePlan } from "../src/plan";
import { FakeEnv, type FakeSocket } from "./fake";
import { Server } from "./server";
import { WalkModel, walk, walkModule } from "./walk";

const wasm = Buffer.from(walkModule()).toString("base64");

interface Play {
	env: FakeEnv;
	game: Game;
	server: Server;
	heard: string[];
}

/** Lets what waits for a promise run. */
async function settle(env: FakeEnv, sockets: number): Promise<void> {
	while (env.sockets.length < sockets) await new Promise((done) => setImmediate(done));
}

async function connect(options: ConnectOptions = {}, config: GameConfig = walk, module = wasm): Promise<Play> {
	const env = new FakeEnv();
	const game = create(config, module, {}, env).connect(options);
	const heard: string[] = [];
	const say = (name: string) => (...values: unknown[]): void => void heard.push([name, ...values.map((v) => (typeof v === "object" ? String((v as { id?: number }).id ?? JSON.stringify(v)) : v))].join(" "));
	for (const e of ["welcome", "ready", "join", "drop", "enter", "leave", "reconnecting", "closed"]) game.on(e, say(e));
	await settle(env, 1);
	return { env, game, server: new Server(makePlan(config, module === ""), 1), heard };
}

const me = { id: 1, type: 1, fields: { v: 1, hp: 100 } };

/** Opens the newest socket and plays the server's first words. */
function start({ env, server }: Play, tick = 2, received = 0): FakeSocket {
	const s = env.socket;
	s.onopen?.({});
	s.receive(server.welcome({ tick, received }), server.snapshot(tick, [me]));
	return s;
}

const tags = (messages: Uint8Array[]): number[] => messages.map((m) => m[0]);

/** The number behind a message's tag. */
const u32 = (m: Uint8Array): number => new DataView(m.buffer, m.byteOffset).getUint32(1, true);

test("the address: where the library came from, or what the page says", async () => {
	const url = async (o: ConnectOptions, config = walk): Promise<URL> => new URL((await connect(o, config)).env.socket.url);
	let u = await url({});
	assert.equal(u.origin + u.pathname, "wss://play.example/walk");
	assert.deepEqual([...u.searchParams], [["def", walk.hash]]);
	u = await url({ url: "http://localhost:7350/walk", instance: "a b", name: "Zoë", watch: true, resume: "00ff" });
	assert.equal(u.protocol + u.host + u.pathname, "ws:localhost:7350/walk");
	assert.throws(() => create(walk, wasm, {}, new FakeEnv()).connect({ url: "no address" }), TypeError);
	assert.deepEqual(Object.fromEntries(u.searchParams), { def: walk.hash, instance: "a b", name: "Zoë", watch: "1", resume: "00ff" });
});

test("from the welcome to the first picture", async () => {
	const play = await connect();
	const { env, game, heard } = play;
	assert.equal(game.me, null);
	assert.equal(game.players.size, 0);
	game.frame();
	env.socket.onopen?.({});
	env.time.pass(1000);
	assert.deepEqual(env.socket.sent, [], "the welcome comes first, even before a pong");
	const s = start(play);
	assert.deepEqual(heard, ["welcome one", "join 1 player", "ready"]);
	assert.deepEqual(tags(s.take()), [3, 2], "a ping, and the ack");
	assert.equal(game.me, game.players.get(1));
	assert.equal(game.name, "one");
	assert.equal(game.resumeToken, "07".repeat(16));
	const model = new WalkModel(2);
	model.players.set(1, { x: 0, v: 1, angle: 0 });
	assert.deepEqual(game.hash(), { tick: 2, hash: model.hash() });
	// time goes on and so does the prediction
	env.time.pass(100);
	game.frame(env.now());
	assert.ok(game.tick >= 4, String(game.tick));
	assert.ok((game.me!.x as number) > 0.5);
	assert.equal(env.warnings.length, 0);
});

test("commands are stamped with the next tick, predicted at once and confirmed", async () => {
	const play = await connect();
	const { env, game, server } = play;
	assert.equal(game.send.go({ v: 5 }), false, "nobody is there yet");
	const s = start(play);
	s.take();
	env.time.pass(50);
	game.frame(env.now());
	const p = game.tick;
	s.take();
	assert.equal(game.send.go({ v: 5 }), true);
	assert.equal(game.send.bless(), true);
	const [go, bless] = s.take();
	assert.deepEqual([...go], [1, ...new Uint8Array(Uint32Array.of(p + 1).buffer), 1, 0, ...new Uint8Array(Float32Array.of(5).buffer)]);
	assert.deepEqual([...bless], [1, ...new Uint8Array(Uint32Array.of(p + 1).buffer), 2, 2]);
	env.time.pass(100);
	game.frame(env.now());
	const x = game.me!.x as number;
	assert.ok(x > 8, String(x));
	s.receive(server.commands(p + 3, [{ tick: p + 1, player: 1, seq: 1, command: 0, fields: { v: 5 } }]), server.delta(p + 3, 2, [], 2));
	game.frame(env.now());
	assert.equal(game.me!.x, x, "the guess was right: nothing moves");
	assert.equal(game.stats.corrections, 0);
	assert.throws(() => game.send.go({ v: 51 }), RangeError);
	assert.throws(() => game.send.go({ v: NaN }), RangeError);
	assert.throws(() => game.send.go({ v: "5" }), TypeError);
	assert.throws(() => game.send.go({ w: 5 }), TypeError);
	assert.throws(() => game.send.boom({ v: 1 }), TypeError);
});

test("a tick handler may send, and each tick is told once", async () => {
	const play = await connect();
	const { env, game, server } = play;
	const ticks: number[] = [];
	game.on("tick", (tick: never) => {
		ticks.push(tick);
		game.send.go({ v: 2 });
	});
	const s = start(play);
	for (let i = 0; i < 20; i++) {
		env.time.pass(33);
		if (i % 2) s.receive(server.delta(3 + i, 2));
		game.frame(env.now());
	}
	assert.ok(ticks.length > 15, ticks.join());
	assert.deepEqual(ticks, [...new Set(ticks)].sort((a, b) => a - b));
	const stamps = s.take().filter((m) => m[0] === 1).map((m) => m[1]);
	assert.deepEqual(stamps, ticks.map((t) => t + 1));
});

test("a spectator sends nothing", async () => {
	const play = await connect({ watch: true });
	play.env.socket.onopen?.({});
	play.env.socket.receive(play.server.welcome({ player: 0 }), new Server(makePlan(walk, false), 0).snapshot(2, [me]));
	assert.equal(play.game.me, null);
	assert.equal(play.game.players.size, 1);
	assert.equal(play.game.send.go({ v: 1 }), false);
});

test("acks are ten a second at most; the hash is told every two seconds", async () => {
	const play = await connect();
	const { env, game, server } = play;
	const s = start(play);
	s.take();
	let hashes = 0;
	const acks: number[] = [];
	for (let tick = 4; tick < 304; tick += 2) {
		env.time.pass(1000 / 15);
		const waiting = s.take().filter((m) => m[0] === 2);
		assert.ok(waiting.every((m) => u32(m) === tick - 2), "what a ping takes along is the newest");
		s.receive(server.delta(tick, tick - 2));
		for (const m of [...waiting, ...s.take()]) {
			if (m[0] === 2) acks.push(u32(m));
			if (m[0] === 4) {
				hashes++;
				const v = new DataView(m.buffer);
				const known = game.hash();
				assert.equal(u32(m), known.tick);
				assert.equal(v.getBigUint64(5, true).toString(16).padStart(16, "0"), known.hash);
			}
		}
	}
	assert.ok(acks.length > 70 && acks.length < 90, String(acks.length));
	assert.deepEqual(acks.filter((a, i) => i > 0 && (a - acks[i - 1] < 2 || a - acks[i - 1] > 4)), [], "none is further from the next than it has to be");
	assert.ok(hashes >= 5 && hashes <= 6, String(hashes));
	assert.equal(game.stats.tick, 302);
});

test("how often send ticks are acked, by the game's rates", () => {
	for (const [tickRate, sendRate, perSecond] of [[10, 10, 10], [30, 10, 10], [30, 15, 7.5], [20, 20, 10], [30, 30, 10], [60, 60, 10], [60, 1, 1], [128, 128, 128 / 12]]) {
		let acks = 0;
		const a = new Acks(tickRate, () => acks++);
		const first = 0xffffffc0; // ticks wrap soon
		a.open();
		a.applied(first, true);
		for (let t = 1; t <= 60 * tickRate; t++) if (t % (tickRate / sendRate) === 0) a.applied((first + t) >>> 0, false);
		assert.equal(acks, 1 + 60 * perSecond, `${tickRate} ticks, ${sendRate} sends`);
	}
});

test("where no more send ticks come, the ack of the last one goes out with a ping", async () => {
	const play = await connect();
	const { env, server } = play;
	const s = start(play);
	env.time.pass(2000);
	s.take();
	s.receive(server.delta(4, 2));
	assert.deepEqual(tags(s.take()).filter((t) => t !== 4), [], "a send tick might come that stands for it");
	env.time.pass(1000);
	const sent = s.take();
	assert.deepEqual(tags(sent), [2, 3]);
	assert.equal(u32(sent[0]), 4);
	env.time.pass(3000);
	assert.deepEqual(tags(s.take()), [3, 3, 3], "once");
	// what a connection had withheld is none of the next one's business
	s.receive(server.delta(6, 4));
	s.take();
	s.onclose?.({ code: 1006 });
	env.time.pass(500);
	const again = start(play, 40);
	env.time.pass(5000);
	assert.deepEqual(again.take().filter((m) => m[0] === 2).map(u32), [40]);
});

test("pings are answered into the clock; a pong to nothing is malformed", async () => {
	const play = await connect();
	const { env, game, server } = play;
	const s = start(play);
	const ping = s.take()[0];
	env.time.pass(80);
	const nonce = new DataView(ping.buffer).getUint32(1, true);
	const pong = (n: number): Uint8Array => {
		const m = new Uint8Array(11);
		m[0] = 0x88;
		new DataView(m.buffer).setUint32(1, n, true);
		new DataView(m.buffer).setUint32(5, 3, true);
		return m;
	};
	s.receive(pong(nonce));
	assert.equal(game.stats.ping, 80);
	assert.ok(game.stats.lead > 1.2, String(game.stats.lead));
	s.receive(server.delta(4, 2));
	s.receive(pong(nonce));
	assert.equal(s.closedWith, 4100);
	assert.equal(game.stats.malformed, 1);
});

test("a malformed message ends the connection; the next begins with a snapshot on the same seat", async () => {
	const bad: [name: string, message: (server: Server) => Uint8Array | null][] = [
		["text", () => null],
		["empty", () => new Uint8Array(0)],
		["an unknown tag", () => Uint8Array.of(0x99, 1, 2, 3, 4)],
		["a client's tag", () => Uint8Array.of(1, 1, 2, 3, 4)],
		["a second welcome", (s) => s.welcome({})],
		["messages out of order", (s) => s.enter(4, [])],
	];
	for (const [name, message] of bad) {
		const play = await connect();
		const { env, game, server, heard } = play;
		const s = start(play);
		env.time.pass(40);
		game.send.go({ v: 3 });
		const before = game.hash();
		const m = message(server);
		if (m) s.receive(m);
		else s.onmessage?.({ data: "text" });
		if (name === "messages out of order") s.receive(server.leave(4, []));
		assert.equal(s.closedWith, 4100, name);
		assert.deepEqual(game.hash(), before);
		assert.equal(game.stats.malformed, 1);
		assert.match(heard.pop()!, /^reconnecting .*unreadable.* \d+$/);
		assert.equal(game.send.go({ v: 3 }), false);
		game.frame(env.now());
		assert.equal(game.players.size, 1, "the last picture stays");
		env.time.pass(8000);
		assert.equal(env.sockets.length, 2);
		assert.equal(new URL(env.socket.url).searchParams.get("resume"), "07".repeat(16));
		const again = start(play, 40, 1);
		again.take();
		assert.equal(heard.pop(), "ready");
		assert.equal(game.hash().tick, 40);
		game.send.go({ v: 4 });
		assert.equal(again.take().find((m) => m[0] === 1)![5], 2, "the next seq follows what was received");
	}
});

test("before its snapshot a connection has nothing else to say", async () => {
	const play = await connect();
	const s = play.env.socket;
	s.onopen?.({});
	s.receive(play.server.welcome({}), play.server.delta(4, 2));
	assert.equal(s.closedWith, 4100);
	const other = await connect();
	other.env.socket.onopen?.({});
	other.env.socket.receive(other.server.snapshot(2, [me]));
	assert.equal(other.env.socket.closedWith, 4100);
});

test("the last snapshot may come again: nothing of the past is shown, and the send tick behind it leads on", async () => {
	const play = await connect();
	const { env, game, server, heard } = play;
	const s = start(play);
	s.receive(server.delta(4, 2), server.delta(6, 4));
	env.time.pass(100);
	game.frame();
	const { x } = game.me!;
	s.take();
	heard.length = 0;
	const jitter = game.stats.jitter;
	s.receive(server.snapshot(2, [{ ...me, fields: { v: 2, hp: 100 } }]));
	assert.equal(game.hash().tick, 2);
	game.frame();
	assert.equal(game.me!.x, x);
	s.receive(server.delta(8, 2));
	assert.deepEqual(s.take().map(u32), [2, 8]);
	game.frame();
	assert.equal(game.hash().tick, 8);
	assert.equal(game.me!.v, 2);
	assert.deepEqual(heard, []);
	assert.deepEqual([game.stats.snapshots, game.stats.resyncs, game.stats.jitter], [2, 0, jitter]);
	// one of any other tick of the past is none of this server's
	s.receive(server.snapshot(4, [me]));
	assert.equal(game.stats.malformed, 1);
	assert.notEqual(s.closedWith, undefined);
});

test("the last snapshot may come again at once, with nothing after it", async () => {
	const play = await connect();
	const { env, game, server, heard } = play;
	const s = start(play);
	env.time.pass(1000 / 15);
	game.frame();
	const { x } = game.me!;
	const { lead, offset } = game.stats;
	heard.length = 0;
	s.take();
	s.receive(server.snapshot(2, [{ ...me, fields: { v: 2, hp: 100 } }]));
	game.frame();
	assert.deepEqual([game.me!.x, game.me!.v, game.stats.lead, game.stats.offset], [x, 1, lead, offset], "it is no news");
	s.receive(server.delta(4, 2));
	game.frame();
	assert.deepEqual([game.hash().tick, game.me!.v, game.stats.snapshots, game.stats.malformed], [4, 2, 2, 0]);
	assert.deepEqual([heard, s.take().filter((m) => m[0] === 2).map(u32)], [[], [2]]);
	// a state that came by a delta does not come again
	s.receive(server.snapshot(4, [me]));
	assert.equal(game.stats.malformed, 1);
});

test("a gap is mended by a snapshot, once asked for", async () => {
	const play = await connect();
	const { game, server } = play;
	const s = start(play);
	s.take();
	s.receive(server.delta(4, 1));
	assert.deepEqual(tags(s.take()), [5]);
	s.receive(server.delta(6, 1), server.delta(8, 1));
	assert.deepEqual(tags(s.take()), [], "what comes meanwhile is not applied, acked or asked for again");
	assert.equal(game.hash().tick, 2);
	s.receive(server.snapshot(10, [me]), server.delta(12, 10));
	assert.deepEqual(s.take().filter((m) => m[0] !== 4).map(u32), [10]);
	assert.equal(game.hash().tick, 12);
	assert.equal(game.stats.resyncs, 1);
	assert.equal(s.closedWith, undefined);
});

test("what makes no sense with the state is mended by a snapshot; where that does not help, the connection ends", async () => {
	const bad: [name: string, messages: (s: Server) => Uint8Array[], malformed: number][] = [
		["a send tick twice", (s) => [s.delta(2, 2)], 1],
		["trailing bytes", (s) => [new Uint8Array([...s.leave(4, [3]), 0x80]), s.delta(4, 2)], 1],
		["an enter of no type", (s) => [s.enter(4, [{ id: 9, type: 2 }]), s.delta(4, 2)], 1],
		["an enter cut short", (s) => [s.enter(4, [{ id: 2, type: 2 }]).slice(0, -1), s.delta(4, 2)], 1],
		["a delta cut short", (s) => [s.delta(4, 2, [{ id: 1, type: 1, fields: { hp: 3 } }]).slice(0, -1)], 1],
		["a delta of another type's object", (s) => [s.delta(4, 2, [{ id: 1, type: 2, fields: { size: 1, y: 2 } }])], 1],
		["a delta of nobody", (s) => [s.delta(4, 2, [{ id: 5, type: 1, fields: { hp: 3 } }])], 0],
		["a keyframe of nobody", (s) => [s.keyframe(4, [{ id: 6, type: 2, fields: { x: 3 } }]), s.delta(4, 2)], 0],
		["a command of no kind", (s) => [Uint8Array.of(0x85, 4, 0, 0, 0, 0, 1, 1, 9), s.delta(4, 2)], 1],
	];
	for (const [name, messages, malformed] of bad) {
		const play = await connect();
		const { env, game, server } = play;
		const s = start(play);
		s.take();
		const before = game.hash();
		s.receive(...messages(server));
		assert.deepEqual(tags(s.take()), [5], name);
		assert.deepEqual(game.hash(), before, name);
		assert.deepEqual([game.stats.resyncs, game.stats.malformed], [1, malformed], name);
		s.receive(server.snapshot(6, [me]), server.delta(8, 6));
		assert.equal(game.hash().tick, 8, name);
		assert.equal(s.closedWith, undefined, name);
		assert.equal(play.heard.pop(), "ready");
		game.frame(env.now());
		// the third snapshot in a row that mends nothing is the last
		for (let tick = 10; tick < 18; tick += 2) {
			assert.equal(s.closedWith, undefined, name);
			s.receive(server.delta(tick, 2, [{ id: 5, type: 1, fields: { hp: 3 } }]), server.snapshot(tick, [me]));
		}
		assert.equal(s.closedWith, 4100, name);
	}
});

test("codes that end it end it, the others try again with growing waits", async () => {
	for (const code of [1000, 1002, 1003, 1008, 1009, 4001, 4002, 4003, 4004, 4005]) {
		const play = await connect();
		const s = start(play);
		s.onclose?.({ code });
		assert.match(play.heard.pop()!, new RegExp(`^closed {"code":${code},.*"reconnects":false}`));
		play.env.time.pass(60_000);
		assert.equal(play.env.sockets.length, 1);
		assert.equal(play.env.time.pending, 0);
		assert.equal(play.env.watching, 0);
	}
	for (const code of [1001, 1006, 1011, 4006, 4007, 4008, 4009]) {
		const play = await connect();
		start(play);
		const waits: number[] = [];
		play.game.on("reconnecting", (_reason: never, wait: never) => waits.push(wait));
		for (let i = 1; i < 12; i++) {
			play.env.socket.onclose?.({ code });
			assert.equal(play.env.time.pending, 1);
			play.env.time.pass(8000);
			assert.equal(play.env.sockets.length, i + 1);
		}
		assert.ok(waits[0] <= 3100 && waits[10] >= 4000, waits.join());
		// a state that came starts the waits over
		start(play);
		play.env.socket.onclose?.({ code: 1006 });
		assert.ok(waits[11] <= 250, waits.join());
		assert.equal(play.game.stats.reconnects, 12);
	}
});

test("a library of another version or definition says that the page is old", async () => {
	for (const o of [{ version: 2 }, { hash: "ffffffffffffffff" }]) {
		const play = await connect();
		play.env.socket.onopen?.({});
		play.env.socket.receive(play.server.welcome(o));
		assert.match(play.heard.pop()!, /closed .*4005.*reload/);
		assert.equal(play.env.time.pending, 0);
	}
});

test("a server that says nothing is left; a page in the background waits", async () => {
	const play = await connect();
	const { env, server } = play;
	const s = start(play);
	env.time.pass(8000);
	s.receive(server.delta(4, 2));
	env.isHidden = true;
	env.time.pass(30_000);
	assert.equal(s.closedWith, undefined);
	env.hide(false);
	env.time.pass(11_000);
	assert.equal(s.closedWith, 4101);
	assert.match(play.heard[play.heard.length - 1], /reconnecting .*stopped answering/);
	// and one that never opens
	env.time.pass(4000);
	assert.equal(env.sockets.length, 2);
	env.time.pass(5000);
	assert.equal(env.sockets.length, 2);
	env.time.pass(2500);
	assert.equal(env.sockets[1].closedWith, 4101);
});

test("a page that comes back from the background far behind asks for a snapshot", async () => {
	const play = await connect();
	const { env, game, server } = play;
	const s = start(play);
	s.receive(server.delta(4, 2));
	env.hide(true);
	env.time.pass(500);
	env.hide(false);
	assert.ok(!tags(s.take()).includes(5), "half a second is nothing");
	env.hide(true);
	env.time.pass(5000);
	env.hide(false);
	assert.ok(tags(s.take()).includes(5));
	s.receive(server.delta(6, 4));
	assert.equal(game.hash().tick, 4);
	s.receive(server.snapshot(170, [me]));
	assert.equal(game.hash().tick, 170);
	game.frame(env.now());
	assert.ok(game.tick >= 170);
});

test("close leaves for good", async () => {
	const play = await connect();
	const s = start(play);
	play.game.close();
	assert.equal(s.closedWith, 1000);
	assert.match(play.heard.pop()!, /^closed {"code":1000/);
	play.game.close();
	play.env.time.pass(60_000);
	assert.equal(play.env.sockets.length, 1);
	assert.equal(play.env.time.pending, 0);
	assert.equal(play.game.send.go({ v: 1 }), false);
	const early = new FakeEnv();
	const game = create(walk, wasm, {}, early).connect();
	game.close();
	await new Promise((done) => setImmediate(done));
	await new Promise((done) => setImmediate(done));
	assert.equal(early.sockets.length, 0);
});

test("another instance after a reconnect starts everything over", async () => {
	const play = await connect();
	const { env, game, server } = play;
	start(play, 100_000);
	env.time.pass(100);
	game.send.go({ v: 1 });
	env.socket.onclose?.({ code: 1006 });
	env.time.pass(1000);
	env.socket.onopen?.({});
	env.socket.receive(server.welcome({ instance: "two", tick: 6 }), server.snapshot(6, [{ id: 1, type: 1, fields: { x: -9 } }]));
	assert.equal(game.hash().tick, 6);
	game.frame(env.now());
	assert.ok(game.tick < 20, String(game.tick));
	assert.equal(game.me!.x, -9);
});

test("without WebAssembly it connects as a thin client, and says so once", async () => {
	const real = WebAssembly.Module;
	const env = new FakeEnv();
	let game: Game;
	try {
		WebAssembly.Module = function () {
			throw new WebAssembly.CompileError("blocked by policy");
		} as unknown as typeof WebAssembly.Module;
		const library = create(walk, wasm, {}, env);
		library.connect();
		game = library.connect();
		await settle(env, 2);
	} finally {
		WebAssembly.Module = real;
	}
	assert.equal(env.warnings.length, 1);
	const s = env.socket;
	assert.equal(new URL(s.url).searchParams.get("thin"), "1");
	const server = new Server(makePlan(walk, true), 1);
	s.onopen?.({});
	s.receive(server.welcome({}), server.snapshot(2, [me]));
	s.receive(server.delta(4, 2, [{ id: 1, type: 1, fields: { x: 8 } }]), server.enter(6, [{ id: 4, type: 2, fields: { x: 1 } }]), server.delta(6, 2, [{ id: 1, type: 1, fields: { x: 12 } }]));
	for (let i = 0; i < 10; i++) {
		env.time.pass(33);
		game.frame(env.now());
	}
	assert.equal(game.me!.x, 12);
	assert.equal(game.entities.rock.size, 1);
	assert.equal(game.entities.rocks, game.entities.rock);
	assert.deepEqual(Object.keys(game.entities), ["rock"]);
	assert.equal(game.send.go({ v: 1 }), true);
	assert.ok(!tags(s.take()).includes(4), "no hash of what it does not run");
});

test("a module that does not load is told and ends it", async () => {
	const env = new FakeEnv();
	const game = create(walk, Buffer.from("no wasm").toString("base64"), {}, env).connect();
	const reason = await new Promise<{ code: number }>((done) => game.on("closed", done as never));
	assert.equal(reason.code, 4102);
	assert.equal(env.sockets.length, 0);
});

test("bodies that cannot be run on end it, once", async () => {
	const play = await connect();
	start(play);
	const { sim } = play.game["core"]!;
	sim!.tick = sim!.guess = () => {
		throw new Error("the engine's");
	};
	play.env.time.pass(500);
	for (let i = 0; i < 3; i++) play.game.frame(play.env.now());
	assert.equal(play.game.stats.resyncs, 1, "another state may do");
	for (let tick = 20; tick < 26; tick += 2) {
		play.env.socket.receive(play.server.snapshot(tick, [me]));
		for (let i = 0; i < 3; i++) play.game.frame(play.env.now());
	}
	assert.equal(play.game.stats.resyncs, 3);
	assert.match(play.heard.pop()!, /^closed .*4102/);
	assert.equal(play.env.warnings.length, 4);
	assert.equal(play.env.time.pending, 0);
});

test("a handler that throws disturbs no other, and one that is taken away is silent", async () => {
	const play = await connect();
	let calls = 0;
	play.game.on("ready", () => {
		throw new Error("the page's");
	});
	const off = play.game.on("ready", () => calls++);
	play.game.on("ready", () => {
		calls++;
		off();
	});
	start(play);
	assert.equal(calls, 2);
	assert.equal(play.env.warnings.length, 1);
	play.env.socket.onclose?.({ code: 1006 });
	play.env.time.pass(1000);
	start(play);
	assert.equal(calls, 3);
});

test("bytes are counted by message, both ways", async () => {
	const play = await connect();
	const s = start(play);
	const { stats } = play.game;
	const out = s.sent.reduce((n, m) => n + m.length, 0);
	assert.equal(stats.bytesOut, out);
	assert.equal(stats.bytes.ack, 5);
	assert.equal(stats.bytes.ping, 5);
	assert.equal(stats.bytesIn, stats.bytes.welcome + stats.bytes.snapshot);
});

test("what a page gets wrong it is told", async () => {
	const env = new FakeEnv();
	const game = create(walk, wasm, {}, env).connect({ nme: "Ann" } as ConnectOptions);
	await settle(env, 1);
	assert.match(env.warnings.pop()!, /no option nme; it has url, instance, resume, watch, name$/);
	game.on("redy", () => {});
	assert.match(env.warnings.pop()!, /no event redy; there are welcome, ready, /);
	assert.throws(() => game.send.go({ v: 1000 }), { name: "RangeError", message: /^go\.v is 1000, which is not within -?\d+ to \d+$/ });
	// nobody listens for the end, so it is said where an author looks
	env.socket.onclose?.({ code: 4005 });
	assert.match(env.warnings.pop()!, /the connection has ended: .*reload/);
	assert.equal(env.warnings.length, 0);
});
