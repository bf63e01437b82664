/** A message that no correct server sends. Nothing of it is applied. */
export class ProtocolError extends Error {
	override name = "ProtocolError";
}

/**
 * The viewer lacks something that a correct server took for granted: an object,
 * a delta's base or a past state. A snapshot mends it.
 */
export class ResyncError extends Error {
	override name = "ResyncError";
}

/** The game's own compiled code ended in a way that skipping a body cannot mend. */
export class GameError extends Error {
	override name = "GameError";
}
