import { CountLive, CountRows, CountSorted, FirstProvisional, HeaderCounts, HeaderNextShared, HeaderSeed, HeaderTick, InstanceType, PlayerType, RowID, RowOwner } from "./layout";
import type { Memory } from "./memory";
import type { Plan, Type } from "./plan";

/** A packed copy of a world's live bytes. The buffer only grows and is used again. */
export interface Packed {
	bytes: Uint8Array;
	length: number;
}

/**
 * One state of the instance: a block in the canonical layout. Rows are found by
 * binary search, since between ticks they are in ascending order of id.
 */
export class World {
	readonly plan: Plan;
	readonly base: number;
	private readonly mem: Memory;
	/** The header and the instance's row, which every copy takes whole. */
	private readonly headSize: number;

	constructor(plan: Plan, mem: Memory) {
		this.plan = plan;
		this.mem = mem;
		this.base = mem.alloc(plan.config.layout.size);
		const t = plan.types[InstanceType];
		this.headSize = t.rows + t.stride;
	}

	get bytes(): Uint8Array {
		return this.mem.bytes;
	}

	get view(): DataView {
		return this.mem.view;
	}

	get tick(): number {
		return this.view.getUint32(this.base + HeaderTick, true);
	}

	set tick(t: number) {
		this.view.setUint32(this.base + HeaderTick, t, true);
	}

	set nextShared(id: number) {
		this.view.setUint32(this.base + HeaderNextShared, id, true);
	}

	setSeed(low: number, high: number): void {
		this.view.setUint32(this.base + HeaderSeed, low, true);
		this.view.setUint32(this.base + HeaderSeed + 4, high, true);
	}

	/** Makes the world empty: no objects, the instance's fields at their defaults. */
	clear(): void {
		this.bytes.fill(0, this.base, this.base + HeaderCounts);
		for (const t of this.plan.types) {
			if (t.index === InstanceType) this.bytes.set(t.blank, this.base + t.rows);
			else this.setCount(t, 0);
		}
	}

	count(t: Type): number {
		return t.counts < 0 ? 1 : this.view.getUint32(this.base + t.counts + CountRows, true);
	}

	private setCount(t: Type, n: number): void {
		const at = this.base + t.counts;
		this.view.setUint32(at + CountRows, n, true);
		this.view.setUint32(at + CountLive, n, true);
		this.view.setUint32(at + CountSorted, n, true);
	}

	/** Address of a type's i-th row. */
	row(t: Type, i: number): number {
		return this.base + t.rows + i * t.stride;
	}

	id(row: number): number {
		return this.view.getUint32(row + RowID, true);
	}

	/** The player that owns the object; 0 for none and for types without owners. */
	owner(t: Type, row: number): number {
		return t.owned ? this.view.getUint32(row + RowOwner, true) : 0;
	}

	/** How many rows have an id below `id`. */
	private below(t: Type, id: number): number {
		let lo = 0;
		let hi = this.count(t);
		while (lo < hi) {
			const mid = (lo + hi) >> 1;
			if (this.id(this.row(t, mid)) < id) lo = mid + 1;
			else hi = mid;
		}
		return lo;
	}

	/** Address of the row of the type's object `id`; 0 if there is none. */
	find(t: Type, id: number): number {
		if (t.index === InstanceType) return id === 0 ? this.row(t, 0) : 0;
		const i = this.below(t, id);
		const row = this.row(t, i);
		return i < this.count(t) && this.id(row) === id ? row : 0;
	}

	/** The type of the object `id`, whatever it is; null if there is none. */
	typeOf(id: number): Type | null {
		const types = this.plan.types;
		if (id === 0) return types[InstanceType];
		if (id % 2 === 1) return this.find(types[PlayerType], id) ? types[PlayerType] : null;
		for (let i = PlayerType + 1; i < types.length; i++) if (this.find(types[i], id)) return types[i];
		return null;
	}

	/** Puts a new object with default values among the others and returns its row's address; 0 if the type is full. */
	insert(t: Type, id: number, owner: number): number {
		const n = this.count(t);
		if (n >= t.max) return 0;
		const i = this.below(t, id);
		const row = this.row(t, i);
		this.bytes.copyWithin(row + t.stride, row, this.row(t, n));
		this.setCount(t, n + 1);
		this.bytes.set(t.blank, row);
		this.view.setUint32(row + RowID, id, true);
		if (t.owned) this.view.setUint32(row + RowOwner, owner, true);
		return row;
	}

	remove(t: Type, row: number): void {
		const n = this.count(t);
		this.bytes.copyWithin(row, row + t.stride, this.row(t, n));
		this.setCount(t, n - 1);
	}

	/** Takes away what the viewer made itself in a game where existence is the server's. */
	dropProvisional(): void {
		for (const t of this.plan.types) {
			if (t.index <= PlayerType) continue;
			let n = this.count(t);
			while (n > 0 && this.id(this.row(t, n - 1)) >= FirstProvisional) n--;
			this.setCount(t, n);
		}
		this.nextShared = FirstProvisional;
	}

	/** Puts back what `before` held and this world, run on from it, does not. */
	restoreRemoved(before: World): void {
		for (const t of this.plan.types) {
			if (t.index <= PlayerType) continue;
			for (let i = 0, n = before.count(t); i < n; i++) {
				const from = before.row(t, i);
				const id = before.id(from);
				if (this.find(t, id)) continue;
				const row = this.insert(t, id, 0);
				if (row) this.copy(before, from, row, t.stride);
			}
		}
	}

	/** Copies another state, of the same memory or not. */
	copyFrom(other: World): void {
		this.copy(other, other.base, this.base, this.headSize);
		for (const t of this.plan.types) {
			if (t.index !== InstanceType) this.copy(other, other.row(t, 0), this.row(t, 0), other.count(t) * t.stride);
		}
	}

	private copy(other: World, from: number, to: number, size: number): void {
		if (other.mem === this.mem) this.bytes.copyWithin(to, from, from + size);
		else if (size > 0) this.bytes.set(other.bytes.subarray(from, from + size), to);
	}

	pack(into: Packed): void {
		let length = this.headSize;
		for (const t of this.plan.types) if (t.index !== InstanceType) length += this.count(t) * t.stride;
		if (into.bytes.length < length) into.bytes = new Uint8Array(Math.ceil(length * 1.25));
		into.length = length;
		into.bytes.set(this.bytes.subarray(this.base, this.base + this.headSize));
		let at = this.headSize;
		for (const t of this.plan.types) {
			if (t.index === InstanceType) continue;
			const from = this.row(t, 0);
			const size = this.count(t) * t.stride;
			into.bytes.set(this.bytes.subarray(from, from + size), at);
			at += size;
		}
	}

	unpack(from: Packed): void {
		this.bytes.set(from.bytes.subarray(0, this.headSize), this.base);
		let at = this.headSize;
		for (const t of this.plan.types) {
			if (t.index === InstanceType) continue;
			const size = this.count(t) * t.stride;
			this.bytes.set(from.bytes.subarray(at, at + size), this.row(t, 0));
			at += size;
		}
	}
}
