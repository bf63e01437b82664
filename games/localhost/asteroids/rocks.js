// Making and breaking rocks, for every body that does either. Sizes are 1 small,
// 2 medium, 3 big; SPEED and POINTS go by them.
const SPEED = [0, 130, 90, 55];
const POINTS = [0, 100, 50, 20];

// add puts a rock of a size somewhere, flying in a random direction. When the
// world is full of rocks there is simply one less.
export function add(x, y, size) {
  const rock = game.rocks.spawn();
  if (!rock) return;
  const angle = random() * 2 * Math.PI;
  const speed = SPEED[size] * (0.6 + 0.8 * random());
  rock.x = x;
  rock.y = y;
  rock.size = size;
  rock.vx = Math.cos(angle) * speed;
  rock.vy = Math.sin(angle) * speed;
}

// shatter removes a rock, leaves two smaller ones where it was, and returns
// what it is worth.
export function shatter(rock) {
  const x = rock.x;
  const y = rock.y;
  const size = rock.size;
  rock.remove();
  if (size > 1) {
    add(x, y, size - 1);
    add(x, y, size - 1);
  }
  return POINTS[size];
}
