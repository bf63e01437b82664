import { ProtocolError } from "./errors";
import { TagCommands, TagDelta, TagEnter, TagKeyframe, TagLeave, TagSnapshot } from "./messages";
import { Reader } from "./reader";

const order = [TagLeave, TagEnter, TagCommands, TagKeyframe, TagDelta];

/**
 * The messages of one send tick, gathered until its delta or its snapshot has
 * come, which is when they may be applied. Each reader stands behind the tick.
 */
export class SendTick {
	tick = 0;
	leave: Reader | null = null;
	enter: Reader | null = null;
	commands: Reader | null = null;
	keyframe: Reader | null = null;
	delta: Reader | null = null;
	snapshot: Reader | null = null;
	private reached = -1;

	clear(): void {
		this.leave = this.enter = this.commands = this.keyframe = this.delta = this.snapshot = null;
		this.reached = -1;
	}

	/** Takes one more message, its reader standing behind the tag. True when the send tick is complete. */
	add(tag: number, r: Reader): boolean {
		const place = order.indexOf(tag);
		const tick = r.u32();
		if (tag === TagSnapshot ? this.reached >= 0 : place <= this.reached || (this.reached >= 0 && tick !== this.tick)) {
			throw new ProtocolError("messages of a send tick are out of order");
		}
		this.tick = tick;
		this.reached = place;
		switch (tag) {
			case TagLeave:
				this.leave = r;
				break;
			case TagEnter:
				this.enter = r;
				break;
			case TagCommands:
				this.commands = r;
				break;
			case TagKeyframe:
				this.keyframe = r;
				break;
			case TagDelta:
				this.delta = r;
				return true;
			case TagSnapshot:
				this.snapshot = r;
				return true;
			default:
				throw new ProtocolError("unknown message tag " + tag);
		}
		return false;
	}
}
