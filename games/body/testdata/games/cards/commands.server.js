import { fits, points, Phase } from "./deck.js";
import { deal, pass, nextAfter } from "./table.js";

export function play(player, { card }) {
  if (game.phase !== Phase.PLAYING || game.turn !== player) return;
  if (card?.owner !== player) return;
  if (!fits(card.face, game.top)) {
    player.hint = "that does not fit";
    return;
  }
  game.top = card.face;
  card.remove();
  if (--player.cards === 0) return win(player);
  pass(nextAfter(player));
}

function win(player) {
  let sum = 0;
  for (const c of game.cards) {
    if (c.owner !== player) sum += points(c.face);
  }
  player.score += sum;

  game.winner = player.name;
  game.phase = Phase.DONE;
  game.timer = 50;
}

export function draw(player) {
  if (game.turn !== player) return;
  if (game.drawn) {
    pass(nextAfter(player));
  } else {
    game.drawn = true;
    deal(player);
  }
}

export function say(player, command) {
  if (command.word === "") return;
  for (const p of game.players) {
    if (p !== player) p.hint = command.word;
  }
}
