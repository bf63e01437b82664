// Asteroids as a Colyseus room: the same rules, from the files of the sample game, over
// a room's state. What browsers draw is in the state, nothing else, as one would write
// it; patches go out 15 times a second, the simulation runs 30 times. Its first line on
// stdout is "listening PORT".
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { Room, Server } from "@colyseus/core";
import { Encoder, schema, t } from "@colyseus/schema";
import { WebSocketTransport } from "@colyseus/ws-transport";

const rules = (file) => import(new URL(file, pathToFileURL(`${process.argv[2]}/`)).href);
const [player, rock, bullet, instance, commands] =
  await Promise.all(["player.js", "rock.js", "bullet.js", "instance.js", "commands.js"].map(rules));

Encoder.BUFFER_SIZE = 64 * 1024;

// Fields that no browser draws are plain properties, set in spawn.
const Ship = schema({
  nick: t.string(), x: t.float32(), y: t.float32(), heading: t.float32(), thrust: t.boolean(), wait: t.uint16(),
  shield: t.uint16(), lives: t.uint8(), score: t.uint32(), best: t.uint32(),
}, "Ship");
const Rock = schema({ x: t.float32(), y: t.float32(), size: t.uint8() }, "Rock");
const Bullet = schema({ x: t.float32(), y: t.float32() }, "Bullet");
const World = schema({ level: t.uint16(), ships: t.map(Ship), rocks: t.map(Rock), bullets: t.map(Bullet) }, "World");

// Rows is a collection as the rules know them, over a map of the state.
class Rows {
  constructor(game, Row, map, max) {
    this.game = game;
    this.Row = Row;
    this.map = map;
    this.max = max;
    this.list = [];
  }
  get count() { return this.list.length; }
  [Symbol.iterator]() { return this.list[Symbol.iterator](); }
  spawn(owner) {
    if (this.list.length === this.max) return null;
    const row = new this.Row();
    row.id = this.game.next++;
    row.owner = owner;
    row.vx = row.vy = 0;
    row.gone = false;
    row.remove = () => this.drop(row);
    this.map.set(String(row.id), row);
    this.list.push(row);
    return row;
  }
  drop(row) {
    if (row.gone) return;
    row.gone = true;
    this.list = this.list.filter((r) => r !== row);
    this.map.delete(String(row.id));
  }
}

globalThis.random = Math.random;

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
    this.game.players = new Rows(this.game, Ship, state.ships, 8);
    this.game.rocks = new Rows(this.game, Rock, state.rocks, 64);
    this.game.bullets = new Rows(this.game, Bullet, state.bullets, 64);
    this.ships = new Map();
    this.onMessage("steer", (client, command) => {
      const ship = this.ships.get(client.sessionId);
      globalThis.game = this.game;
      if (ship) commands.steer(ship, command);
    });
    this.setSimulationInterval(() => this.step(), 1000 / 30);
  }

  onJoin(client) {
    const ship = this.game.players.spawn(null);
    Object.assign(ship, { nick: "Pilot", x: 0, y: 0, heading: 0, thrust: false, wait: 15, shield: 0, lives: 3, score: 0, best: 0 });
    ship.turn = 0;
    ship.fire = false;
    ship.cooldown = 0;
    this.ships.set(client.sessionId, ship);
  }

  onLeave(client) {
    this.ships.get(client.sessionId)?.remove();
    this.ships.delete(client.sessionId);
  }

  step() {
    const g = globalThis.game = this.game;
    g.tick++;
    const parts = [[g.players, player], [g.rocks, rock], [g.bullets, bullet]].map(([rows, body]) => [rows.list, body]);
    for (const [list, body] of parts) {
      for (const row of list) if (!row.gone) body.update(row);
    }
    instance.update();
  }
}

const http = createServer();
const server = new Server({ transport: new WebSocketTransport({ server: http, pingInterval: 0 }), greet: false });
server.define("asteroids", Asteroids);
await server.listen(0, "127.0.0.1");
console.log("listening", http.address().port);
process.on("SIGTERM", () => process.exit(0));
