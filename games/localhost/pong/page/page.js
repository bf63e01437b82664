// Pong in a browser: connect, send keys and pointer, draw, and blip about what
// changed. The rules are in the game's folder; nothing here decides anything.
import { controls } from "./controls.js";
import { scene, tint } from "./scene.js";
import * as sound from "./sound.js";

const { hud, table } = gamehoster.game;
const canvas = document.getElementById("view");
const screen = scene(canvas);
const nothing = { players: [], instance: { ballX: table.width / 2, ballY: table.height / 2, speed: 0, pause: 1 } };
let paint = (now, dt) => screen.draw(nothing, dt, []);

let before = performance.now();
requestAnimationFrame(function frame(now) {
  requestAnimationFrame(frame);
  const dt = Math.min((now - before) / 1000, 0.1);
  before = now;
  paint(now, dt);
});

const pan = (x) => (x / table.width) * 1.4 - 0.7;

function play(game) {
  globalThis.game = game; // for the curious at the console

  let ready = false;
  const hands = controls(canvas, {
    move: (dir) => ready && game.send.move({ dir }),
    aim: (y) => ready && game.send.aim({ y }),
    y: screen.y,
  });
  const watch = watcher(game);
  const write = hud.figures(game);
  game.on("ready", () => {
    ready = true;
    watch.reset();
    // A key may have been down since before.
    if (game.me) game.send.move({ dir: hands.held() });
    paint = (now, dt) => {
      hands.flush(now);
      game.frame(now);
      watch.look();
      screen.draw(game, dt, ready ? headline(game) : []);
      write(now);
    };
  });
  game.on("reconnecting", () => { ready = false; });
  game.on("closed", () => { ready = false; });
}

// headline is the text over the table: who is missing, who won, when it starts.
function headline(game) {
  const { pause, winner } = game.instance;
  const players = Array.from(game.players);
  if (players.length < 2) {
    return [
      { text: "Waiting for a second player", size: 38 },
      { text: "open this page once more, anywhere", size: 20, alpha: 0.6 },
    ];
  }
  if (winner >= 0) {
    const won = players.find((player) => player.side === winner);
    const text = won?.id === game.me?.id ? "You win!" : `${won?.nick ?? "Nobody"} wins`;
    return [{ text, size: 64, colour: tint(winner) }, { text: "next match in a moment", size: 20, alpha: 0.6 }];
  }
  if (pause > 0) return [{ text: "Ready", size: 40, alpha: Math.min(1, pause / 30) }];
  return [];
}

// watcher finds what happened to the ball and the score between two frames.
function watcher(game) {
  let last = null;

  function compare(was, is) {
    if (is.rally > was.rally) {
      const side = is.x < table.width / 2 ? 0 : 1;
      screen.burst(is.x, is.y, 18, side === 0 ? 1 : -1, tint(side));
      screen.jolt(2 + is.rally / 4);
      sound.paddle(is.rally, pan(is.x));
    } else if (was.vy * is.vy < 0 && was.vx * is.vx > 0) {
      screen.burst(is.x, is.y, 6, 0, "#ffffff");
      sound.wall(pan(is.x));
    }
    for (const side of [0, 1]) {
      if (!(is.scores[side] > was.scores[side])) continue;
      const mine = game.me?.side === side;
      screen.burst(side === 0 ? table.width : 0, was.y, 60, side === 0 ? -1 : 1, tint(side));
      screen.light(tint(side));
      screen.jolt(14);
      if (is.winner >= 0 && was.winner < 0) sound.match(mine);
      else sound.point(mine);
    }
  }

  return {
    look() {
      const { ballX: x, ballY: y, vx, vy, rally, winner } = game.instance;
      const is = { x, y, vx, vy, rally, winner, scores: [] };
      for (const player of game.players) is.scores[player.side] = player.score;
      if (last) compare(last, is);
      last = is;
    },
    // reset forgets the last frame: what is new after a reconnect did not happen just now.
    reset() {
      last = null;
    },
  };
}

hud.begin("gamehoster.pong", play);
