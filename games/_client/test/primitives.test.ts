import assert from "node:assert/strict";
import test from "node:test";
import { ProtocolError } from "../src/errors";
import { Fnv } from "../src/fnv";
import { Reader } from "../src/reader";
import { Writer } from "../src/writer";
import { Random } from "./random";

const reader = (...bytes: number[]): Reader => new Reader(Uint8Array.of(...bytes));

test("a varint is a u32 in its shortest form", () => {
	const good: [number, number[]][] = [
		[0, [0]],
		[127, [0x7f]],
		[128, [0x80, 0x01]],
		[16383, [0xff, 0x7f]],
		[16384, [0x80, 0x80, 0x01]],
		[0x7fffffff, [0xff, 0xff, 0xff, 0xff, 0x07]],
		[0xffffffff, [0xff, 0xff, 0xff, 0xff, 0x0f]],
	];
	for (const [v, bytes] of good) {
		const r = reader(...bytes);
		assert.equal(r.uv(), v);
		r.end();
		assert.deepEqual([...new Writer().begin(9).uv(v).done()], [9, ...bytes]);
	}
	for (const bytes of [[], [0x80], [0x80, 0x00], [0xff, 0x80, 0x00], [0xff, 0xff, 0xff, 0xff, 0x10], [0xff, 0xff, 0xff, 0xff, 0x8f, 0x00], [0x80, 0x80, 0x80, 0x80, 0x00]]) {
		assert.throws(() => reader(...bytes).uv(), ProtocolError, bytes.join());
	}
	const random = new Random(1);
	for (let i = 0; i < 10000; i++) {
		const v = Math.floor(2 ** (random.next() * 32));
		assert.equal(new Reader(new Writer().begin(0).uv(v).done(), 1).uv(), v);
	}
});

test("fixed widths are little-endian and need all their bytes", () => {
	const r = reader(1, 2, 3, 4, 5, 6, 7);
	assert.equal(r.u8(), 1);
	assert.equal(r.u16(), 0x0302);
	assert.equal(r.u32(), 0x07060504);
	assert.throws(() => r.u8(), ProtocolError);
	assert.throws(() => reader(1).u16(), ProtocolError);
	assert.throws(() => reader(1, 2, 3).u32(), ProtocolError);
	assert.throws(() => reader(1).end(), ProtocolError);
});

test("a reader of a part of a buffer stays inside it", () => {
	const all = Uint8Array.of(9, 9, 1, 0, 9, 9);
	const r = new Reader(all.subarray(2, 4));
	assert.equal(r.u16(), 1);
	assert.throws(() => r.u8(), ProtocolError);
});

test("a bool is 0 or 1", () => {
	assert.equal(reader(0).bool(), 0);
	assert.equal(reader(1).bool(), 1);
	assert.throws(() => reader(2).bool(), ProtocolError);
});

test("a text is UTF-8 and no longer than it may be", () => {
	for (const s of ["", "plain", "Größe", "☃ \u{1F680}", "\ufeffmark"]) {
		const r = new Reader(new Writer().begin(0).str(s).done(), 1);
		assert.equal(r.str(64), s);
		r.end();
	}
	for (const bytes of [[0x80], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff], [0x61, 0xe2, 0x98]]) {
		assert.throws(() => reader(bytes.length, ...bytes).str(64), ProtocolError, bytes.join());
	}
	assert.throws(() => reader(3, 0x61, 0x61, 0x61).str(2), ProtocolError);
	assert.throws(() => reader(3, 0x61, 0x61).str(3), ProtocolError);
	assert.throws(() => reader(0xff, 0xff, 0xff, 0xff, 0x0f).str(0xffffffff), ProtocolError);
});

test("ids of a list ascend and fit in 32 bits", () => {
	assert.equal(reader(0).id(0, true, 0), 0);
	assert.throws(() => reader(0).id(0, true, 1), ProtocolError);
	assert.throws(() => reader(0).id(5, false, 0), ProtocolError);
	assert.equal(reader(1).id(0xfffffffe, false, 1), 0xffffffff);
	assert.throws(() => reader(2).id(0xfffffffe, false, 1), ProtocolError);
});

test("a mask has no bits past its fields", () => {
	assert.equal(reader().mask(0), 0);
	assert.equal(reader(0x07).mask(3), 0);
	assert.equal(reader(0xff).mask(8), 0);
	assert.throws(() => reader(0x08).mask(3), ProtocolError);
	assert.throws(() => reader(0xff, 0x02).mask(9), ProtocolError);
	assert.throws(() => reader(0xff).mask(9), ProtocolError);
});

test("the hash is FNV-1a of 64 bits", () => {
	const of = (s: string): string => {
		const h = new Fnv();
		for (const b of new TextEncoder().encode(s)) h.u8(b);
		return h.hex();
	};
	assert.equal(of(""), "cbf29ce484222325");
	assert.equal(of("a"), "af63dc4c8601ec8c");
	assert.equal(of("foobar"), "85944171f73967e8");
	const random = new Random(2);
	const h = new Fnv();
	let big = 0xcbf29ce484222325n;
	for (let i = 0; i < 20000; i++) {
		const b = random.below(256);
		h.u8(b);
		big = ((big ^ BigInt(b)) * 0x100000001b3n) & 0xffffffffffffffffn;
	}
	assert.equal(h.hex(), big.toString(16).padStart(16, "0"));
});
