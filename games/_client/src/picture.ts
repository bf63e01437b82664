import { since } from "./clock";
import type { Confirmed, Past } from "./confirmed";
import { handOver } from "./handover";
import { InstanceType } from "./layout";
import { Memory } from "./memory";
import { type ObjectView, Collection, cell, viewMaker } from "./objects";
import { type Field, type Plan, type Type, Angle, getNumber } from "./plan";
import type { Predicted } from "./predicted";
import { World } from "./world";

const turn = 2 * Math.PI;

/** A correction fades by this time constant, in ms: a twentieth of it is left after 100 ms. */
const easeTime = 33;
/** What is left of a correction when it is over. Without an end something at rest would never be drawn just where it is. */
const easedAway = 1e-9;

/** The difference b - a of two values of a field; of angles the short way, -π to π. */
function difference(f: Field, a: number, b: number): number {
	const d = b - a;
	return f.smooth === Angle ? d - turn * Math.round(d / turn) : d;
}

/** The value `part` of the way from a to b; b at once where that is further than the field's snap distance. */
export function between(f: Field, a: number, b: number, part: number): number {
	const d = difference(f, a, b);
	return Math.abs(d) > f.snap || !Number.isFinite(d) ? b : b - d * (1 - part);
}

/** How much of the tick after `tick` has passed at `present`, a fractional tick. */
export function partOf(present: number, tick: number): number {
	return Math.max(0, Math.min(1, since(present, tick)));
}

/** A field's value on the way from row `from`, 0 for none, to row `to` of the same memory. */
function drawnAt(f: Field, rows: DataView, from: number, to: number, part: number): number {
	const b = getNumber(f, rows, to);
	return from ? between(f, getNumber(f, rows, from), b, part) : b;
}

export interface PictureEvents {
	enter(v: ObjectView, t: Type): void;
	leave(v: ObjectView, t: Type): void;
	/** The object's prediction was wrong. `snapped` says that it shows at once, since it was too wrong to be eased. */
	correction(v: ObjectView, t: Type, snapped: boolean): void;
}

/**
 * What the page sees. A frame copies the predicted world, so that nothing moves
 * between two frames, and works out where the smooth fields are drawn:
 *
 *	shared  between the last predicted tick and the draft of the next, plus what of a
 *	        correction is not eased away yet
 *	sent    between received send ticks, one send period and the jitter behind
 */
export class Picture {
	readonly collections: Collection[];
	readonly instance: ObjectView;
	private readonly plan: Plan;
	private readonly mem: Memory;
	private readonly world: World;
	private readonly makers: ((id: number) => ObjectView)[];
	private readonly drawn: Float64Array[];
	private readonly entered: [ObjectView, Type][] = [];
	private readonly left: [ObjectView, Type][] = [];
	private shownAt = 0;
	// The two send ticks around the one that is shown, and how far it is from the first to the second.
	private sendA = 0;
	private sendB = 0;
	private sendPart = 0;

	constructor(plan: Plan) {
		this.plan = plan;
		this.mem = new Memory(null, 64);
		this.world = new World(plan, this.mem);
		this.world.clear();
		const resolve = (type: number, id: number): ObjectView | null => this.collections[type].get(id);
		this.makers = plan.types.map((t) => viewMaker(t, resolve));
		this.collections = plan.types.map(() => new Collection());
		this.drawn = plan.types.map((t) => new Float64Array(t.smooth.length));
		this.instance = this.makers[InstanceType](0);
		this.place(plan.types[InstanceType], this.instance, 0);
		this.draw(plan.types[InstanceType], this.instance, this.world, 0, 1);
	}

	/** The tick that the picture shows. */
	get tick(): number {
		return this.world.tick;
	}

	/**
	 * The prediction was made anew, and what was drawn at the viewer's present goes on
	 * from where it was: the difference is taken over into the easing.
	 */
	corrected(predicted: Predicted, present: number, now: number, events: PictureEvents): void {
		const { old, oldDraft, world, draft } = predicted;
		const same = old.tick === world.tick;
		const wasPart = partOf(present, old.tick);
		const isPart = partOf(present, world.tick);
		const fade = this.fade(now);
		const before = handOver(this.plan, this.collections, predicted);
		for (const t of this.plan.types) {
			if (t.smooth.every((f) => f.sent)) continue;
			for (const v of t.index === InstanceType ? [this.instance] : this.collections[t.index].list) {
				const { ease } = cell(v);
				const id = before.get(v.id) ?? v.id;
				const was = oldDraft.find(t, id);
				const is = draft.find(t, v.id);
				const wasFrom = old.find(t, id);
				const isFrom = world.find(t, v.id);
				let any = false;
				let snapped = false;
				for (const f of t.smooth) {
					ease[f.drawn] *= fade;
					if (f.sent || !was || !is) continue;
					const d = difference(f, drawnAt(f, world.view, isFrom, is, isPart), drawnAt(f, old.view, wasFrom, was, wasPart));
					if (d === 0 || Number.isNaN(d)) continue;
					any = true;
					ease[f.drawn] += d;
					if (Math.abs(ease[f.drawn]) <= f.snap && Number.isFinite(d)) continue;
					ease[f.drawn] = 0;
					snapped = true;
				}
				// at another tick a difference is what has happened meanwhile
				if (any && same) events.correction(v, t, snapped);
			}
		}
	}

	/** How much is left at page time `now` of what there was to ease when this was asked last. */
	private fade(now: number): number {
		const left = Math.exp(-Math.max(0, now - this.shownAt) / easeTime);
		this.shownAt = now;
		return left;
	}

	/**
	 * Draws the frame of page time `now`: the viewer's `present`, and of sent values the
	 * fractional tick `sentTick`.
	 */
	update(predicted: Predicted, confirmed: Confirmed, present: number, sentTick: number, now: number, events: PictureEvents): void {
		for (const t of this.plan.types) if (t.index !== InstanceType) this.depart(t, predicted.draft);
		this.world.copyFrom(predicted.draft);
		const fade = this.fade(now);
		this.sends(confirmed.pasts, sentTick);
		const part = partOf(present, predicted.world.tick);
		for (const t of this.plan.types) this.show(t, predicted.world, confirmed, part, fade);
		for (const [v, t] of this.left) events.leave(v, t);
		for (const [v, t] of this.entered) events.enter(v, t);
		this.left.length = this.entered.length = 0;
	}

	private sends(pasts: readonly Past[], at: number): void {
		let i = pasts.length - 1;
		while (i > 0 && !(since(at, pasts[i].tick) >= 0)) i--;
		this.sendA = this.sendB = pasts[i].tick;
		this.sendPart = 0;
		const passed = since(at, this.sendA);
		if (i === pasts.length - 1 || !(passed >= 0)) return;
		this.sendB = pasts[i + 1].tick;
		this.sendPart = passed / ((this.sendB - this.sendA) | 0);
	}

	private show(t: Type, before: World, confirmed: Confirmed, part: number, fade: number): void {
		const all = this.collections[t.index];
		const w = this.world;
		const n = w.count(t);
		if (this.drawn[t.index].length < n * t.smooth.length) this.drawn[t.index] = new Float64Array(2 * n * t.smooth.length);
		let j = 0;
		const m = before.count(t);
		for (let i = 0; i < n; i++) {
			const row = w.row(t, i);
			const id = w.id(row);
			let v = t.index === InstanceType ? this.instance : all.byId.get(id);
			if (!v) {
				v = this.makers[t.index](id);
				all.byId.set(id, v);
				this.entered.push([v, t]);
			}
			all.list[i] = v;
			this.place(t, v, i);
			while (j < m && before.id(before.row(t, j)) < id) j++;
			const from = j < m && before.id(before.row(t, j)) === id ? before.row(t, j) : 0;
			this.draw(t, v, before, from, part);
			this.drawSent(t, v, id, confirmed);
			const { ease, drawn, slot } = cell(v);
			for (let k = 0; k < ease.length; k++) {
				ease[k] *= fade;
				if (Math.abs(ease[k]) < easedAway) ease[k] = 0;
				drawn[slot + k] += ease[k];
			}
		}
		all.list.length = n;
	}

	private place(t: Type, v: ObjectView, i: number): void {
		const c = cell(v);
		c.source = this.mem;
		c.row = this.world.row(t, i);
		c.drawn = this.drawn[t.index];
		c.slot = i * t.smooth.length;
	}

	/** Draws smooth fields from row `from` (0 for none) of the tick before to the object's own. */
	private draw(t: Type, v: ObjectView, before: World, from: number, part: number): void {
		const c = cell(v);
		for (const f of t.smooth) {
			const b = getNumber(f, this.mem.view, c.row);
			c.drawn[c.slot + f.drawn] = from && !f.sent ? between(f, getNumber(f, before.view, from), b, part) : b;
		}
	}

	private drawSent(t: Type, v: ObjectView, id: number, confirmed: Confirmed): void {
		if (!t.smooth.some((f) => f.sent)) return;
		const track = confirmed.tracks.get(id);
		if (track?.type !== t) return;
		const b = track.at(this.sendB);
		if (Number.isNaN(b)) return;
		const a = track.at(this.sendA);
		const c = cell(v);
		for (const f of t.smooth) {
			if (!f.sent) continue;
			const to = getNumber(f, track.view, b);
			c.drawn[c.slot + f.drawn] = Number.isNaN(a) ? to : between(f, getNumber(f, track.view, a), to, this.sendPart);
		}
	}

	/**
	 * Takes out the objects that the next frame lacks, while the last one is still
	 * there: each keeps a copy of its last row for who still holds its view.
	 */
	private depart(t: Type, next: World): void {
		const { list, byId } = this.collections[t.index];
		const n = next.count(t);
		let j = 0;
		for (const v of list) {
			while (j < n && next.id(next.row(t, j)) < v.id) j++;
			if (j < n && next.id(next.row(t, j)) === v.id) continue;
			const c = cell(v);
			const bytes = this.mem.bytes.slice(c.row, c.row + t.stride);
			c.source = { bytes, view: new DataView(bytes.buffer) };
			c.row = 0;
			c.drawn = c.drawn.slice(c.slot, c.slot + t.smooth.length);
			c.slot = 0;
			byId.delete(v.id);
			this.left.push([v, t]);
		}
	}
}
