// Serves Asteroids as one would write it at home for Node and ws: the rules of the sample
// game over plain objects, one loop that steps all rooms, and the whole of what browsers
// draw in one binary message to each player at each send. Messages and rooms are those of
// bench/home, which does the same in Go. Argument: the folder of the rules. Its first
// line on stdout is "listening PORT".
import { WebSocketServer } from "ws";
import { Rows, join, load, steer, step } from "./asteroids.mjs";

const rules = await load(process.argv[2]);
const SEATS = 4, PERIOD = 1000 / 30;
const SHIP = 28, ROCK = 11, BULLET = 10;

class Row {}
const make = () => new Row();
const rooms = [];

class Home {
  constructor() {
    this.seats = new Set();
    const game = this.game = { next: 1, dt: 1 / 30, tick: 0, lull: 45, level: 0 };
    game.players = new Rows(game, 8, make);
    game.rocks = new Rows(game, 64, make);
    game.bullets = new Rows(game, 64, make);
  }

  // What has been given to a socket may wait there: each state has a buffer of its own.
  state() {
    const { tick, level, players, rocks, bullets } = this.game;
    const b = Buffer.allocUnsafe(10 + SHIP * players.count + ROCK * rocks.count + BULLET * bullets.count);
    b[0] = 1;
    b.writeUInt32LE(tick, 1);
    b.writeUInt16LE(level, 5);
    b[7] = players.count;
    b[8] = rocks.count;
    b[9] = bullets.count;
    let at = 10;
    for (const s of players.list) {
      place(b, at, s);
      b.writeFloatLE(s.heading, at + 10);
      b[at + 14] = s.thrust ? 1 : 0;
      b.writeUInt16LE(s.wait, at + 15);
      b.writeUInt16LE(s.shield, at + 17);
      b[at + 19] = s.lives;
      b.writeUInt32LE(s.score, at + 20);
      b.writeUInt32LE(s.best, at + 24);
      at += SHIP;
    }
    for (const r of rocks.list) {
      place(b, at, r);
      b[at + 10] = r.size;
      at += ROCK;
    }
    for (const s of bullets.list) {
      place(b, at, s);
      at += BULLET;
    }
    return b;
  }
}

function place(b, at, row) {
  b.writeUInt16LE(row.id & 0xffff, at);
  b.writeFloatLE(row.x, at + 2);
  b.writeFloatLE(row.y, at + 6);
}

const options = { binary: true, compress: false, fin: true };
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false, maxPayload: 4096 });
server.on("connection", (socket) => {
  let room = rooms.find((r) => r.seats.size < SEATS);
  if (!room) rooms.push(room = new Home());
  room.seats.add(socket);
  const ship = join(room.game);
  socket.on("message", (m) => {
    if (m.length === 1 && m[0] === 2) socket.send(m, options);
    else if (m.length === 3 && m[0] === 1 && m[1] <= 2) steer(room.game, rules, ship, { turn: m[1] - 1, thrust: (m[2] & 1) !== 0, fire: (m[2] & 2) !== 0 });
  });
  socket.on("close", () => {
    room.seats.delete(socket);
    ship.remove();
  });
  socket.on("error", () => socket.terminate());
});
server.on("listening", () => console.log("listening", server.address().port));

let next = performance.now() + PERIOD;
setTimeout(function tick() {
  rooms.forEach((room, number) => {
    step(room.game, rules);
    if ((room.game.tick + number) % 2) return; // half of the rooms send in one tick, the others in the next
    const state = room.state();
    for (const socket of room.seats) socket.send(state, options);
  });
  next = Math.max(next + PERIOD, performance.now());
  setTimeout(tick, next - performance.now());
}, PERIOD);
process.on("SIGTERM", () => process.exit(0));
