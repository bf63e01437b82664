// Asteroids for servers in Node: the rules, from the files of the sample game, over plain
// objects. A server says what its rows are.
import { pathToFileURL } from "node:url";

globalThis.random = Math.random;

// load imports the rules from their folder.
export async function load(folder) {
  const rules = (file) => import(new URL(file, pathToFileURL(`${folder}/`)).href);
  const [player, rock, bullet, instance, commands] =
    await Promise.all(["player.js", "rock.js", "bullet.js", "instance.js", "commands.js"].map(rules));
  return { player, rock, bullet, instance, commands };
}

// Rows is a collection as the rules know them. make() gives a new row; added and dropped
// are told of those that come and go.
export class Rows {
  constructor(game, max, make, added = () => {}, dropped = () => {}) {
    Object.assign(this, { game, max, make, added, dropped, list: [] });
  }
  get count() { return this.list.length; }
  [Symbol.iterator]() { return this.list[Symbol.iterator](); }
  spawn(owner) {
    if (this.list.length === this.max) return null;
    const row = this.make();
    row.id = this.game.next++;
    row.owner = owner;
    row.vx = row.vy = 0;
    row.gone = false;
    row.remove = () => this.drop(row);
    this.added(row);
    this.list.push(row);
    return row;
  }
  drop(row) {
    if (row.gone) return;
    row.gone = true;
    this.list = this.list.filter((r) => r !== row);
    this.dropped(row);
  }
}

// step runs one tick of a game with players, rocks and bullets.
export function step(game, rules) {
  globalThis.game = game;
  game.tick++;
  const parts = [[game.players, rules.player], [game.rocks, rules.rock], [game.bullets, rules.bullet]].map(([rows, body]) => [rows.list, body]);
  for (const [list, body] of parts) {
    for (const row of list) if (!row.gone) body.update(row);
  }
  rules.instance.update();
}

// steer runs a player's command.
export function steer(game, rules, ship, command) {
  globalThis.game = game;
  rules.commands.steer(ship, command);
}

// join makes a player's ship.
export function join(game) {
  const ship = game.players.spawn(null);
  return Object.assign(ship, { nick: "Pilot", x: 0, y: 0, heading: 0, thrust: false, wait: 15, shield: 0, lives: 3, score: 0, best: 0, turn: 0, fire: false, cooldown: 0 });
}
