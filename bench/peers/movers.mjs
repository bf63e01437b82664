// Moving entities on change-tracked @colyseus/schema states, encoded as a Colyseus room
// does at each patch. Orders come in as lines of JSON, {"game": NAME, "ticks": N}; the
// answer is what moving and encoding took, in ns of processor time, and the bytes that
// clients were to be sent.
//
// A setter of a tracked object stores the value and notes the change; how much of a
// move that takes cannot be timed inside it. So each room has plain objects as well,
// with the same fields, the same start and the same rules, which are moved in the same
// tick, before and after the tracked ones in turn: what tracked ones take beyond them
// is the tracking.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Decoder, Encoder, Reflection, StateView, schema, t } from "@colyseus/schema";

const SIDE = 400;
const CAMPS = 104, MOVERS = 10, SPACING = 10;

const Mover = schema({ x: t.float32(), y: t.float32() }, "Mover");
const World = schema({ movers: t.map(Mover) }, "World");
const Stepped = schema({
  x: t.quantized({ min: 0, max: SIDE, bits: 16 }),
  y: t.quantized({ min: 0, max: SIDE, bits: 16 }),
}, "Stepped");
const SteppedWorld = schema({ movers: t.map(Stepped) }, "SteppedWorld");
const ViewedWorld = schema({ movers: t.map(Mover).view() }, "ViewedWorld");

// Rooms are built on these; their buffer has to hold a patch.
Encoder.BUFFER_SIZE = 1 << 20;

function now() {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

class Plain {
  constructor(m) {
    this.heading = m.heading;
    this.camp = m.camp;
    this.x = m.x;
    this.y = m.y;
  }
}

const rules = {};
for (const who of ["floats", "floats-plain", "steps", "steps-plain", "crowd", "crowd-plain"]) {
  rules[who] = await import(`./walk.mjs?${who}`);
}

// movers is a room of 60 movers that all see.
function movers(worldClass, moverClass, who) {
  const { walk } = rules[who], { walk: walkPlain } = rules[who + "-plain"];
  return () => {
    const state = new worldClass();
    const list = [];
    for (let i = 0; i < 60; i++) {
      const m = new moverClass();
      m.heading = Math.random() * 2 * Math.PI;
      m.camp = 0;
      m.x = Math.random() * SIDE;
      m.y = Math.random() * SIDE;
      state.movers.set(String(i), m);
      list.push(m);
    }
    const encoder = new Encoder(state);
    const full = encoder.encodeAll().slice();
    encoder.discardChanges();
    const plain = list.map((m) => new Plain(m));
    return {
      state, encoder, list, plain, full,
      move() { walk(list); },
      movePlain() { walkPlain(plain); },
      encode() {
        const n = encoder.encode().byteLength;
        encoder.discardChanges();
        return n;
      },
    };
  };
}

// crowd is a room of 1040 movers and 100 clients that see 50 each. Which ones does not
// change, so keeping the views costs nothing here.
function crowd() {
  const { circle } = rules.crowd, { circle: circlePlain } = rules["crowd-plain"];
  const state = new ViewedWorld();
  const list = [];
  for (let camp = 0; camp < CAMPS; camp++) {
    for (let i = 0; i < MOVERS; i++) {
      const m = new Mover();
      m.heading = Math.random() * 2 * Math.PI;
      m.camp = camp * SPACING;
      m.x = m.camp;
      m.y = 0;
      state.movers.set(String(list.length), m);
      list.push(m);
    }
  }
  const encoder = new Encoder(state);
  const views = [];
  for (let client = 0; client < 100; client++) {
    const view = new StateView();
    for (let i = client * MOVERS; i < (client + 5) * MOVERS; i++) view.add(list[i]);
    views.push(view);
  }
  let last = null;
  const plain = list.map((m) => new Plain(m));
  const room = {
    state, encoder, list, plain,
    move() { circle(list); },
    movePlain() { circlePlain(plain); },
    encode(keep) {
      const it = { offset: 0 };
      encoder.encode(it);
      const shared = it.offset;
      let bytes = 0;
      for (let i = 0; i < views.length; i++) {
        const part = encoder.encodeView(views[i], shared, it);
        bytes += part.byteLength;
        if (keep && i === 7) last = part.slice();
      }
      encoder.discardChanges();
      return bytes;
    },
    last: () => last,
  };
  const it = { offset: 0 };
  encoder.encodeAll(it);
  room.full = encoder.encodeAllView(views[7], it.offset, it).slice();
  room.encode(false); // the movers come into the views
  return room;
}

// A room's patches are read by a decoder once, and must give what the room has. The
// plain objects must have gone the same way, but for what the steps take from it.
function check(make, sees, step) {
  const room = make();
  const copy = new room.state.constructor();
  const decoder = new Decoder(copy);
  decoder.decode(room.full);
  for (let i = 0; i < 3; i++) {
    room.move();
    room.movePlain();
    if (room.last) {
      room.encode(true);
      decoder.decode(room.last());
    } else {
      decoder.decode(room.encoder.encode().slice());
      room.encoder.discardChanges();
    }
  }
  let n = 0;
  for (const [id, m] of copy.movers) {
    const other = room.list[Number(id)];
    if (Math.fround(other.x) !== m.x && other.x !== m.x || Math.fround(other.y) !== m.y && other.y !== m.y) {
      throw new Error(`mover ${id} is at ${m.x} ${m.y}, not ${other.x} ${other.y}`);
    }
    n++;
  }
  room.list.forEach((m, id) => {
    const p = room.plain[id];
    if (!(Math.abs(p.x - m.x) <= step && Math.abs(p.y - m.y) <= step)) {
      throw new Error(`mover ${id} is at ${m.x} ${m.y}, the plain one at ${p.x} ${p.y}`);
    }
  });
  if (n !== sees) throw new Error(`${n} movers are seen, not ${sees}`);
}

const kinds = {
  movers: { make: movers(World, Mover, "floats"), rooms: 64, sees: 60, step: 0 },
  "movers-steps": { make: movers(SteppedWorld, Stepped, "steps"), rooms: 64, sees: 60, step: 4 * SIDE / 65535 },
  crowd: { make: crowd, rooms: 1, sees: 50, step: 0 },
};
for (const k of Object.values(kinds)) check(k.make, k.sees, k.step);

const pkg = JSON.parse(readFileSync(new URL("node_modules/@colyseus/schema/package.json", import.meta.url), "utf8"));
console.log(JSON.stringify({ about: `@colyseus/schema ${pkg.version} on Node ${process.version}` }));
for await (const line of createInterface({ input: process.stdin })) {
  const { game, ticks } = JSON.parse(line);
  const kind = kinds[game];
  kind.all ??= Array.from({ length: kind.rooms }, kind.make);
  let plain = 0, move = 0, encode = 0, bytes = 0;
  for (let tick = 0; tick < ticks; tick++) {
    const start = now();
    if (tick % 2 === 0) for (const room of kind.all) room.movePlain();
    const first = now();
    for (const room of kind.all) room.move();
    const moved = now();
    if (tick % 2 === 1) for (const room of kind.all) room.movePlain();
    const second = now();
    for (const room of kind.all) bytes += room.encode(false);
    encode += now() - second;
    plain += first - start + second - moved;
    move += moved - first;
  }
  console.log(JSON.stringify({ plain, move, encode, bytes, rooms: kind.all.length }));
}
