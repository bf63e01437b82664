// How movers move. Every kind of object that is moved imports a copy of this module
// for itself, by a query behind its name: what the JIT learns of the one is then not
// in the code of the others.
const SIDE = 400, SPEED = 40, DT = 1 / 20, ORBIT = 2;

export function walk(list) {
  for (const m of list) {
    m.heading += 0.1;
    m.x = Math.min(SIDE, Math.max(0, m.x + Math.cos(m.heading) * SPEED * DT));
    m.y = Math.min(SIDE, Math.max(0, m.y + Math.sin(m.heading) * SPEED * DT));
  }
}

export function circle(list) {
  for (const m of list) {
    m.heading += 0.1;
    m.x = m.camp + Math.cos(m.heading) * ORBIT;
    m.y = Math.sin(m.heading) * ORBIT;
  }
}
