import { FirstProvisional, PlayerType } from "./layout";
import { type Collection, type ObjectView, rename } from "./objects";
import { type Plan, type Type, Linear, getNumber } from "./plan";
import type { Predicted } from "./predicted";
import type { World } from "./world";

/** A view whose object may go on as another one. */
interface Pair {
	view: ObjectView;
	id: number;
	distance: number;
}

/**
 * In a game with a view body existence is the server's, so what the viewer's own
 * bodies make has a provisional id, and another one in each prediction. When the
 * prediction is made anew, such an object is found again: as the one of the same
 * type and owner that is nearest, whether the server has announced it by now or it
 * is provisional still. Its view goes on under the new id, drawn from where it was,
 * so a page sees one shot from the key press to the end.
 *
 * Returns the id that each renamed view had, by its new one.
 */
export function handOver(plan: Plan, collections: readonly Collection[], predicted: Predicted): ReadonlyMap<number, number> {
	const before = new Map<number, number>();
	if (!plan.config.view) return before;
	for (const t of plan.types) {
		if (t.index <= PlayerType) continue;
		const all = collections[t.index];
		const orphans = all.list.filter((v) => v.id >= FirstProvisional);
		if (orphans.length === 0) continue;
		const pairs = nearest(t, orphans, all, predicted);
		for (const v of orphans) all.byId.delete(v.id);
		const taken = new Set<number>();
		const placed = new Set<ObjectView>();
		for (const p of pairs) {
			if (taken.has(p.id) || placed.has(p.view)) continue;
			taken.add(p.id);
			placed.add(p.view);
			before.set(p.id, p.view.id);
			rename(p.view, p.id);
		}
		for (const v of orphans) if (placed.has(v)) all.byId.set(v.id, v);
		// what found nothing keeps its place in the list, and leaves with the next frame
		all.list.sort((a, b) => a.id - b.id);
	}
	return before;
}

/** All pairs of an orphan and what it may go on as, nearest first. */
function nearest(t: Type, orphans: readonly ObjectView[], all: Collection, predicted: Predicted): Pair[] {
	const pairs: Pair[] = [];
	const is = predicted.draft;
	const was = predicted.oldDraft;
	for (let i = 0, n = is.count(t); i < n; i++) {
		const row = is.row(t, i);
		const id = is.id(row);
		if (id < FirstProvisional && all.byId.has(id)) continue;
		for (const view of orphans) {
			const from = was.find(t, view.id);
			if (from && was.owner(t, from) === is.owner(t, row)) pairs.push({ view, id, distance: apart(t, was, from, is, row) });
		}
	}
	return pairs.sort((a, b) => a.distance - b.distance);
}

/** The square of the distance between two objects, in what bodies say of where they are drawn. */
function apart(t: Type, a: World, rowA: number, b: World, rowB: number): number {
	let sum = 0;
	for (const f of t.smooth) if (f.smooth === Linear && !f.sent) sum += (getNumber(f, a.view, rowA) - getNumber(f, b.view, rowB)) ** 2;
	return sum;
}
