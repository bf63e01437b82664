// Camps stand in a row, and movers circle around theirs. Each player stands in the
// middle of five camps and sees so far: fifty movers, other ones than its neighbours.
export const CAMPS = 104;
export const SPACING = 10;
export const MOVERS = 10; // of a camp
export const ORBIT = 2;
export const SIGHT = 25;
