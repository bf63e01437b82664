// The ball and the score. A point, a match or a missing player puts the ball
// back to the middle, where it waits for the pause to end.
import { WIDTH, HEIGHT, PADDLE, BALL, face } from "./table.js";

const FIRST_SPEED = 460; // units a second
const LAST_SPEED = 1250;
const FASTER = 1.06; // with every return
const STEEPEST = 1.05; // radians off the level, from a paddle's very end
const POINTS = 9;
const SERVE_TICKS = 75;
const CHEER_TICKS = 300;

export function update() {
  if (game.players.count < 2) {
    centre(SERVE_TICKS);
    return;
  }
  if (game.pause > 0) {
    game.pause--;
    if (game.pause === 0) serve();
    return;
  }
  const from = game.ballX;
  game.ballX += game.vx * game.dt;
  game.ballY += game.vy * game.dt;
  walls();
  for (const player of game.players) paddle(player.side, player.y, from);
  if (game.ballX < -BALL) point(1);
  else if (game.ballX > WIDTH + BALL) point(0);
}

function centre(pause) {
  game.ballX = WIDTH / 2;
  game.ballY = HEIGHT / 2;
  game.vx = 0;
  game.vy = 0;
  game.rally = 0;
  game.pause = pause;
}

// serve sends the ball towards the side that lost the last point.
function serve() {
  if (game.winner >= 0) {
    game.winner = -1;
    for (const player of game.players) player.score = 0;
  }
  game.speed = FIRST_SPEED;
  send(game.serving === 0 ? -1 : 1, (random() - 0.5) * 1.2);
}

function send(way, angle) {
  game.vx = way * Math.cos(angle) * game.speed;
  game.vy = Math.sin(angle) * game.speed;
}

function walls() {
  if (game.ballY < BALL && game.vy < 0) {
    game.ballY = 2 * BALL - game.ballY;
    game.vy = -game.vy;
  } else if (game.ballY > HEIGHT - BALL && game.vy > 0) {
    game.ballY = 2 * (HEIGHT - BALL) - game.ballY;
    game.vy = -game.vy;
  }
}

// paddle returns a ball that crossed the side's line in this tick, the steeper
// the further from the paddle's middle it was met.
function paddle(side, y, from) {
  const line = face(side);
  const way = side === 0 ? -1 : 1;
  const before = (from - line) * way + BALL;
  const now = (game.ballX - line) * way + BALL;
  if (game.vx * way <= 0 || before > 0 || now < 0) return;
  const off = (game.ballY - y) / (PADDLE / 2 + BALL);
  if (off < -1 || off > 1) return;
  game.rally++;
  game.speed = Math.min(game.speed * FASTER, LAST_SPEED);
  game.ballX = line - way * BALL;
  send(-way, off * STEEPEST);
}

function point(side) {
  centre(SERVE_TICKS);
  game.serving = 1 - side;
  for (const player of game.players) {
    if (player.side !== side) continue;
    player.score++;
    if (player.score >= POINTS) {
      game.winner = side;
      game.pause = CHEER_TICKS;
    }
  }
}
