import type { ConnectOptions, Game } from "../src/game";
import { create } from "../src/index";
import { TagAck, TagCommand, TagPing, TagPong, TagResync, TagStateHash } from "../src/messages";
import { makePlan } from "../src/plan";
import { Reader } from "../src/reader";
import { Writer } from "../src/writer";
import { FakeEnv, FakeSocket, FakeTime } from "./fake";
import { type Conditions, type Line, lines } from "./line";
import { Server, type Thing } from "./server";
import { type Order, WalkModel, walk, walkModule } from "./walk";

type Bytes = Uint8Array<ArrayBuffer>;
type Filed = Order & { relay: boolean };

const wasm = Buffer.from(walkModule()).toString("base64");
const tickTime = 1000 / walk.tickRate;

/** What the server keeps of one connection. */
class Seat {
	readonly server: Server;
	ack = NaN;
	snapshot = NaN;
	received = 0;
	processed = 0;
	/** Tick of the newest command. */
	filed = 0;
	due: Filed[] = [];
	/** Rocks that a thin client was told of. */
	held = new Set<number>();
	turn = 0;
	/** Ticks that each command came before its own was run; negative for a late one. */
	readonly margins: number[] = [];

	constructor(
		readonly player: number,
		readonly thin: boolean,
		readonly send: (messages: Bytes[]) => void,
	) {
		this.server = new Server(makePlan(walk, thin), player);
	}
}

/**
 * A server of the game walk in virtual time: it files commands on their ticks and goes
 * back for late ones, as the real one does, but on plain objects, and knows nothing of
 * how clients do it.
 */
export class Host {
	readonly time = new FakeTime();
	/** The hash of each send tick when it was sent. */
	readonly hashes = new Map<number, string>();
	/** Hashes that clients told, and whether they were right. */
	right = 0;
	wrong = 0;
	model = new WalkModel(2);
	private readonly began = this.time.now;
	private readonly log = new Map<number, Filed[]>();
	private readonly states = new Map<number, WalkModel>();
	private readonly born = new Map<number, number>();
	private readonly blessed = new Map<number, number>();
	private readonly hp = new Map<number, number>();
	private readonly seats: Seat[] = [];

	constructor(players: number) {
		for (let i = 0; i < players; i++) this.model.players.set(1 + 2 * i, { x: 0, v: 0, angle: 0 });
		this.states.set(this.model.tick, this.model.clone());
		this.time.after(tickTime, () => this.tick());
	}

	get exact(): number {
		return 2 + (this.time.now - this.began) / tickTime;
	}

	/** Takes a new connection of the player. */
	seat(player: number, thin: boolean, send: (messages: Bytes[]) => void): Seat {
		const s = new Seat(player, thin, send);
		const before = this.seats.find((o) => o.player === player);
		if (before) {
			s.received = before.received;
			s.processed = before.processed;
			this.seats.splice(this.seats.indexOf(before), 1);
		}
		this.seats.push(s);
		s.send([s.server.welcome({ tick: this.model.tick, received: s.received })]);
		return s;
	}

	leave(s: Seat): void {
		if (this.seats.includes(s)) this.seats.splice(this.seats.indexOf(s), 1);
	}

	receive(s: Seat, m: Uint8Array): void {
		const r = new Reader(m, 1);
		switch (m[0]) {
			case TagCommand:
				this.command(s, r);
				break;
			case TagAck:
				s.ack = r.u32();
				break;
			case TagPing: {
				const part = this.exact - Math.floor(this.exact);
				s.send([new Writer().begin(TagPong).u32(r.u32()).u32(Math.floor(this.exact)).u16(Math.floor(part * 65536)).done()]);
				break;
			}
			case TagResync:
				s.snapshot = s.ack = NaN;
				break;
			case TagStateHash: {
				const known = this.hashes.get(r.u32());
				const low = r.u32();
				const told = r.u32().toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
				if (known === told) this.right++;
				else if (known) this.wrong++;
			}
		}
	}

	private command(s: Seat, r: Reader): void {
		const n = this.model.tick;
		const asked = r.u32();
		const seq = r.uv();
		const command = r.uv();
		const v = command === 0 ? new Float32Array(Uint32Array.of(r.u32()).buffer)[0] : 0;
		if (seq !== s.received + 1) throw new Error("seqs do not ascend by one");
		s.received = seq;
		s.margins.push(asked - (n + 1));
		const tick = command === 2 ? n + 1 : Math.min(Math.max(asked, n + 1 - walk.timelineDepth, s.filed), n + walk.timelineDepth);
		s.filed = tick;
		const c = { tick, player: s.player, seq, command, v, relay: command !== 2 };
		const list = this.log.get(tick) ?? [];
		list.push(c);
		list.sort((a, b) => a.player - b.player || a.seq - b.seq);
		this.log.set(tick, list);
		for (const o of this.seats) o.due.push(c);
		if (tick > n) return;
		this.model = this.states.get(tick - 1)!.clone();
		while (this.model.tick < n) this.step();
	}

	private step(): void {
		const orders = this.log.get(this.model.tick + 1) ?? [];
		this.model.step(orders);
		for (const o of orders) {
			if (o.command !== 2 || this.blessed.has(o.player)) continue;
			this.blessed.set(o.player, this.model.tick + 2 - (this.model.tick % 2));
			this.hp.set(o.player, 777);
		}
		this.states.set(this.model.tick, this.model.clone());
		this.states.delete(this.model.tick - 100);
	}

	private tick(): void {
		this.time.after(tickTime, () => this.tick());
		this.step();
		const t = this.model.tick;
		if (t % 2 !== 0) return;
		this.hashes.set(t, this.model.hash());
		for (const id of this.model.rocks.keys()) if (!this.born.has(id)) this.born.set(id, t);
		for (const s of this.seats) this.send(s, t);
	}

	private things(m = this.model): Thing[] {
		const hp = (id: number): number => ((this.blessed.get(id) ?? Infinity) <= m.tick ? this.hp.get(id)! : 100);
		const players = [...m.players].map(([id, p]): Thing => ({ id, type: 1, fields: { ...p, hp: hp(id) } }));
		return [...players, ...[...m.rocks].map(([id, x]): Thing => ({ id, type: 2, fields: { x, size: 0, y: 0 } }))];
	}

	private send(s: Seat, t: number): void {
		const now = s.due.filter((c) => c.tick <= t);
		s.due = s.due.filter((c) => c.tick > t);
		for (const c of now) if (c.player === s.player) s.processed = Math.max(s.processed, c.seq);
		if (Number.isNaN(s.ack)) {
			s.snapshot = s.ack = t;
			s.held = new Set(this.model.rocks.keys());
			s.send([this.snapshot(s, this.model)]);
			return;
		}
		if (s.thin) {
			s.send(this.thin(s, t));
			return;
		}
		if (!now.some((c) => c.tick <= s.snapshot)) {
			s.send(this.full(s, t, now));
			return;
		}
		// the client cannot go back to before its snapshot: it has it again, and all that came since
		s.ack = s.snapshot;
		const since: Filed[] = [];
		for (let tick = s.snapshot + 1; tick <= t; tick++) since.push(...(this.log.get(tick) ?? []));
		const again = this.snapshot(s, this.states.get(s.snapshot)!);
		s.send([again, ...this.full(s, t, since)]);
	}

	private snapshot(s: Seat, m: WalkModel): Bytes {
		return s.server.snapshot(m.tick, this.things(m), { next: m.next, processed: s.processed, instance: { steps: m.steps } });
	}

	private full(s: Seat, t: number, now: Filed[]): Bytes[] {
		const relayed = now.filter((c) => c.relay).sort((a, b) => a.tick - b.tick || a.player - b.player || a.seq - b.seq);
		const messages: Bytes[] = [];
		if (relayed.length > 0) messages.push(s.server.commands(t, relayed.map((c) => ({ ...c, fields: c.command === 0 ? { v: c.v } : {} }))));
		const all: Thing[] = [{ id: 0, type: 0, fields: { steps: this.model.steps } }, ...this.things().map(({ id, type, fields }) => ({ id, type, fields: shared(type, fields!) }))];
		messages.push(s.server.keyframe(t, [all[s.turn++ % all.length]]));
		const listed = this.things().filter((o) => (o.type === 2 ? this.born.get(o.id)! > s.ack : (this.blessed.get(o.id) ?? 0) > s.ack));
		messages.push(s.server.delta(t, s.ack, listed.map(({ id, type, fields }) => ({ id, type, fields: type === 1 ? { hp: fields!.hp } : { size: 0, y: 0 } })), s.processed));
		return messages;
	}

	private thin(s: Seat, t: number): Bytes[] {
		const messages: Bytes[] = [];
		const gone = [...s.held].filter((id) => !this.model.rocks.has(id));
		if (gone.length > 0) messages.push(s.server.leave(t, gone));
		const come = this.things().filter((o) => o.type === 2 && !s.held.has(o.id));
		if (come.length > 0) messages.push(s.server.enter(t, come));
		s.held = new Set(this.model.rocks.keys());
		messages.push(s.server.delta(t, s.ack, [{ id: 0, type: 0, fields: { steps: this.model.steps } }, ...this.things()], s.processed));
		return messages;
	}
}

function shared(type: number, f: NonNullable<Thing["fields"]>): NonNullable<Thing["fields"]> {
	return type === 1 ? { x: f.x, v: f.v, angle: f.angle } : { x: f.x };
}

/** A page of the library on a bad line to the host, which draws 60 frames a second. */
export class Page {
	readonly env: FakeEnv;
	/** The newest connection, as the host has it. */
	seat: Seat | null = null;
	/** While it is set nothing runs here: a page that was put to sleep, or is busy. */
	private asleep = false;
	private readonly held: (() => void)[] = [];
	private connections = 0;
	game!: Game;
	/** Called after each frame, with the time since the last one. */
	onFrame: (dt: number) => void = () => {};

	private constructor(
		private readonly host: Host,
		private readonly player: number,
		public conditions: Conditions,
	) {
		this.env = new FakeEnv(host.time);
		this.env.open = (url) => this.open(url);
	}

	static async open(host: Host, player: number, conditions: Conditions, o: { thin?: boolean; options?: ConnectOptions } = {}): Promise<Page> {
		const p = new Page(host, player, conditions);
		p.game = create(walk, o.thin ? "" : wasm, {}, p.env).connect(o.options);
		while (p.connections === 0) await new Promise((done) => setImmediate(done));
		p.draw(host.time.now);
		return p;
	}

	private open(url: string): FakeSocket {
		const { time } = this.host;
		const began = time.now;
		let [there, back]: [Line, Line] = lines(this.conditions, 10 * this.player + this.connections++);
		let of = this.conditions;
		let seat: Seat | null = null;
		const socket = new FakeSocket(url);
		// other conditions are another line, but what is under way is not overtaken
		let last = [0, 0];
		const arrival = (way: 0 | 1, n: number): number => {
			if (of !== this.conditions) {
				of = this.conditions;
				[there, back] = lines(of, 10 * this.player + this.connections++);
			}
			last[way] = Math.max(last[way], (way === 0 ? there : back).arrival(time.now - began, n));
			return began + last[way] - time.now;
		};
		const open = (): boolean => socket.closedWith === undefined;
		const deliver = (messages: Bytes[]): void => {
			const at = arrival(1, messages.reduce((n, m) => n + m.length + 4, 0));
			time.after(at, () => this.awake(() => open() && socket.receive(...messages)));
		};
		socket.send = (m) => {
			time.after(arrival(0, m.length + 8), () => open() && seat && this.host.receive(seat, m));
		};
		const close = socket.close.bind(socket);
		socket.close = (code) => {
			close(code);
			if (seat) this.host.leave(seat);
		};
		time.after(arrival(0, 300), () => {
			time.after(arrival(1, 100), () =>
				this.awake(() => {
					socket.onopen?.({});
					this.seat = seat = this.host.seat(this.player, url.includes("thin=1"), deliver);
				}),
			);
		});
		this.env.sockets.push(socket);
		return socket;
	}

	private awake(run: () => void): void {
		if (this.asleep) this.held.push(run);
		else run();
	}

	/** Stops all that runs in the page, as browsers do with pages in the background; messages pile up. */
	sleep(): void {
		this.asleep = true;
		this.env.hide(true);
	}

	wake(): void {
		this.asleep = false;
		this.env.hide(false);
		for (const run of this.held.splice(0)) run();
	}

	private draw(last: number): void {
		this.host.time.after(1000 / 60, () => {
			const now = this.host.time.now;
			if (!this.env.isHidden) {
				this.game.frame(now);
				this.onFrame(now - last);
			}
			this.draw(now);
		});
	}

	/** The drawn place of a player. */
	x(player: number): number {
		return this.game.players.get(player)!.x as number;
	}
}
