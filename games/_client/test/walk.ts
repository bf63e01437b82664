import type { GameConfig } from "../src/config";

/**
 * A game small enough to be assembled by hand. In each tick
 *
 *	command go     sets its player's v
 *	command boom   traps, unless it is skipped
 *	player         x += v, angle += 0.25
 *	instance       steps += 1; in every tenth tick the oldest of four rocks goes and one
 *	               comes, at the first player's x plus the tick
 */
export const walk: GameConfig = {
	protocol: 1,
	name: "walk",
	hash: "00112233aabbccdd",
	tickRate: 30,
	sendRate: 15,
	timelineDepth: 32,
	view: false,
	layout: { size: 384, commandStride: 24 },
	types: [
		{ name: "instance", plural: "", max: 1, owned: false, counts: -1, rows: 64, stride: 16, owner: -1, fields: [{ name: "steps", kind: "u32", sync: "shared", audience: "all", offset: 8 }] },
		{
			name: "player",
			plural: "players",
			max: 4,
			owned: false,
			counts: 32,
			rows: 80,
			stride: 24,
			owner: -1,
			fields: [
				{ name: "x", kind: "f32", sync: "shared", audience: "all", smooth: "linear", snap: 100, offset: 12 },
				{ name: "v", kind: "f32", sync: "shared", audience: "all", offset: 16 },
				{ name: "angle", kind: "f32", sync: "shared", audience: "all", smooth: "angle", offset: 20 },
				{ name: "hp", kind: "u16", sync: "sent", audience: "all", default: 100, offset: 8 },
			],
		},
		{
			name: "rock",
			plural: "rocks",
			max: 8,
			owned: false,
			counts: 48,
			rows: 176,
			stride: 24,
			owner: -1,
			fields: [
				{ name: "size", kind: "u8", sync: "sent", audience: "all", offset: 8 },
				{ name: "y", kind: "f32", sync: "sent", audience: "all", smooth: "linear", offset: 12 },
				{ name: "x", kind: "f32", sync: "shared", audience: "all", smooth: "linear", offset: 16 },
			],
		},
	],
	commands: [
		{ name: "go", shared: true, fields: [{ name: "v", kind: "f32", min: -50, max: 50, offset: 16 }] },
		{ name: "boom", shared: true, fields: [] },
		{ name: "bless", shared: false, fields: [] },
	],
};

/** The number of boom's body. */
export const boomBody = 1;

const uleb = (n: number): number[] => (n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...uleb(n >>> 7)]);
const sleb = (n: number): number[] => (n >= -64 && n < 64 ? [n & 0x7f] : [(n & 0x7f) | 0x80, ...sleb(n >> 7)]);
const vec = (items: number[][]): number[] => [...uleb(items.length), ...items.flat()];
const section = (id: number, bytes: number[]): number[] => [id, ...uleb(bytes.length), ...bytes];
const name = (s: string): number[] => vec([...s].map((c) => [c.charCodeAt(0)]));

const i32 = (n: number): number[] => [0x41, ...sleb(n)];
const f32 = (n: number): number[] => [0x43, ...new Uint8Array(Float32Array.of(n).buffer)];
const get = (l: number): number[] => [0x20, l];
const set = (l: number): number[] => [0x21, l];
const load = (at: number[], off: number): number[] => [...at, 0x28, 2, ...uleb(off)];
const store = (at: number[], off: number, v: number[]): number[] => [...at, ...v, 0x36, 2, ...uleb(off)];
const loadF = (at: number[], off: number): number[] => [...at, 0x2a, 2, ...uleb(off)];
const storeF = (at: number[], off: number, v: number[]): number[] => [...at, ...v, 0x38, 2, ...uleb(off)];
const add = (a: number[], b: number[]): number[] => [...a, ...b, 0x6a];
const mul = (a: number[], b: number[]): number[] => [...a, ...b, 0x6c];
const rem = (a: number[], b: number[]): number[] => [...a, ...b, 0x70];
const addF = (a: number[], b: number[]): number[] => [...a, ...b, 0x92];
const eq = (a: number[], b: number[]): number[] => [...a, ...b, 0x46];
const not = (a: number[]): number[] => [...a, 0x45];
const or = (a: number[], b: number[]): number[] => [...a, ...b, 0x72];
const and = (a: number[], b: number[]): number[] => [...a, ...b, 0x71];
const lessU = (a: number[], b: number[]): number[] => [...a, ...b, 0x49];
const when = (c: number[], then: number[]): number[] => [...c, 0x04, 0x40, ...then, 0x0b];
const loop = (c: number[], body: number[]): number[] => [0x03, 0x40, ...when(c, [...body, 0x0c, 1]), 0x0b];
const setGlobal = (g: number, v: number[]): number[] => [...v, 0x24, g];
const bump = (l: number, by: number): number[] => [...add(get(l), i32(by)), ...set(l)];

// parameters and locals of tick
const base = get(0);
const input = get(1);
const [I, ROW, AT, J, SKIP, K] = [2, 3, 4, 5, 6, 7];
const i = get(I);
const row = get(ROW);
const at = get(AT);

function tickCode(): number[] {
	const forPlayers = (body: number[]): number[] => [
		...i32(0),
		...set(I),
		...loop(lessU(i, load(base, 32)), [...add(add(base, i32(80)), mul(i, i32(24))), ...set(ROW), ...body, ...bump(I, 1)]),
	];
	const skipped = [
		...i32(0),
		...set(SKIP),
		...i32(0),
		...set(K),
		...loop(lessU(get(K), load(input, 0)), [
			...add(add(input, i32(16)), mul(get(K), i32(8))),
			...set(ROW),
			...when(and(eq(load(row, 0), i32(boomBody)), or(eq(load(row, 4), load(at, 0)), eq(load(row, 4), i32(-1)))), [...i32(1), ...set(SKIP)]),
			...bump(K, 1),
		]),
	];
	const command = [
		...when(not(load(at, 8)), forPlayers(when(eq(load(row, 0), load(at, 0)), storeF(row, 16, loadF(at, 16))))),
		...when(eq(load(at, 8), i32(1)), [
			...skipped,
			...when(not(get(SKIP)), [
				// it leaves a trace before it fails, which must be taken back
				...store(base, 72, i32(-1)),
				...setGlobal(1, i32(1)),
				...setGlobal(3, i32(boomBody)),
				...setGlobal(4, load(at, 0)),
				0x00,
			]),
		]),
	];
	return [
		...store(base, 0, add(load(base, 0), i32(1))),
		...when(input, [
			...add(add(input, i32(16)), mul(load(input, 0), i32(8))),
			...set(AT),
			...i32(0),
			...set(J),
			...loop(lessU(get(J), load(input, 12)), [...command, ...bump(AT, 24), ...bump(J, 1)]),
		]),
		...forPlayers([...storeF(row, 12, addF(loadF(row, 12), loadF(row, 16))), ...storeF(row, 20, addF(loadF(row, 20), f32(0.25)))]),
		...store(base, 72, add(load(base, 72), i32(1))),
		...when(not(rem(load(base, 0), i32(10))), [
			...when(eq(load(base, 48), i32(4)), [
				...add(base, i32(176)),
				...add(base, i32(200)),
				...i32(72),
				...[0xfc, 10, 0, 0],
				...store(base, 48, i32(3)),
			]),
			...add(add(base, i32(176)), mul(load(base, 48), i32(24))),
			...set(ROW),
			...store(row, 0, load(base, 8)),
			...[4, 8, 12, 20].flatMap((o) => store(row, o, i32(0))),
			...storeF(row, 16, addF(loadF(base, 92), [...load(base, 0), 0xb3])),
			...store(base, 8, add(load(base, 8), i32(4))),
			...store(base, 48, add(load(base, 48), i32(1))),
			...store(base, 52, load(base, 48)),
			...store(base, 56, load(base, 48)),
		]),
		0x0b,
	];
}

/** The module's bytes. */
export function walkModule(): Uint8Array<ArrayBuffer> {
	const code = [...vec([[6, 0x7f]]), ...tickCode()];
	const global = (mutable: number, v: number): number[] => [0x7f, mutable, ...i32(v), 0x0b];
	return Uint8Array.from([
		...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
		...section(1, vec([[0x60, ...vec([[0x7f], [0x7f]]), 0]])),
		...section(3, vec([[0]])),
		...section(5, vec([[1, 1, ...uleb(4096)]])),
		...section(6, vec([global(0, 1024), global(1, 0), global(1, 0), global(1, 0), global(1, 0)])),
		...section(
			7,
			vec([
				[...name("memory"), 2, 0],
				[...name("tick"), 0, 0],
				...["heap", "fault", "fault_at", "fault_body", "fault_actor"].map((n, g) => [...name(n), 3, g]),
			]),
		),
		...section(10, vec([[...uleb(code.length), ...code]])),
	]);
}

export interface Order {
	tick: number;
	player: number;
	seq: number;
	command: number;
	v: number;
}

interface Body {
	x: number;
	v: number;
	angle: number;
}

/** The same rules on plain objects. Rocks have their ids; sent fields are not in it. */
export class WalkModel {
	steps = 0;
	next = 2;
	players = new Map<number, Body>();
	rocks = new Map<number, number>();

	constructor(public tick = 0) {}

	clone(): WalkModel {
		const m = new WalkModel(this.tick);
		m.steps = this.steps;
		m.next = this.next;
		for (const [id, p] of this.players) m.players.set(id, { ...p });
		for (const [id, x] of this.rocks) m.rocks.set(id, x);
		return m;
	}

	step(orders: Order[]): void {
		this.tick = (this.tick + 1) >>> 0;
		for (const o of orders) {
			const p = this.players.get(o.player);
			if (p && o.command === 0) p.v = Math.fround(o.v);
		}
		for (const p of this.players.values()) {
			p.x = Math.fround(p.x + p.v);
			p.angle = Math.fround(p.angle + 0.25);
		}
		this.steps++;
		if (this.tick % 10 !== 0) return;
		if (this.rocks.size === 4) this.rocks.delete(Math.min(...this.rocks.keys()));
		const ids = [...this.players.keys()].sort((a, b) => a - b);
		const first = ids.length > 0 ? this.players.get(ids[0])!.x : 0;
		this.rocks.set(this.next, Math.fround(first + Math.fround(this.tick)));
		this.next += 4;
	}

	/** The state hash, by another way than the library's. */
	hash(): string {
		const bytes: number[] = [];
		const u32 = (v: number): void => void bytes.push(...new Uint8Array(Uint32Array.of(v).buffer));
		const real = (v: number): void => void bytes.push(...new Uint8Array(Float32Array.of(v).buffer));
		u32(this.steps);
		const all = [...[...this.players].map(([id, p]) => ({ id, type: 1, f: [p.x, p.v, p.angle] })), ...[...this.rocks].map(([id, x]) => ({ id, type: 2, f: [x] }))];
		for (const o of all.sort((a, b) => a.id - b.id)) {
			u32(o.id);
			u32(o.type);
			u32(0);
			o.f.forEach(real);
		}
		let h = 0xcbf29ce484222325n;
		for (const b of bytes) h = ((h ^ BigInt(b)) * 0x100000001b3n) & 0xffffffffffffffffn;
		return h.toString(16).padStart(16, "0");
	}
}
