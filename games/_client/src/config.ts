/** The type of a field's value. A str has at most `len` bytes of UTF-8, a ref holds the id of an object of type `ref`. */
export type KindName = "bool" | "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "f32" | "f64" | "str" | "ref";

/** How a sent number travels: q = floor((clamp(v, min, max) - min) / step + 0.5) in `bytes` bytes. */
export interface QuantConfig {
	step: number;
	min: number;
	max: number;
	bytes: number;
}

export interface FieldConfig {
	name: string;
	kind: KindName;
	len?: number;
	ref?: number;
	sync: "sent" | "shared";
	audience: "all" | "owner";
	smooth?: "linear" | "angle";
	/** Distance past which a change shows at once; absent or 0 for never. */
	snap?: number;
	quant?: QuantConfig;
	default?: number | boolean | string;
	/** In a row. */
	offset: number;
}

export interface TypeConfig {
	name: string;
	/** Name of the collection; empty for the instance. */
	plural: string;
	max: number;
	owned: boolean;
	/** Offset of the type's counts in a block; -1 for the instance. */
	counts: number;
	/** Offset of the first row in a block. */
	rows: number;
	stride: number;
	/** Offset of the owner in a row; -1 where there is none. */
	owner: number;
	fields: FieldConfig[];
}

export interface CommandFieldConfig {
	name: string;
	kind: KindName;
	len?: number;
	ref?: number;
	min?: number;
	max?: number;
	/** In a command record. */
	offset: number;
}

export interface CommandConfig {
	name: string;
	/** Whether it has a shared handler, which the client runs too. */
	shared: boolean;
	fields: CommandFieldConfig[];
}

/** What the build knows of a game and bakes into its library. Fields and bodies of the server are not in it. */
export interface GameConfig {
	protocol: number;
	name: string;
	/** Definition hash, 16 hex digits. */
	hash: string;
	/** Hz. */
	tickRate: number;
	/** Hz; divides tickRate. */
	sendRate: number;
	/** Ticks that a late command can rewind. */
	timelineDepth: number;
	/** Whether a view body decides what a viewer sees. */
	view: boolean;
	layout: { size: number; commandStride: number };
	/** 0 the instance, 1 the player, then the entity types. */
	types: TypeConfig[];
	commands: CommandConfig[];
}
