import { CommandLog } from "./commandlog";
import { ProtocolError, ResyncError } from "./errors";
import { readField } from "./fields";
import { FirstProvisional, InstanceType, PlayerType } from "./layout";
import { Memory } from "./memory";
import { type Relayed, parseCommands, parseLeave } from "./messages";
import { type Field, type Plan, type Type, sightOf } from "./plan";
import type { Reader } from "./reader";
import type { SendTick } from "./sendtick";
import type { Runner } from "./sim";
import { Track, after } from "./track";
import { type Packed, World } from "./world";

/** The values of one object in a keyframe: its mask is at `at` of the message. */
interface Correction {
	id: number;
	type: Type;
	fields: Field[];
	at: number;
}

/**
 * A send tick that was applied: the state after it and what it wrote over the
 * bodies' result, for when a late command makes it run again. What the bodies had
 * come to by themselves is left out: they may come to something better then.
 */
export interface Past {
	tick: number;
	state: Packed;
	/** Of objects that were there. */
	leaves: number[];
	enter: Reader | null;
	/** Where the objects begin in `enter`. */
	enterAt: number;
	/** Of objects that entered and were there. */
	had: number[];
	keyframe: Reader | null;
	/** Those that changed a bit. */
	corrections: Correction[];
	/** Objects that the delta listed; their values are in their tracks. */
	listed: number[];
}

/** The most send ticks that are remembered: the server's own ring, twice. */
const maxPasts = 128;

/**
 * The viewer's copy of the server's world at the last applied send tick.
 *
 * Applying a send tick is one step: it happens wholly or, when the message is
 * malformed or the viewer lacks something, not at all. Until the step commits,
 * what it has changed besides the block is listed in `undo`.
 */
export class Confirmed {
	readonly world: World;
	/** Viewer's player id; 0 for a spectator. */
	player = 0;
	/** A snapshot of this connection has been applied; the next one may lead anywhere. */
	ready = false;
	/** Every own command up to this seq has run or was refused. */
	processed = 0;
	/** By object id; the instance's is 0. */
	tracks = new Map<number, Track>();
	/** Ascending; the last one is the state in `world`. */
	readonly pasts: Past[] = [];
	readonly log = new CommandLog();
	/** Called for each keyframed field whose bits differed. */
	onDrift: (label: string) => void = () => {};
	/** How often a late command took the world back to a past state. */
	rewinds = 0;

	private readonly plan: Plan;
	private readonly runner: Runner;
	/** The state before a run, where what that makes and removes is undone. */
	private readonly before: World | null;
	private readonly row: Uint8Array;
	private readonly rowView: DataView;
	private readonly depth: number;
	private readonly pool: Past[] = [];
	private readonly repacked: Packed[] = [];
	private readonly spare: Packed[] = [];
	private readonly filed: Relayed[] = [];
	private readonly recorded: Track[] = [];
	private readonly replaced: [number, Track | undefined][] = [];
	private readonly drifted: string[] = [];
	private base = 0;
	/** Of the last snapshot, which may come again. */
	private snapshotTick = 0;
	private sends = 0;

	constructor(plan: Plan, mem: Memory, runner: Runner) {
		this.plan = plan;
		this.runner = runner;
		this.world = new World(plan, mem);
		this.before = plan.config.view ? new World(plan, new Memory(null, 64)) : null;
		this.world.clear();
		this.row = new Uint8Array(Math.max(...plan.types.map((t) => t.stride)));
		this.rowView = new DataView(this.row.buffer);
		const { timelineDepth, tickRate } = plan.config;
		this.depth = Math.max(timelineDepth + 2 * plan.period, tickRate);
	}

	/**
	 * Applies a complete send tick. Throws ProtocolError or ResyncError with the
	 * world as it was, GameError if the game's code cannot be run on.
	 */
	apply(s: SendTick): void {
		const past = this.pool.pop() ?? { tick: 0, state: this.packed(), leaves: [], enter: null, enterAt: 0, had: [], keyframe: null, corrections: [], listed: [] };
		past.tick = s.tick;
		past.enter = past.keyframe = null;
		past.leaves.length = past.had.length = past.corrections.length = past.listed.length = 0;
		const tracks = this.tracks;
		const processed = this.processed;
		let from = this.pasts.length;
		try {
			if (s.snapshot) this.snapshot(s.snapshot, s.tick);
			else from = this.step(s, past);
		} catch (e) {
			this.tracks = tracks;
			this.processed = processed;
			// what a snapshot recorded went into a map that is already dropped
			if (s.snapshot) this.replaced.length = 0;
			this.rollback(s.tick);
			this.pool.push(past);
			throw e;
		}
		if (s.snapshot) this.forget();
		this.commit(past, from);
	}

	/** The first tick that the server may still file a command on, as far as can be known here. */
	get earliest(): number {
		const { timelineDepth } = this.plan.config;
		const next = (this.world.tick + 1) >>> 0;
		const rewound = (next - timelineDepth) >>> 0;
		const kept = this.pasts.length > 0 ? (this.pasts[0].tick + 1) >>> 0 : next;
		return after(kept, rewound) ? kept : rewound;
	}

	/**
	 * Makes `into` the world as it is once the server has run commands that have not
	 * reached it: `own` gives those of a tick, from `earliest` on. It will go back for the
	 * late ones, so that is done here.
	 */
	suppose(own: (tick: number) => readonly Relayed[], into: World): void {
		const w = this.world;
		const filed: Relayed[] = [];
		for (let t = this.earliest; !after(t, w.tick); t = (t + 1) >>> 0) {
			for (const c of own(t)) {
				const late = { ...c, tick: t };
				if (this.log.file(late)) filed.push(late);
			}
		}
		if (filed.length === 0) {
			into.copyFrom(w);
			return;
		}
		try {
			let from = this.pasts.length - 1;
			while (!after(filed[0].tick, this.pasts[from].tick)) from--;
			w.unpack(this.pasts[from].state);
			while (++from < this.pasts.length) {
				this.run(this.pasts[from].tick);
				this.rewrite(this.pasts[from]);
			}
			into.copyFrom(w);
		} finally {
			for (const c of filed) this.log.remove(c);
			w.unpack(this.pasts[this.pasts.length - 1].state);
		}
	}

	private packed(): Packed {
		return { bytes: new Uint8Array(0), length: 0 };
	}

	private rollback(tick: number): void {
		for (const t of this.recorded) t.undo(tick);
		for (let i = this.replaced.length - 1; i >= 0; i--) {
			const [id, track] = this.replaced[i];
			if (track) this.tracks.set(id, track);
			else this.tracks.delete(id);
		}
		for (const c of this.filed) this.log.remove(c);
		while (this.repacked.length > 0) this.spare.push(this.repacked.pop()!);
		this.settle();
		const last = this.pasts[this.pasts.length - 1];
		if (last) this.world.unpack(last.state);
		else this.world.clear();
	}

	private settle(): void {
		this.recorded.length = this.replaced.length = this.filed.length = this.drifted.length = 0;
	}

	/** Drops the history that a snapshot ends. */
	private forget(): void {
		while (this.pasts.length > 0) this.pool.push(this.pasts.pop()!);
		this.log.clear();
		this.base = this.snapshotTick = this.world.tick;
	}

	private commit(past: Past, from: number): void {
		for (let i = 0; i < this.repacked.length; i++) {
			const p = this.pasts[from + 1 + i];
			this.spare.push(p.state);
			p.state = this.repacked[i];
		}
		this.repacked.length = 0;
		for (const label of this.drifted) this.onDrift(label);
		this.settle();
		this.world.pack(past.state);
		this.pasts.push(past);
		this.ready = true;
		this.trim(past.tick);
	}

	private trim(tick: number): void {
		const oldest = (tick - this.depth) | 0;
		while (this.pasts.length > maxPasts || (this.pasts.length > 1 && !after(this.pasts[1].tick, oldest) && after(this.base, this.pasts[0].tick))) {
			this.pool.push(this.pasts.shift()!);
		}
		const horizon = this.pasts[0].tick;
		this.log.prune(horizon);
		if (++this.sends % this.plan.config.sendRate !== 0) return;
		for (const [id, track] of this.tracks) {
			if (this.world.find(track.type, id)) track.seen = tick;
			else if (after(horizon, track.seen)) this.tracks.delete(id);
			track.prune(horizon);
		}
	}

	private track(id: number, type: Type, tick: number): Track {
		let track = this.tracks.get(id);
		if (!track || track.type !== type) {
			this.replaced.push([id, track]);
			track = new Track(type, tick);
			this.tracks.set(id, track);
		}
		return track;
	}

	private record(id: number, type: Type, tick: number, row: number): void {
		const track = this.track(id, type, tick);
		track.record(tick, this.world, row);
		track.seen = tick;
		this.recorded.push(track);
	}

	private snapshot(r: Reader, tick: number): void {
		const w = this.world;
		if (this.ready && !after(tick, w.tick) && tick !== this.snapshotTick) throw new ProtocolError("snapshot is not newer than the state it replaces");
		const low = r.u32();
		const high = r.u32();
		const next = r.uv();
		this.processed = r.uv();
		w.clear();
		w.tick = tick;
		w.setSeed(low, high);
		w.nextShared = this.plan.config.view ? FirstProvisional : next;
		this.tracks = new Map();
		const instance = this.plan.types[InstanceType];
		const row = w.row(instance, 0);
		for (const f of sightOf(instance, 0, 0, 0).all) readField(r, f, w.bytes, w.view, row);
		this.record(0, instance, tick, row);
		this.readWhole(r, tick, null, false);
	}

	/** Steps 1 to 3 of a send tick. Returns the index of the past state that the run began from. */
	private step(s: SendTick, past: Past): number {
		const w = this.world;
		if (!this.ready) throw new ResyncError("no snapshot yet");
		if (!after(s.tick, w.tick)) throw new ProtocolError("send ticks do not ascend");
		if (((s.tick - w.tick) | 0) > maxPasts * this.plan.period) throw new ResyncError("too far behind");
		const leaves = s.leave ? parseLeave(s.leave) : [];
		const commands = s.commands ? parseCommands(s.commands, this.plan, s.tick) : [];
		let from = this.pasts.length - 1;
		if (commands.length > 0 && !after(commands[0].tick, w.tick)) {
			while (from >= 0 && !after(commands[0].tick, this.pasts[from].tick)) from--;
			if (from < 0) throw new ResyncError("a command is older than every past state");
			w.unpack(this.pasts[from].state);
			this.rewinds++;
		}
		for (const c of commands) if (this.log.file(c)) this.filed.push(c);
		for (let i = from + 1; i < this.pasts.length; i++) {
			const p = this.pasts[i];
			this.run(p.tick);
			this.rewrite(p);
			const state = this.spare.pop() ?? this.packed();
			w.pack(state);
			this.repacked.push(state);
		}
		this.run(s.tick);
		for (const id of leaves) if (this.leave(id)) past.leaves.push(id);
		if (s.enter) {
			past.enter = s.enter;
			past.enterAt = s.enter.at;
			this.readWhole(s.enter, s.tick, past, false);
		}
		if (s.keyframe) {
			past.keyframe = s.keyframe;
			this.keyframe(s.keyframe, past);
		}
		this.delta(s.delta!, s.tick, past);
		return from;
	}

	/** Runs the shared bodies up to `tick`. */
	private run(tick: number): void {
		const w = this.world;
		this.before?.copyFrom(w);
		while (w.tick !== tick) this.runner.tick(w, this.log.at((w.tick + 1) >>> 0));
		if (!this.before) return;
		w.dropProvisional();
		w.restoreRemoved(this.before);
	}

	/** Writes a past send tick over the bodies' result once more. */
	private rewrite(p: Past): void {
		const w = this.world;
		for (const id of p.leaves) this.leave(id);
		if (p.enter) {
			p.enter.at = p.enterAt;
			this.readWhole(p.enter, p.tick, p, true);
		}
		for (const c of p.corrections) {
			const row = w.find(c.type, c.id);
			if (!row) continue;
			p.keyframe!.at = c.at;
			this.correct(p.keyframe!, c.fields, row, false);
		}
		for (const id of p.listed) {
			const track = this.tracks.get(id);
			const row = track ? w.find(track.type, id) : 0;
			if (row) track!.write(p.tick, w, row);
		}
	}

	/** False if the object was gone already. */
	private leave(id: number): boolean {
		const type = this.world.typeOf(id);
		if (type) this.world.remove(type, this.world.find(type, id));
		return type !== null;
	}

	/**
	 * Reads objects whole and puts each in its place, a held one included: those of a
	 * snapshot or, with `past`, of an enter. `again` is for one that was applied before:
	 * what the bodies had brought back by themselves then is theirs to bring back.
	 */
	private readWhole(r: Reader, tick: number, past: Past | null, again: boolean): void {
		const w = this.world;
		let id = 0;
		for (let first = true; r.left > 0; first = false) {
			id = r.id(id, first, 1);
			const number = r.uv();
			const type = this.plan.types[number];
			if (!type || number === InstanceType || (number === PlayerType) !== (id % 2 === 1)) throw new ProtocolError("object of an impossible type");
			const owner = type.owned ? r.uv() : 0;
			const had = past ? w.typeOf(id) : null;
			if (had) this.leave(id);
			if (had === type && past && !again) past.had.push(id);
			const row = again && !had && past!.had.includes(id) ? 0 : w.insert(type, id, owner);
			if (!row && !past) throw new ProtocolError("more objects than the type allows");
			if (!row && !again) throw new ResyncError("no room for an object that enters");
			const to = row ? w.bytes : this.row;
			const view = row ? w.view : this.rowView;
			for (const f of sightOf(type, id, owner, this.player).all) readField(r, f, to, view, row);
			if (!again) this.record(id, type, tick, row);
		}
	}

	private keyframe(r: Reader, past: Past): void {
		const w = this.world;
		let id = 0;
		for (let first = true; r.left > 0; first = false) {
			id = r.id(id, first, 0);
			const type = w.typeOf(id);
			if (!type) throw new ResyncError("keyframe of an unknown object");
			const row = w.find(type, id);
			const fields = sightOf(type, id, w.owner(type, row), this.player).shared;
			const at = r.at;
			if (this.correct(r, fields, row, true)) past.corrections.push({ id, type, fields, at });
		}
	}

	/** Reads a mask and its fields over a row, exactly. Whether that changed a bit. */
	private correct(r: Reader, fields: Field[], row: number, count: boolean): boolean {
		let any = false;
		const mask = r.mask(fields.length);
		const bytes = this.world.bytes;
		for (let k = 0; k < fields.length; k++) {
			if (!((r.bytes[mask + (k >> 3)] >> (k & 7)) & 1)) continue;
			const f = fields[k];
			readField(r, f, this.row, this.rowView, 0);
			let same = true;
			for (let i = f.offset, end = f.offset + f.size; i < end; i++) {
				if (bytes[row + i] !== this.row[i]) same = false;
				bytes[row + i] = this.row[i];
			}
			if (!same && count) this.drifted.push(f.label);
			any ||= !same;
		}
		return any;
	}

	private delta(r: Reader, tick: number, past: Past): void {
		const w = this.world;
		const base = r.u32();
		if (!this.pasts.some((p) => p.tick === base)) throw new ResyncError("a delta's base is unknown");
		this.processed = r.uv();
		let id = 0;
		for (let first = true; r.left > 0; first = false) {
			id = r.id(id, first, 0);
			const type = w.typeOf(id);
			if (!type) throw new ResyncError("delta of an unknown object");
			const row = w.find(type, id);
			const fields = sightOf(type, id, w.owner(type, row), this.player).sent;
			const mask = r.mask(fields.length);
			if (!full(r.bytes, mask, fields.length)) {
				const track = this.tracks.get(id);
				if (track?.type !== type || !track.write(base, w, row)) throw new ResyncError("no values to base a delta on");
			}
			for (let k = 0; k < fields.length; k++) {
				if ((r.bytes[mask + (k >> 3)] >> (k & 7)) & 1) readField(r, fields[k], w.bytes, w.view, row);
			}
			past.listed.push(id);
			this.record(id, type, tick, row);
		}
		this.base = base;
	}
}

/** Whether a mask has all of its n bits. */
function full(bytes: Uint8Array, mask: number, n: number): boolean {
	for (let k = 0; k < n; k++) if (!((bytes[mask + (k >> 3)] >> (k & 7)) & 1)) return false;
	return true;
}
