// Runs a game's bodies as the JavaScript they are, over plain objects whose
// fields convert like elements of typed arrays, in the order that the driver has.
// stdin: { dir, math, def, seed, serverSeed, bodies, ticks, dump }. stdout: a line
// per tick with a fingerprint of the state or, from tick dump on, the state.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const job = JSON.parse(readFileSync(0, "utf8"));
const { def } = job;
const arrays = { bool: Uint8Array, i8: Int8Array, u8: Uint8Array, i16: Int16Array, u16: Uint16Array, i32: Int32Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array, ref: Uint32Array };

// The maths library is ours on both sides.
Object.assign(Math, new Function(job.math)());

const encoder = new TextEncoder(), decoder = new TextDecoder();
function cut(text, room) {
  const b = encoder.encode(text);
  let n = Math.min(b.length, room);
  if (n < b.length) while (n > 0 && (b[n] & 0xc0) === 0x80) n--;
  return decoder.decode(b.subarray(0, n));
}

const REMOVED = Symbol("removed");

function classOf(type) {
  class Row {
    #slots = type.fields.map((f) => (f.kind === "str" ? [f.text ?? ""] : new arrays[f.kind](1)));
    constructor(id, owner) {
      this.rowId = id;
      this.rowOwner = owner;
      type.fields.forEach((f, i) => {
        if (f.kind !== "str") this.#slots[i][0] = f.default ?? 0;
      });
    }
    get id() { return this.rowId; }
    slot(i) { return this.#slots[i]; }
  }
  if (type.owned) Object.defineProperty(Row.prototype, "owner", { get() { return types[1].find(this.rowOwner); } });
  if (type.index > 0) Row.prototype.remove = function () {
    if (this[REMOVED]) return;
    this[REMOVED] = true;
    type.live--;
  };
  type.fields.forEach((f, i) => {
    Object.defineProperty(Row.prototype, f.name, {
      get() {
        const v = this.slot(i)[0];
        if (f.kind === "bool") return v !== 0;
        if (f.kind === "ref") return types[f.ref].find(v);
        return v;
      },
      set(v) {
        if (f.kind === "str") v = cut(v, f.len);
        if (f.kind === "ref") v = v === null ? 0 : v.id;
        this.slot(i)[0] = v;
      },
    });
  });
  return Row;
}

const state = { tick: 0, flags: 0, nextShared: 2, nextServer: 4, server: false };
const types = def.types;
for (const type of types) {
  type.Row = classOf(type);
  type.rows = [];
  type.live = 0;
  type.find = (id) => type.rows.find((r) => r.id === id && !r[REMOVED]) ?? null;
  type.append = (id, owner) => {
    const row = new type.Row(id, owner);
    type.rows.push(row);
    type.live++;
    return row;
  };
}

const instance = new types[0].Row(0, 0);
const game = Object.create(instance);
for (const type of types.slice(1)) {
  const collection = {
    get count() { return type.live; },
    find: type.find,
    *[Symbol.iterator]() {
      for (const row of [...type.rows]) if (!row[REMOVED]) yield row;
    },
    spawn(owner) {
      if (type.rows.length === type.max) return null;
      const id = state.server ? state.nextServer : state.nextShared;
      if (state.server) state.nextServer += 4;
      else state.nextShared += 4;
      return type.append(id, owner ? owner.id : 0);
    },
  };
  Object.defineProperty(game, type.plural, { value: collection });
}
types[0].fields.forEach((f) => Object.defineProperty(game, f.name, { get: () => instance[f.name], set: (v) => { instance[f.name] = v; } }));
Object.defineProperties(game, {
  tick: { get: () => state.tick },
  dt: { value: 1 / def.tickRate },
  id: { value: 0 },
  open: { get: () => (state.flags & 1) === 0, set: (v) => { state.flags = v ? state.flags & ~1 : state.flags | 1; } },
  end: { value: () => { state.flags |= 2; } },
});

const M = (1n << 64n) - 1n, G = 0x9e3779b97f4a7c15n;
const mix = (x) => {
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & M;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & M;
  return x ^ (x >> 31n);
};
const run = { body: 0, actor: 0, seq: 0, drawn: [0n, 0n] };
function draw(which, seed) {
  let x = mix((BigInt(seed) + G * BigInt(state.tick + 1)) & M);
  x = mix(x ^ ((BigInt(run.actor) << 32n) | BigInt(run.body)));
  if (run.seq) x = mix((x + G * BigInt(run.seq)) & M);
  run.drawn[which]++;
  x = mix((x + G * run.drawn[which]) & M);
  return Number(x >> 11n) / 2 ** 53;
}
globalThis.game = game;
const logged = [];
globalThis.log = (...list) => logged.push(list.join(" "));
globalThis.random = () => draw(0, job.seed);
globalThis.serverRandom = () => draw(1, job.serverSeed);

for (const [name, text] of Object.entries(job.files)) writeFileSync(job.dir + "/" + name, text);
const modules = {};
const bodies = [];
for (const [number, b] of job.bodies.entries()) {
  const file = b.file, name = b.name.slice(b.name.lastIndexOf(".") + 1);
  modules[file] ??= await import(pathToFileURL(job.dir + "/" + file));
  bodies.push({ number, server: b.server, name: b.name, call: modules[file][name] });
}
const named = (name) => bodies.filter((b) => b.name === name);
function invoke(b, actor, seq, ...args) {
  Object.assign(run, { body: b.number, actor, seq, drawn: [0n, 0n] });
  state.server = b.server;
  b.call(...args);
}
const both = (type, name) => [...named(type + "." + name), ...named(type + ".server." + name)];

function end() {
  for (const type of types.slice(1)) {
    type.rows = type.rows.filter((r) => !r[REMOVED]).sort((a, b) => a.id - b.id);
    type.live = type.rows.length;
  }
}

const dataOf = (c, cmd) => {
  const o = {};
  cmd.fields.forEach((f, i) => {
    if (f.kind === "str") o[f.name] = c.texts[i];
    else if (f.kind === "ref") Object.defineProperty(o, f.name, { get: () => types[f.ref].find(c.values[i]) });
    else {
      const cell = new arrays[f.kind](1);
      cell[0] = c.values[i];
      o[f.name] = f.kind === "bool" ? cell[0] !== 0 : cell[0];
    }
  });
  return o;
};

function tick(input) {
  state.tick++;
  const player = types[1];
  const before = types.slice(1).map((t) => [...t.rows]);
  for (const id of input.leaves ?? []) {
    const row = player.find(id);
    if (!row) continue;
    for (const b of named("player.server.leave")) invoke(b, id, 0, row);
    row.remove();
  }
  for (const j of input.joins ?? []) {
    const row = player.append(j.id, 0);
    if (player.fields.some((f) => f.name === "name")) row.name = j.name;
    for (const b of named("player.server.join")) invoke(b, j.id, 0, row);
  }
  for (const c of input.commands ?? []) {
    const row = player.find(c.player);
    if (!row) continue;
    const cmd = def.commands[c.number];
    for (const b of both("commands", cmd.name)) {
      invoke(b, c.player, c.seq, row, dataOf(c, cmd));
    }
  }
  types.slice(1).forEach((type, i) => {
    for (const row of before[i]) for (const b of both(type.name, "update")) if (!row[REMOVED]) invoke(b, row.id, 0, row);
  });
  for (const b of both("instance", "update")) invoke(b, 0, 0);
  end();
}

const cell = new Float64Array(1), words = new Uint32Array(cell.buffer);
function print(dump) {
  let h = 2166136261;
  let line = "";
  const put = (v) => {
    if (dump) line += " " + v;
    cell[0] = v === v ? v : NaN;
    if (v !== v) { words[0] = 0; words[1] = 0x7ff80000; }
    h = Math.imul(h ^ words[0], 16777619);
    h = Math.imul(h ^ words[1], 16777619);
  };
  for (const v of [state.tick, state.flags, state.nextShared, state.nextServer]) put(v);
  for (const type of types) {
    if (dump) line += " | " + type.name;
    for (const row of type.index === 0 ? [instance] : type.rows) {
      if (dump) line += " /";
      put(row.id);
      put(row.rowOwner ?? 0);
      type.fields.forEach((f, i) => {
        const v = row.slot(i)[0];
        if (f.kind !== "str") return put(v);
        const bytes = encoder.encode(v);
        put(bytes.length);
        bytes.forEach(put);
      });
    }
  }
  return (h >>> 0) + line;
}

const lines = [];
for (const b of named("instance.server.start")) invoke(b, 0, 0);
end();
lines.push(print(job.dump <= 0));
for (let t = 1; t <= job.ticks; t++) {
  tick(job.inputs[t] ?? {});
  lines.push(print(t >= job.dump));
}
console.log(lines.join("\n"));
writeFileSync(job.logs, JSON.stringify(logged));
