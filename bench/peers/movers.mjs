// Moving entities on change-tracked @colyseus/schema states, encoded as a Colyseus room
// does at each patch. Orders come in as lines of JSON, {"game": NAME, "ticks": N}; the
// answer is what moving and encoding took, in ns of processor time, and the bytes that
// clients were to be sent.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Decoder, Encoder, Reflection, StateView, schema, t } from "@colyseus/schema";

const SIDE = 400, SPEED = 40, DT = 1 / 20;
const CAMPS = 104, MOVERS = 10, SPACING = 10, ORBIT = 2;

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

function walk(m) {
  m.heading += 0.1;
  m.x = Math.min(SIDE, Math.max(0, m.x + Math.cos(m.heading) * SPEED * DT));
  m.y = Math.min(SIDE, Math.max(0, m.y + Math.sin(m.heading) * SPEED * DT));
}

function circle(m) {
  m.angle += 0.1;
  m.x = m.camp + Math.cos(m.angle) * ORBIT;
  m.y = Math.sin(m.angle) * ORBIT;
}

// movers is a room of 60 movers that all see.
function movers(worldClass, moverClass) {
  return () => {
    const state = new worldClass();
    const list = [];
    for (let i = 0; i < 60; i++) {
      const m = new moverClass();
      m.heading = Math.random() * 2 * Math.PI;
      m.x = Math.random() * SIDE;
      m.y = Math.random() * SIDE;
      state.movers.set(String(i), m);
      list.push(m);
    }
    const encoder = new Encoder(state);
    const full = encoder.encodeAll().slice();
    encoder.discardChanges();
    return {
      state, encoder, list, full,
      move() { for (const m of list) walk(m); },
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
  const state = new ViewedWorld();
  const list = [];
  for (let camp = 0; camp < CAMPS; camp++) {
    for (let i = 0; i < MOVERS; i++) {
      const m = new Mover();
      m.camp = camp * SPACING;
      m.angle = Math.random() * 2 * Math.PI;
      circle(m);
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
  const room = {
    state, encoder, list, views,
    first: null,
    move() { for (const m of list) circle(m); },
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

// A room's patches are read by a decoder once, and must give what the room has.
function check(make, sees) {
  const room = make();
  const copy = new room.state.constructor();
  const decoder = new Decoder(copy);
  decoder.decode(room.full);
  for (let i = 0; i < 3; i++) {
    room.move();
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
  if (n !== sees) throw new Error(`${n} movers are seen, not ${sees}`);
}

const kinds = {
  movers: { make: movers(World, Mover), rooms: 64, sees: 60 },
  "movers-steps": { make: movers(SteppedWorld, Stepped), rooms: 64, sees: 60 },
  crowd: { make: crowd, rooms: 1, sees: 50 },
};
for (const k of Object.values(kinds)) check(k.make, k.sees);

const pkg = JSON.parse(readFileSync(new URL("node_modules/@colyseus/schema/package.json", import.meta.url), "utf8"));
console.log(JSON.stringify({ about: `@colyseus/schema ${pkg.version} on Node ${process.version}` }));
for await (const line of createInterface({ input: process.stdin })) {
  const { game, ticks } = JSON.parse(line);
  const kind = kinds[game];
  kind.all ??= Array.from({ length: kind.rooms }, kind.make);
  let move = 0, encode = 0, bytes = 0;
  let at = now();
  for (let tick = 0; tick < ticks; tick++) {
    for (const room of kind.all) room.move();
    const moved = now();
    for (const room of kind.all) bytes += room.encode(false);
    const encoded = now();
    move += moved - at;
    encode += encoded - moved;
    at = encoded;
  }
  console.log(JSON.stringify({ move, encode, bytes, rooms: kind.all.length }));
}
