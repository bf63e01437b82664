// A game's bodies as the JavaScript they are, over plain objects, in any engine.
// The text is one function expression, so that engines without modules take it.
//
// job: { types, commands, tickRate, bodies, bundle, math }, as bench/bodies makes
// it. bundle is the text of a function of (random, Math) that gives
// { enter(game), bodies }, bodies by file and name.
//
// flavour: "plain"   fields are properties, as one would write a game for Node
//          "exact"   stores convert as the fields' types do, random numbers and
//                    maths are the body language's: the compiled game's bits
//          "tracked" rows and lists are made by tracker, which sees all changes
(function makeGame(job, flavour, tracker) {
  "use strict";
  const exact = flavour === "exact";

  // --- numbers

  const f64 = new Float64Array(1);
  const words = new Uint32Array(f64.buffer), signed = new Int32Array(f64.buffer);

  function exactMath() {
    let kept = 0;
    const intrinsics = {
      highWord(x) { f64[0] = x; return signed[1]; },
      lowWord(x) { f64[0] = x; return words[0]; },
      fromWords(high, low) { signed[1] = high; words[0] = low; return f64[0]; },
      head(x) { f64[0] = x; words[0] &= 0xf8000000; return f64[0]; },
      scale(x, n) { f64[0] = n; const k = signed[0]; f64[0] = x; signed[1] += k << 20; return f64[0]; },
      setTail(x) { kept = x; },
      tail: () => kept,
    };
    const lib = new Function(...Object.keys(intrinsics), job.math)(...Object.values(intrinsics));
    const all = {};
    for (const name of Object.getOwnPropertyNames(Math)) all[name] = Math[name];
    return Object.assign(all, lib);
  }

  // 64 bits in two halves: hi and lo are what the last operation gave.
  let hi = 0, lo = 0;
  function times(h, l, ch, cl) {
    const a = l & 0xffff, b = l >>> 16, c = cl & 0xffff, d = cl >>> 16;
    const ac = a * c, bc = b * c, ad = a * d;
    const middle = (ac >>> 16) + (bc & 0xffff) + (ad & 0xffff);
    lo = ((middle << 16) | (ac & 0xffff)) >>> 0;
    hi = (b * d + (bc >>> 16) + (ad >>> 16) + (middle >>> 16) + Math.imul(h, cl) + Math.imul(l, ch)) >>> 0;
  }
  function plus(h, l, ch, cl) {
    const sum = l + cl;
    lo = sum >>> 0;
    hi = (h + ch + (sum > 0xffffffff ? 1 : 0)) >>> 0;
  }
  function mix(h, l) {
    times((h ^ (h >>> 30)) >>> 0, (l ^ ((l >>> 30) | (h << 2))) >>> 0, 0xbf58476d, 0x1ce4e5b9);
    times((hi ^ (hi >>> 27)) >>> 0, (lo ^ ((lo >>> 27) | (hi << 5))) >>> 0, 0x94d049bb, 0x133111eb);
    const l31 = (lo >>> 31) | (hi << 1);
    lo = (lo ^ l31) >>> 0;
    hi = (hi ^ (hi >>> 31)) >>> 0;
  }
  const GH = 0x9e3779b9, GL = 0x7f4a7c15;
  const run = { body: 0, actor: 0, seq: 0, seeded: false, h: 0, l: 0 };
  function exactRandom() {
    if (!run.seeded) {
      run.seeded = true;
      times(0, (game.tick + 1) >>> 0, GH, GL);
      plus(hi, lo, game.seedHigh, game.seedLow);
      mix(hi, lo);
      mix((hi ^ run.actor) >>> 0, (lo ^ run.body) >>> 0);
      if (run.seq !== 0) {
        const h = hi, l = lo;
        times(0, run.seq, GH, GL);
        plus(h, l, hi, lo);
        mix(hi, lo);
      }
      run.h = hi;
      run.l = lo;
    }
    plus(run.h, run.l, GH, GL);
    run.h = hi;
    run.l = lo;
    mix(hi, lo);
    return (hi * 2097152 + (lo >>> 11)) / 9007199254740992;
  }
  function plainRandom() {
    game.rng = (game.rng + 0x6d2b79f5) | 0;
    let t = Math.imul(game.rng ^ (game.rng >>> 15), 1 | game.rng);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  // --- classes, from the schema

  const conversions = {
    bool: "v ? true : false", i8: "v << 24 >> 24", u8: "v & 255", i16: "v << 16 >> 16", u16: "v & 65535",
    i32: "v | 0", u32: "v >>> 0", f32: "Math.fround(v)", f64: "v", str: "v",
  };

  function literal(f) {
    if (f.kind === "str") return JSON.stringify(f.text);
    if (f.kind === "bool") return f.default ? "true" : "false";
    return String(f.default);
  }

  // rowClass writes the class of a type, so that engines see its fields at once.
  function rowClass(type) {
    const at = exact ? "_" : "";
    const lines = ["return class " + type.name + " {", "constructor(home, id, owner) {",
      "this.home = home; this.id = id; this.removed = false;"];
    if (exact) lines.push("this.mark = 0;");
    if (type.owned) lines.push("this.owner = owner;");
    for (const f of type.fields) lines.push("this." + at + f.name + " = " + literal(f) + ";");
    lines.push("}", "remove() { if (this.removed) return; this.removed = true; this.home.drop(this); }");
    if (exact) {
      for (const f of type.fields) {
        lines.push("get " + f.name + "() { return this._" + f.name + "; }");
        lines.push("set " + f.name + "(v) { this._" + f.name + " = " + conversions[f.kind] + "; }");
      }
    }
    lines.push("}");
    return new Function(lines.join("\n"))();
  }

  // Rows are the objects of a type. Bodies walk an array of the live ones by its own
  // iterator, by far the fastest way in V8. A removal makes a new array, so that
  // walks under way go on over the old one; what it still has of removed objects
  // the driver skips, and the loops in bodies of this game end with a removal.
  class Rows {
    constructor(type, list) {
      this.type = type;
      this.rows = [];
      this.used = 0; // with those removed in this tick
      this.list = list; // the tracker's, if there is one
    }
    get count() { return this.rows.length; }
    find(id) {
      for (const row of this.rows) if (row.id === id) return row;
      return null;
    }
    spawn(owner) {
      if (this.used === this.type.max) return null;
      const row = this.append(game.next, owner);
      game.next += 4;
      return row;
    }
    append(id, owner) {
      const row = new this.type.Row(this, id, owner);
      this.rows.push(row);
      this.used++;
      if (this.list !== null) tracker.added(this.list, row);
      return row;
    }
    drop(row) {
      const rows = this.rows.slice();
      rows.splice(rows.indexOf(row), 1);
      this.rows = rows;
    }
    settle() {
      if (this.used === this.rows.length) return;
      this.used = this.rows.length;
      if (this.list !== null) tracker.removed(this.list);
    }
    [Symbol.iterator]() { return this.rows[Symbol.iterator](); }
  }

  const types = job.types.slice(1);
  for (const type of types) type.Row = tracker ? tracker.rowClass(type) : rowClass(type);

  const gameClass = (() => {
    const instance = job.types[0];
    const Base = tracker ? tracker.rowClass(instance) : rowClass(instance);
    return class Game extends Base {
      constructor() {
        super(null, 0, null);
        this.tick = 0;
        this.flags = 0;
        this.next = 2;
        this.dt = 1 / job.tickRate;
        this.seedHigh = 0;
        this.seedLow = 0;
        this.rng = 0;
        for (const type of types) this[type.plural] = new Rows(type, tracker ? tracker.list(this, type) : null);
      }
    };
  })();

  // --- the tick

  let game = null;
  const linked = new Function("random", "Math", job.bundle)(exact ? exactRandom : plainRandom, exact ? exactMath() : Math);
  const body = (name) => {
    const number = job.bodies.findIndex((b) => b.name === name);
    return number < 0 ? null : { number, call: linked.bodies[name] };
  };
  const update = types.map((type) => body(type.name + ".update"));
  const updateInstance = body("instance.update");
  const handlers = job.commands.map((c) => body("commands." + c.name));
  const plurals = types.map((type) => type.plural);
  const was = types.map(() => null), started = types.map(() => 0); // rows at the tick's start

  function enter(b, actor, seq) {
    run.body = b.number;
    run.actor = actor;
    run.seq = seq;
    run.seeded = false;
  }

  // steer is the script of bench/bodies.
  const order = { turn: 0, thrust: false, fire: false };
  function steer(instance, p) {
    if ((game.tick + instance + 5 * p) % 16 !== 0) return;
    let h = (Math.imul(Math.imul(instance, 31) + p, 0x9e3779b1) + Math.imul(game.tick, 0x85ebca6b)) | 0;
    h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
    h = (h ^ (h >>> 13)) >>> 0;
    order.turn = (h % 3) - 1;
    order.thrust = ((h >>> 8) & 1) !== 0;
    order.fire = ((h >>> 16) & 7) !== 0;
    const player = game.players.find(1 + 2 * p);
    if (player === null) return;
    const b = handlers[0];
    enter(b, player.id, game.tick);
    b.call(player, order);
  }

  function tick(g, instance) {
    game = g;
    linked.enter(g);
    g.tick++;
    for (let p = 0; p < 4; p++) steer(instance, p);
    for (let t = 0; t < plurals.length; t++) {
      was[t] = g[plurals[t]].rows;
      started[t] = was[t].length;
    }
    for (let t = 0; t < plurals.length; t++) {
      const b = update[t];
      if (b === null) continue;
      const rows = was[t], n = started[t];
      for (let i = 0; i < n; i++) {
        const row = rows[i];
        if (row.removed) continue;
        if (exact) enter(b, row.id, 0);
        b.call(row);
      }
    }
    if (updateInstance !== null) {
      enter(updateInstance, 0, 0);
      updateInstance.call();
    }
    for (let t = 0; t < plurals.length; t++) g[plurals[t]].settle();
  }

  // --- states

  const kinds = {
    bool: ["getUint8", "setUint8", 1], i8: ["getInt8", "setInt8", 1], u8: ["getUint8", "setUint8", 1], i16: ["getInt16", "setInt16", 2],
    u16: ["getUint16", "setUint16", 2], i32: ["getInt32", "setInt32", 4], u32: ["getUint32", "setUint32", 4],
    f32: ["getFloat32", "setFloat32", 4], f64: ["getFloat64", "setFloat64", 8],
  };

  function getField(view, at, f) {
    if (f.kind === "str") {
      let text = "";
      for (let i = 0; i < view.getUint8(at); i++) text += String.fromCharCode(view.getUint8(at + 1 + i));
      return text;
    }
    const v = view[kinds[f.kind][0]](at, true);
    return f.kind === "bool" ? v !== 0 : v;
  }

  function setField(view, at, f, v) {
    if (f.kind !== "str") return view[kinds[f.kind][1]](at, Number(v), true);
    view.setUint8(at, v.length);
    for (let i = 0; i < v.length; i++) view.setUint8(at + 1 + i, v.charCodeAt(i));
  }

  // read makes the game that is in a block.
  function read(view) {
    const g = new gameClass();
    game = g;
    g.tick = view.getUint32(0, true);
    g.flags = view.getUint32(4, true);
    g.next = view.getUint32(8, true);
    g.seedLow = view.getUint32(16, true);
    g.seedHigh = view.getUint32(20, true);
    g.rng = g.seedLow | 0;
    for (const f of job.types[0].fields) g[f.name] = getField(view, job.types[0].rows + f.offset, f);
    for (const type of types) {
      const n = view.getUint32(type.counts, true);
      for (let i = 0; i < n; i++) {
        const at = type.rows + i * type.stride;
        const owner = type.owned ? g.players.find(view.getUint32(at + 8, true)) : null;
        const row = g[type.plural].append(view.getUint32(at, true), owner);
        if (exact) row.mark = view.getUint32(at + 4, true);
        for (const f of type.fields) row[f.name] = getField(view, at + f.offset, f);
      }
    }
    return g;
  }

  // write puts a game into a zeroed block.
  function write(g, view) {
    view.setUint32(0, g.tick, true);
    view.setUint32(4, g.flags, true);
    view.setUint32(8, g.next, true);
    view.setUint32(12, 4, true);
    view.setUint32(16, g.seedLow, true);
    view.setUint32(20, g.seedHigh, true);
    for (const f of job.types[0].fields) setField(view, job.types[0].rows + f.offset, f, g[f.name]);
    for (const type of types) {
      const rows = g[type.plural].rows;
      for (let k = 0; k < 3; k++) view.setUint32(type.counts + 4 * k, rows.length, true);
      rows.forEach((row, i) => {
        const at = type.rows + i * type.stride;
        view.setUint32(at, row.id, true);
        if (exact) view.setUint32(at + 4, row.mark, true);
        if (type.owned) view.setUint32(at + 8, row.owner.id, true);
        for (const f of type.fields) setField(view, at + f.offset, f, row[f.name]);
      });
    }
  }

  let games = [], first = 0;
  return {
    load(buffer, n, from) {
      games = [];
      first = from;
      for (let i = 0; i < n; i++) games.push(read(new DataView(buffer, i * job.size, job.size)));
    },
    run(ticks) {
      for (let k = 0; k < ticks; k++) {
        for (let i = 0; i < games.length; i++) tick(games[i], first + i);
        if (tracker) tracker.ticked(games);
      }
    },
    dump(buffer) {
      games.forEach((g, i) => write(g, new DataView(buffer, i * job.size, job.size)));
    },
    games: () => games,
  };
})
