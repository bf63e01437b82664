import { CommandFields } from "./layout";
import { ProtocolError } from "./errors";
import { readField } from "./fields";
import { hex32 } from "./fnv";
import { type Plan, Bool, F32, F64, I16, I32, I8, Ref, Str, U16, U32, U8 } from "./plan";
import { Reader } from "./reader";
import type { Command } from "./sim";
import { after } from "./track";
import type { Writer } from "./writer";

export const TagCommand = 0x01;
export const TagAck = 0x02;
export const TagPing = 0x03;
export const TagStateHash = 0x04;
export const TagResync = 0x05;

export const TagWelcome = 0x81;
export const TagSnapshot = 0x82;
export const TagDelta = 0x83;
export const TagKeyframe = 0x84;
export const TagCommands = 0x85;
export const TagEnter = 0x86;
export const TagLeave = 0x87;
export const TagPong = 0x88;

/** Names of the messages, for statistics. */
export const messageNames: Record<number, string> = {
	[TagCommand]: "command",
	[TagAck]: "ack",
	[TagPing]: "ping",
	[TagStateHash]: "stateHash",
	[TagResync]: "resync",
	[TagWelcome]: "welcome",
	[TagSnapshot]: "snapshot",
	[TagDelta]: "delta",
	[TagKeyframe]: "keyframe",
	[TagCommands]: "commands",
	[TagEnter]: "enter",
	[TagLeave]: "leave",
	[TagPong]: "pong",
};

export interface Welcome {
	version: number;
	tick: number;
	/** Definition hash, 16 hex digits. */
	hash: string;
	/** 0 for a spectator. */
	player: number;
	/** The last own seq that the server received from this seat. */
	received: number;
	instance: string;
	/** Resume token, in hex. */
	token: string;
	tickRate: number;
	sendRate: number;
	timelineDepth: number;
}

/** The most bytes of an instance's name. */
const maxInstanceName = 128;

export function parseWelcome(r: Reader): Welcome {
	const version = r.u8();
	const tick = r.u32();
	const low = r.u32();
	const high = r.u32();
	const w: Welcome = {
		version,
		tick,
		hash: hex32(high) + hex32(low),
		player: r.uv(),
		received: r.uv(),
		instance: r.str(maxInstanceName),
		token: hexOf(r.bytes.subarray(r.take(16), r.at)),
		tickRate: r.u16(),
		sendRate: r.u16(),
		timelineDepth: r.u16(),
	};
	r.end();
	return w;
}

function hexOf(bytes: Uint8Array): string {
	let s = "";
	for (const b of bytes) s += b.toString(16).padStart(2, "0");
	return s;
}

export interface Pong {
	nonce: number;
	tick: number;
	/** Part of the tick elapsed, 0..1. */
	part: number;
}

export function parsePong(r: Reader): Pong {
	const pong = { nonce: r.u32(), tick: r.u32(), part: r.u16() / 65536 };
	r.end();
	return pong;
}

/** Ids of the objects that left, ascending. */
export function parseLeave(r: Reader): number[] {
	const ids: number[] = [];
	let id = 0;
	while (r.left > 0) {
		id = r.id(id, ids.length === 0, 1);
		ids.push(id);
	}
	return ids;
}

/** A relayed command and the tick that the server ran it on. */
export interface Relayed extends Command {
	tick: number;
}

/** What a server keeps to be relayed; more would take memory without bound. */
const maxRelayed = 1 << 15;

/** Relayed commands of a send tick, sorted by tick, player and seq. */
export function parseCommands(r: Reader, plan: Plan, sendTick: number): Relayed[] {
	const list: Relayed[] = [];
	while (r.left > 0) {
		if (list.length === maxRelayed) throw new ProtocolError("too many commands in one message");
		const tick = (sendTick - r.uv()) >>> 0;
		const player = r.uv();
		const seq = r.uv();
		const number = r.uv();
		if (number >= plan.commands.length) throw new ProtocolError("unknown command");
		const record = new Uint8Array(plan.config.layout.commandStride);
		const view = new DataView(record.buffer);
		for (const f of plan.commands[number].fields) readField(r, f, record, view, 0);
		const c = { tick, player, seq, number, record };
		if (list.length > 0 && !before(list[list.length - 1], c)) throw new ProtocolError("commands are not sorted");
		list.push(c);
	}
	return list;
}

function before(a: Relayed, b: Relayed): boolean {
	if (a.tick !== b.tick) return after(b.tick, a.tick);
	return a.player !== b.player ? a.player < b.player : a.seq < b.seq;
}

/** Encodes an own command; `record` holds its fields. */
export function appendCommand(w: Writer, plan: Plan, c: Command, tick: number): Uint8Array<ArrayBuffer> {
	w.begin(TagCommand).u32(tick).uv(c.seq).uv(c.number);
	const view = new DataView(c.record.buffer);
	for (const f of plan.commands[c.number].fields) {
		const at = f.offset;
		switch (f.kind) {
			case Bool:
			case I8:
			case U8:
				w.u8(view.getUint8(at));
				break;
			case I16:
			case U16:
				w.u16(view.getUint16(at, true));
				break;
			case I32:
			case U32:
			case F32:
				w.u32(view.getUint32(at, true));
				break;
			case F64:
				w.u32(view.getUint32(at, true)).u32(view.getUint32(at + 4, true));
				break;
			case Ref:
				w.uv(view.getUint32(at, true));
				break;
			case Str: {
				const n = c.record[at];
				w.uv(n).raw(c.record.subarray(at + 1, at + 1 + n));
			}
		}
	}
	return w.done();
}

/** A record without fields set. */
export function blankRecord(plan: Plan): Uint8Array {
	return new Uint8Array(Math.max(plan.config.layout.commandStride, CommandFields));
}
