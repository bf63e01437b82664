// Asteroids as a Colyseus room: the same rules, from the files of the sample game, over
// a room's state. What browsers draw is in the state, nothing else, as one would write
// it; patches go out 15 times a second, the simulation runs 30 times. Its first line on
// stdout is "listening PORT".
import { createServer } from "node:http";
import { Room, Server } from "@colyseus/core";
import { Encoder, schema, t } from "@colyseus/schema";
import { WebSocketTransport } from "@colyseus/ws-transport";
import { Rows, join, load, steer, step } from "../asteroids.mjs";

const rules = await load(process.argv[2]);

Encoder.BUFFER_SIZE = 64 * 1024;

// Fields that no browser draws are plain properties, set in spawn.
const Ship = schema({
  nick: t.string(), x: t.float32(), y: t.float32(), heading: t.float32(), thrust: t.boolean(), wait: t.uint16(),
  shield: t.uint16(), lives: t.uint8(), score: t.uint32(), best: t.uint32(),
}, "Ship");
const Rock = schema({ x: t.float32(), y: t.float32(), size: t.uint8() }, "Rock");
const Bullet = schema({ x: t.float32(), y: t.float32() }, "Bullet");
const World = schema({ level: t.uint16(), ships: t.map(Ship), rocks: t.map(Rock), bullets: t.map(Bullet) }, "World");

// rows is a collection of the rules over a map of the state.
const rows = (game, Row, map, max) =>
  new Rows(game, max, () => new Row(), (row) => map.set(String(row.id), row), (row) => map.delete(String(row.id)));

class Asteroids extends Room {
  onCreate() {
    this.maxClients = 4;
    this.patchRate = 1000 / 15;
    this.autoDispose = true;
    const state = new World();
    state.level = 0;
    this.state = state;
    this.game = {
      next: 1, dt: 1 / 30, tick: 0, lull: 45,
      get level() { return state.level; },
      set level(v) { state.level = v; },
    };
    this.game.players = rows(this.game, Ship, state.ships, 8);
    this.game.rocks = rows(this.game, Rock, state.rocks, 64);
    this.game.bullets = rows(this.game, Bullet, state.bullets, 64);
    this.ships = new Map();
    this.onMessage("steer", (client, command) => {
      const ship = this.ships.get(client.sessionId);
      if (ship) steer(this.game, rules, ship, command);
    });
    this.setSimulationInterval(() => step(this.game, rules), 1000 / 30);
  }

  onJoin(client) {
    this.ships.set(client.sessionId, join(this.game));
  }

  onLeave(client) {
    this.ships.get(client.sessionId)?.remove();
    this.ships.delete(client.sessionId);
  }
}

const http = createServer();
const server = new Server({ transport: new WebSocketTransport({ server: http, pingInterval: 0 }), greet: false });
server.define("asteroids", Asteroids);
await server.listen(0, "127.0.0.1");
console.log("listening", http.address().port);
process.on("SIGTERM", () => process.exit(0));
