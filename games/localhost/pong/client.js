// Front-end code that is bundled into the library as gamehoster.game: the
// table's measures, so that the page draws what the rules play on.
import { WIDTH, HEIGHT, PADDLE, INSET, BALL } from "./table.js";

export * as hud from "./_shared/hud.js";

export const table = { width: WIDTH, height: HEIGHT, paddle: PADDLE, inset: INSET, ball: BALL };
