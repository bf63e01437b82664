import { HAND, TURN, Phase } from "./deck.js";

export function shuffle() {
  for (const p of game.piles) p.remove();
  for (let face = 0; face < 52; face++) {
    const p = game.piles.spawn();
    if (p) p.face = face;
  }
}

export function take() {
  const n = Math.floor(serverRandom() * game.piles.count);
  let i = 0;
  for (const p of game.piles) {
    if (i++ === n) {
      const { face } = p;
      p.remove();
      return face;
    }
  }
  return -1;
}

export function deal(player, n = 1) {
  if (!player) return;
  for (let i = 0; i < n; i++) {
    const face = take();
    if (face < 0) return;
    const card = game.cards.spawn(player);
    if (!card) return;
    card.face = face;
    card.fresh = true;
    card.order = player.cards++;
  }
}

export function nextAfter(player) {
  if (!player) return null;
  let first = null, next = null;
  for (const p of game.players) {
    first ??= p;
    if (p.seat > player.seat && (!next || p.seat < next.seat)) next = p;
    if (p.seat < first.seat) first = p;
  }
  return next ?? first;
}

export function pass(to) {
  game.turn = to;
  game.timer = TURN;
  game.drawn = false;
  for (const p of game.players) p.hint = p === to ? "your turn" : "";
}

export function begin() {
  shuffle();
  for (const c of game.cards) c.remove();
  for (const p of game.players) {
    p.cards = 0;
    deal(p, HAND);
  }
  game.top = take();
  game.phase = Phase.PLAYING;
  game.round += 1;
  for (const p of game.players) {
    pass(p);
    break;
  }
}
