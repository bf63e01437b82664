export const SUITS = ["clubs", "diamonds", "hearts", "spades"];
export const HAND = 5;
export const TURN = 150; // ticks
export const Phase = Object.freeze({ WAITING: 0, PLAYING: 1, DONE: 2 });

export const suit = (face) => Math.floor(face / 13);
export const rank = (face) => face % 13;

export function fits(face, top) {
  return suit(face) === suit(top) || rank(face) === rank(top) || rank(face) === 7;
}

export function points(face) {
  const r = rank(face);
  switch (true) {
    case r === 0: return 11;
    case r >= 9: return 10;
    default: return r + 1;
  }
}
