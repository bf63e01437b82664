// A rigid body that flies, bounces off the ground and walls, slides, spins and comes to
// rest. Bodies do not meet each other: what counts here is how they move.
const GRAVITY = 20;
const BOUNCE = 0.5;
const GRIP = 0.92; // of the speed along the ground stays, every tick there
const WALL = 20;
const SLOW = 0.12;

export function fall(cube) {
  cube.vz -= GRAVITY * game.dt;
  cube.x += cube.vx * game.dt;
  cube.y += cube.vy * game.dt;
  cube.z += cube.vz * game.dt;
  if (cube.z < 0) {
    cube.z = 0;
    cube.vz = cube.vz < -1 ? -cube.vz * BOUNCE : 0;
    cube.vx *= GRIP;
    cube.vy *= GRIP;
    cube.wx *= GRIP;
    cube.wy *= GRIP;
    cube.wz *= GRIP;
  }
  if (Math.abs(cube.x) > WALL) {
    cube.x = Math.sign(cube.x) * WALL;
    cube.vx = -cube.vx * BOUNCE;
  }
  if (Math.abs(cube.y) > WALL) {
    cube.y = Math.sign(cube.y) * WALL;
    cube.vy = -cube.vy * BOUNCE;
  }
  spin(cube);
}

// slow tells whether there is no more to see of a movement.
export function slow(cube) {
  return cube.z === 0 && Math.abs(cube.vx) + Math.abs(cube.vy) + Math.abs(cube.vz) < SLOW;
}

// kick throws a cube away from a place.
export function kick(cube, x, y, force) {
  const dx = cube.x - x;
  const dy = cube.y - y;
  const far = Math.sqrt(dx * dx + dy * dy) + 0.01;
  cube.vx += dx / far * force * (0.5 + random());
  cube.vy += dy / far * force * (0.5 + random());
  cube.vz += force * random();
  cube.wx += (random() - 0.5) * 12;
  cube.wy += (random() - 0.5) * 12;
  cube.wz += (random() - 0.5) * 12;
}

function spin(cube) {
  const h = game.dt / 2;
  const x = cube.qx + h * (cube.wx * cube.qw + cube.wy * cube.qz - cube.wz * cube.qy);
  const y = cube.qy + h * (cube.wy * cube.qw + cube.wz * cube.qx - cube.wx * cube.qz);
  const z = cube.qz + h * (cube.wz * cube.qw + cube.wx * cube.qy - cube.wy * cube.qx);
  const w = cube.qw - h * (cube.wx * cube.qx + cube.wy * cube.qy + cube.wz * cube.qz);
  const n = 1 / Math.sqrt(x * x + y * y + z * z + w * w);
  cube.qx = x * n;
  cube.qy = y * n;
  cube.qz = z * n;
  cube.qw = w * n;
  show(cube);
}

// show puts the orientation where it is sent from: the three smallest parts of the
// quaternion, and which the largest is, which follows from them.
function show(cube) {
  const x = Math.abs(cube.qx);
  const y = Math.abs(cube.qy);
  const z = Math.abs(cube.qz);
  const w = Math.abs(cube.qw);
  if (x >= y && x >= z && x >= w) {
    const s = cube.qx < 0 ? -1 : 1;
    put(cube, 0, cube.qy * s, cube.qz * s, cube.qw * s);
  } else if (y >= z && y >= w) {
    const s = cube.qy < 0 ? -1 : 1;
    put(cube, 1, cube.qx * s, cube.qz * s, cube.qw * s);
  } else if (z >= w) {
    const s = cube.qz < 0 ? -1 : 1;
    put(cube, 2, cube.qx * s, cube.qy * s, cube.qw * s);
  } else {
    const s = cube.qw < 0 ? -1 : 1;
    put(cube, 3, cube.qx * s, cube.qy * s, cube.qz * s);
  }
}

function put(cube, largest, a, b, c) {
  cube.largest = largest;
  cube.a = a;
  cube.b = b;
  cube.c = c;
}
