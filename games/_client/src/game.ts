import { Acks } from "./acks";
import { Clock, behind } from "./clock";
import { type Core, makeCore } from "./core";
import type { Env } from "./env";
import { ProtocolError, ResyncError } from "./errors";
import { Events } from "./events";
import { hashWorld } from "./hash";
import { Heartbeat } from "./heartbeat";
import { PlayerType } from "./layout";
import {
	TagAck,
	TagPing,
	TagPong,
	TagResync,
	TagStateHash,
	TagWelcome,
	type Welcome,
	appendCommand,
	messageNames,
	parsePong,
	parseWelcome,
} from "./messages";
import type { Collection, ObjectView } from "./objects";
import { Outbox } from "./outbox";
import { Picture, type PictureEvents, partOf } from "./picture";
import type { Plan } from "./plan";
import { CodeFailed, Malformed, OtherVersion, type Reason, Silent } from "./reasons";
import { Reader } from "./reader";
import { makeRecord } from "./sending";
import { SendTick } from "./sendtick";
import { Socket } from "./socket";
import { type Stats, newStats } from "./stats";
import { after } from "./track";
import type { Exports } from "./wasm";
import { Writer } from "./writer";

/** What a page may ask for when it connects. */
export interface ConnectOptions {
	/** ws(s)://host/game; by default where the library came from. */
	url?: string;
	/** Name of the instance to join; by default the server chooses. */
	instance?: string;
	/** A token of an earlier connection, to take its seat again. */
	resume?: string;
	/** Look on without a seat. */
	watch?: boolean;
	/** The player's name. */
	name?: string;
}

const optionNames: string[] = ["url", "instance", "resume", "watch", "name"] satisfies (keyof ConnectOptions)[];

/** Sends a command. False if there is nobody to send it to; throws for values that the server would refuse. */
export type Send = (values?: Record<string, unknown>) => boolean;

/** A state hash is told no more often than this, in ms. */
const hashPeriod = 2000;
/** Snapshots that may be asked for in a row, each of which has mended nothing. */
const maxMends = 3;
/** A page that has so many commands unanswered waits. */
const maxUnanswered = 512;

/**
 * One player's connection to a game. Socket, heartbeat, worlds, clock and picture know
 * nothing of each other; here they meet.
 */
export class Game {
	/** Sends a command: `send.NAME({field: value})`. */
	readonly send: Record<string, Send> = {};
	readonly players: Collection;
	/** The entities by their type's name, in the picture. */
	readonly entities: Record<string, Collection> = {};
	readonly stats: Stats = newStats();

	private readonly plan: Plan;
	private readonly env: Env;
	private readonly options: ConnectOptions;
	private readonly events: Events;
	private readonly socket: Socket;
	private readonly heartbeat: Heartbeat;
	private readonly acks: Acks;
	private readonly outbox = new Outbox();
	private readonly clock: Clock;
	private readonly picture: Picture;
	private readonly pictureEvents: PictureEvents;
	private readonly writer = new Writer();
	private readonly gathered = new SendTick();
	private readonly unwatch: () => void;
	private core: Core | null = null;
	/** This connection's welcome, and the one before it. */
	private welcomed: Welcome | null = null;
	private last: Welcome | null = null;
	/** The next snapshot is of another instance than the state held. */
	private moved = true;
	private token: string;
	private connected = false;
	/** Nothing but a snapshot can be applied. */
	private waiting = true;
	/** A snapshot of this connection has been applied. */
	private current = false;
	/** A snapshot of any connection has been. */
	private ready = false;
	private advancing = false;
	/** Snapshots asked for since the state last stood a message and a prediction. */
	private mends = 0;
	/** The newest message fitted the state. */
	private fits = false;
	/** The state is that of an old snapshot that came again; the send tick that leads back to the present is on its way. */
	private past = false;
	private hashedAt = -Infinity;
	private present = 0;

	constructor(plan: Plan, env: Env, options: ConnectOptions, wasm: Promise<Exports> | null) {
		this.plan = plan;
		this.env = env;
		this.options = options;
		for (const o of Object.keys(options)) {
			if (!optionNames.includes(o)) env.warn("gamehoster: connect has no option " + o + "; it has " + optionNames.join(", "));
		}
		this.token = options.resume ?? "";
		this.events = new Events(env);
		this.clock = new Clock(plan.config.tickRate, plan.period);
		this.picture = new Picture(plan);
		this.players = this.picture.collections[PlayerType];
		plan.types.forEach((t, i) => {
			if (i <= PlayerType) return;
			this.entities[t.name] = this.picture.collections[i];
			// bodies call a collection by its plural, so a page may as well; a type's own name goes first
			if (!plan.types.some((other) => other.name === t.plural)) Object.defineProperty(this.entities, t.plural, { value: this.picture.collections[i] });
		});
		plan.commands.forEach((c, i) => (this.send[c.name] = (values = {}) => this.command(i, values)));
		this.pictureEvents = {
			enter: (v, t) => this.events.emit(t.index === PlayerType ? "join" : "enter", v, t.name),
			leave: (v, t) => this.events.emit(t.index === PlayerType ? "drop" : "leave", v, t.name),
			correction: (v, t, snapped) => {
				this.stats.corrections++;
				if (snapped) this.stats.snaps++;
				this.events.emit("correction", v, t.name);
			},
		};
		this.socket = new Socket(env, {
			url: () => this.url(),
			open: () => this.opened(),
			message: (bytes) => this.message(bytes),
			down: (reason, wait) => this.down(reason, wait),
			closed: (reason) => this.closed(reason),
		});
		this.acks = new Acks(plan.config.tickRate, (tick) => this.write(this.writer.begin(TagAck).u32(tick).done()));
		this.heartbeat = new Heartbeat(env, {
			ping: (nonce) => {
				this.acks.flush();
				this.write(this.writer.begin(TagPing).u32(nonce).done());
			},
			silent: () => this.socket.drop(Silent),
		});
		// an address that is none is the page's mistake, and told at once
		this.url();
		this.unwatch = env.onVisibility(() => this.visibility());
		void this.begin(wasm);
	}

	private async begin(wasm: Promise<Exports> | null): Promise<void> {
		try {
			this.core = makeCore(this.plan, await wasm, this.outbox);
		} catch (e) {
			this.failed(e);
			return;
		}
		this.core.confirmed.onDrift = (label) => {
			this.stats.drift++;
			this.stats.driftBy[label] = (this.stats.driftBy[label] ?? 0) + 1;
		};
		this.socket.start();
	}

	/** The own player in the picture; null for a spectator and while there is none. */
	get me(): ObjectView | null {
		return this.last ? this.players.get(this.last.player) : null;
	}

	/** The instance's own fields. */
	get instance(): ObjectView {
		return this.picture.instance;
	}

	/** The name of the instance; empty before the welcome. */
	get name(): string {
		return this.last?.instance ?? "";
	}

	/** What `connect({resume})` takes to have this seat again. Empty before the welcome. */
	get resumeToken(): string {
		return this.token;
	}

	/** The last tick that was predicted. A command sent now takes effect on the next one. */
	get tick(): number {
		return this.core?.predicted.world.tick ?? 0;
	}

	/**
	 * Calls `handler` at an event and returns a function that ends that: `welcome`
	 * (the instance's name), `ready` (a snapshot came: the state is whole; again
	 * after each reconnect), `join` and `drop` (a player, in the picture), `enter`
	 * and `leave` (an entity and its type's name), `tick` (each newly predicted
	 * tick: the place to send commands that a held key repeats), `correction` (an
	 * object whose prediction was wrong), `reconnecting` (reason, ms until then),
	 * `closed` (reason; the end).
	 */
	on(event: string, handler: (...values: never[]) => void): () => void {
		return this.events.on(event, handler as (...values: unknown[]) => void);
	}

	/** Makes the picture that of page time `now` (ms, as requestAnimationFrame gives it). Objects stay as they are until the next call. */
	frame(now: number = this.env.now()): void {
		const core = this.core;
		if (!core || !this.ready || this.past) return;
		if (!this.advance(now)) return;
		this.picture.update(core.predicted, core.confirmed, this.present, this.clock.drawn(now), now, this.pictureEvents);
	}

	/**
	 * A diagnostic: the hash of the confirmed world's shared fields, in hex, and
	 * its tick. Equal to that of the server at the same tick, and of every other
	 * viewer, in a game without a view body.
	 */
	hash(): { tick: number; hash: string } {
		if (!this.core) return { tick: 0, hash: "" };
		const w = this.core.confirmed.world;
		return { tick: w.tick, hash: hashWorld(w).hex() };
	}

	/** Leaves the game. */
	close(): void {
		this.socket.close();
	}

	private url(): string {
		const base = typeof location === "undefined" ? undefined : location.href;
		const u = new URL(this.options.url ?? defaultUrl(this.env.script, this.plan.config.name), base);
		if (u.protocol === "http:" || u.protocol === "https:") u.protocol = u.protocol.replace("http", "ws");
		const q = u.searchParams;
		q.set("def", this.plan.config.hash);
		if (this.options.instance) q.set("instance", this.options.instance);
		if (this.options.name) q.set("name", this.options.name);
		if (this.options.watch) q.set("watch", "1");
		if (this.plan.thin) q.set("thin", "1");
		if (this.token) q.set("resume", this.token);
		return u.href;
	}

	private opened(): void {
		this.connected = true;
		this.welcomed = null;
		this.current = this.past = false;
		this.waiting = true;
		this.mends = 0;
		this.gathered.clear();
		this.acks.open();
		this.heartbeat.open();
	}

	private disconnected(): void {
		this.connected = false;
		this.heartbeat.stop();
		this.gathered.clear();
	}

	private down(reason: Reason, wait: number): void {
		this.disconnected();
		this.stats.reconnects++;
		this.events.emit("reconnecting", reason, wait);
	}

	private closed(reason: Reason): void {
		this.disconnected();
		this.unwatch();
		// a game that stands still for good without a word is the worst of answers
		if (reason.code !== 1000 && !this.events.heard("closed")) this.env.warn("gamehoster: the connection has ended: " + reason.text);
		this.events.emit("closed", reason);
	}

	private failed(cause: unknown): void {
		this.env.warn("gamehoster: the game's code failed", cause);
		this.core = null;
		this.socket.drop(CodeFailed);
	}

	private write(bytes: Uint8Array<ArrayBuffer>): void {
		this.stats.bytesOut += bytes.length;
		this.count(bytes);
		this.socket.send(bytes);
	}

	private count(bytes: Uint8Array): void {
		const name = messageNames[bytes[0]];
		if (name) this.stats.bytes[name] = (this.stats.bytes[name] ?? 0) + bytes.length;
	}

	private visibility(): void {
		const core = this.core;
		if (!core || this.env.hidden()) return;
		this.heartbeat.heard();
		const now = this.env.now();
		if (this.connected && !this.waiting && behind(core.confirmed.world.tick, Math.floor(this.clock.server(now)), this.plan.config.tickRate)) this.resync();
	}

	/** Asks for a snapshot. */
	private resync(): void {
		this.waiting = true;
		this.stats.resyncs++;
		this.write(this.writer.begin(TagResync).done());
	}

	/**
	 * The state could not be brought on: something is missing from it, or it has come
	 * apart from the server's, so that the bodies fail on it or a message makes no sense
	 * with it. It is as it was before, and a snapshot mends it; where one after the other
	 * does not, it is the message or the code that is wrong.
	 */
	private mend(cause: unknown): void {
		if (this.waiting) return;
		this.fits = false;
		if (++this.mends > maxMends) throw cause;
		if (cause instanceof ProtocolError) this.stats.malformed++;
		if (!(cause instanceof ResyncError)) this.env.warn("gamehoster: the state is asked for anew: " + String(cause));
		this.resync();
	}

	private message(bytes: Uint8Array | null): void {
		try {
			if (!bytes) throw new ProtocolError("a text frame");
			this.stats.bytesIn += bytes.length;
			this.count(bytes);
			this.heartbeat.heard();
			this.dispatch(new Reader(bytes));
		} catch (e) {
			this.gathered.clear();
			if (e instanceof ProtocolError || e instanceof ResyncError) {
				this.stats.malformed++;
				this.env.warn("gamehoster: malformed message: " + e.message);
				this.socket.drop(Malformed);
			} else this.failed(e);
		}
	}

	private dispatch(r: Reader): void {
		const tag = r.u8();
		if ((tag === TagWelcome) === (this.welcomed !== null)) throw new ProtocolError("the welcome comes once, first");
		if (tag === TagWelcome) this.welcome(parseWelcome(r));
		else if (tag === TagPong) this.pong(r);
		else if (this.gathered.add(tag, r)) this.apply();
	}

	private pong(r: Reader): void {
		const { nonce, tick, part } = parsePong(r);
		const sent = this.heartbeat.answered(nonce);
		if (sent === undefined) throw new ProtocolError("a pong to no ping");
		if (Number.isNaN(sent)) return;
		this.clock.pong(sent, this.env.now(), tick, part);
		this.measure();
	}

	private measure(): void {
		const s = this.stats;
		s.ping = this.clock.ping;
		s.jitter = this.clock.jitter;
		s.lead = this.clock.lead;
		s.offset = this.clock.serverOffset;
	}

	private welcome(w: Welcome): void {
		const core = this.core!;
		const { config } = this.plan;
		if (w.version !== config.protocol || w.hash !== config.hash) {
			this.socket.drop(OtherVersion);
			return;
		}
		const before = this.last;
		const sameSeat = before !== null && before.instance === w.instance && before.player === w.player;
		this.last = this.welcomed = w;
		this.token = w.token;
		this.outbox.resume(w.received, sameSeat);
		core.confirmed.ready = false;
		core.confirmed.player = w.player;
		this.moved = before?.instance !== w.instance;
		this.clock.reset(this.moved);
		this.heartbeat.welcomed();
		this.events.emit("welcome", w.instance);
	}

	/** Applies the send tick that is complete. */
	private apply(): void {
		const t = this.gathered;
		const { confirmed, predicted, sim } = this.core!;
		const snapshot = t.snapshot !== null;
		if (this.waiting && !snapshot) {
			t.clear();
			if (!confirmed.ready) throw new ProtocolError("the first state is no snapshot");
			return;
		}
		const tick = t.tick;
		const past = snapshot && confirmed.ready && !after(tick, confirmed.world.tick);
		this.past = false;
		try {
			confirmed.apply(t);
		} catch (e) {
			if (snapshot) throw e;
			t.clear();
			this.mend(e);
			return;
		}
		t.clear();
		this.fits = !snapshot;
		this.acks.applied(tick, snapshot);
		if (past) {
			// nothing of it is news, and it is over with the next message
			this.past = true;
			this.stats.snapshots++;
			this.waiting = false;
			return;
		}
		const now = this.env.now();
		this.clock.arrived(tick, now);
		this.outbox.processed(confirmed.processed);
		predicted.invalidate(this.moved);
		this.moved = false;
		this.stats.tick = tick;
		this.stats.rewinds = confirmed.rewinds;
		if (sim) this.tellFaults(sim.faults);
		this.measure();
		if (snapshot) this.snapshotted(now);
		else this.tellHash(now);
	}

	private tellFaults(faults: number): void {
		if (this.stats.faults === 0 && faults > 0) {
			this.env.warn("gamehoster: a rule fails and is left out where it does; the server's log says which, stats.faults how often");
		}
		this.stats.faults = faults;
	}

	private snapshotted(now: number): void {
		this.stats.snapshots++;
		this.waiting = false;
		if (this.current) return;
		this.current = this.ready = true;
		this.socket.settled();
		this.frame(now);
		this.events.emit("ready");
	}

	private tellHash(now: number): void {
		if (this.plan.config.view || this.plan.thin || now - this.hashedAt < hashPeriod) return;
		this.hashedAt = now;
		const w = this.core!.confirmed.world;
		const h = hashWorld(w);
		this.write(this.writer.begin(TagStateHash).u32(w.tick).u32(h.lo).u32(h.hi).done());
	}

	/** Brings the prediction to page time `now`; false if there is none to be shown. */
	private advance(now: number): boolean {
		const { confirmed, predicted } = this.core!;
		if (this.advancing) return true;
		this.advancing = true;
		try {
			const present = this.clock.present(now);
			this.present = Number.isNaN(present) ? confirmed.world.tick : present;
			predicted.advance(confirmed, Math.floor(this.present) >>> 0, {
				rebuilt: () => this.picture.corrected(predicted, this.present, now, this.pictureEvents),
				tick: (tick) => this.events.emit("tick", tick),
			});
			if (this.fits) this.mends = 0;
			this.stats.predicted = predicted.world.tick;
			this.stats.present = predicted.world.tick + partOf(this.present, predicted.world.tick);
			return true;
		} catch (e) {
			predicted.invalidate(true);
			this.unpredicted(e);
			return false;
		} finally {
			this.advancing = false;
		}
	}

	private unpredicted(cause: unknown): void {
		try {
			this.mend(cause);
		} catch (e) {
			this.failed(e);
		}
	}

	private command(number: number, values: Record<string, unknown>): boolean {
		const record = makeRecord(this.plan, number, values);
		const core = this.core;
		const player = this.welcomed?.player ?? 0;
		if (!core || !this.connected || !this.current || player === 0 || this.outbox.list.length >= maxUnanswered) return false;
		if (!this.advance(this.env.now())) return false;
		const tick = (core.predicted.world.tick + 1) >>> 0;
		const own = { player, seq: 0, number, record, tick };
		this.outbox.add(own);
		core.predicted.commanded();
		this.write(appendCommand(this.writer, this.plan, own, tick));
		return true;
	}
}

/** ws(s)://host/game, from the address of gamehoster.js or else of the page. */
function defaultUrl(script: string, name: string): string {
	return script ? new URL(".", script).href.replace(/\/$/, "") : "/" + name;
}
