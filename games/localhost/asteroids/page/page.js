// Asteroids in a browser: connect, send the stick, draw what there is, and make
// noise about what changed. The rules are in the game's folder; nothing here
// decides anything.
import { board } from "./board.js";
import { controls } from "./controls.js";
import { scene } from "./scene.js";
import { watcher } from "./watcher.js";
import * as sound from "./sound.js";

const { colour, hud } = gamehoster.game;
const screen = scene(document.getElementById("view"));
const nothing = { players: [], entities: { rock: [], bullet: [] } };
let paint = (now, dt) => screen.draw(nothing, now, dt, []);

let before = performance.now();
requestAnimationFrame(function frame(now) {
  requestAnimationFrame(frame);
  const dt = Math.min((now - before) / 1000, 0.1);
  before = now;
  paint(now, dt);
});

function play(game) {
  globalThis.game = game; // for the curious at the console

  let stick = { turn: 0, thrust: false, fire: false };
  let ready = false;
  controls(document.getElementById("pads"), (next) => {
    stick = next;
    if (ready) game.send.steer(stick);
  });
  const watch = watcher(game, screen);
  const write = hud.figures(game);
  game.on("ready", () => {
    ready = true;
    watch.reset();
    // A key may have been down since before.
    if (game.me) game.send.steer(stick);
    paint = (now, dt) => {
      game.frame(now);
      watch.look(now, dt);
      sound.burn(ready && stick.thrust && game.me?.wait === 0);
      screen.draw(game, now, dt, headline(game, ready, watch.level(now)));
      scores(game);
      write(now);
    };
  });
  game.on("reconnecting", () => { ready = false; });
  game.on("closed", () => { ready = false; });
}

function scores(game) {
  const rows = Array.from(game.players, (player) => ({
    name: player.nick,
    colour: colour(player.id),
    note: "▲".repeat(player.lives),
    score: player.score,
    me: player.id === game.me?.id,
  }));
  board(rows.sort((a, b) => b.score - a.score));
}

// headline is the text in the middle: the level as it comes, one's own fate.
function headline(game, ready, level) {
  const lines = [];
  const { me } = game;
  if (level) lines.push(level);
  if (!ready || !me || me.wait === 0) return lines;
  if (me.lives === 0) {
    lines.push({ text: "GAME OVER", size: 64, tint: "#ff6b7d" });
    lines.push({ text: `${me.score} points, best ${me.best}`, size: 26 });
  }
  const seconds = Math.ceil(me.wait / 30);
  lines.push({ text: `next ship in ${seconds}`, size: 22, alpha: 0.7 });
  return lines;
}

hud.begin("gamehoster.asteroids", play);
