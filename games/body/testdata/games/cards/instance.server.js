import * as table from "./table.js";
import { Phase } from "./deck.js";

export function update() {
  switch (game.phase) {
    case Phase.WAITING:
      if (game.players.count >= 2) table.begin();
      break;
    case Phase.PLAYING:
      if (game.players.count < 2) { game.phase = Phase.WAITING; break; }
      if (!game.turn) { for (const p of game.players) { table.pass(p); break; } }
      if (--game.timer === 0) {
        table.deal(game.turn);
        table.pass(table.nextAfter(game.turn));
      }
      break;
    case Phase.DONE:
      if (game.timer-- === 0) game.phase = Phase.WAITING;
      break;
    default:
      game.phase = Phase.WAITING;
  }
}
