// The state as change-tracked @colyseus/schema objects: every instance is a state
// with an encoder of its own, whose changes are encoded, or just discarded, every
// second tick, as a server that sends at half the tick rate does.
import { Encoder, schema, t } from "@colyseus/schema";

const builders = {
  bool: () => t.boolean(), i8: () => t.int8(), u8: () => t.uint8(), i16: () => t.int16(), u16: () => t.uint16(),
  i32: () => t.int32(), u32: () => t.uint32(), f32: () => t.float32(), f64: () => t.float64(), str: () => t.string(),
};

let encoding = false, bytes = 0;
const rowClasses = new Map();

function remove() {
  if (this.removed) return;
  this.removed = true;
  this.home.drop(this);
}

export const tracker = {
  // rowClass is the class of a type's tracked objects; what bodies need besides
  // is in untracked properties.
  rowClass(type) {
    const fields = {};
    for (const f of type.fields) {
      fields[f.name] = builders[f.kind]().default(f.kind === "str" ? f.text : f.kind === "bool" ? f.default !== 0 : f.default);
    }
    if (type.index === 0) for (const other of rowClasses.values()) fields["list" + other.type.index] = t.array(other.Tracked);
    const Tracked = schema(fields, type.name);
    rowClasses.set(type.index, { type, Tracked });
    if (type.index === 0) return Tracked;
    return function make(home, id, owner) {
      const row = new Tracked();
      row.home = home;
      row.id = id;
      row.removed = false;
      row.remove = remove;
      if (type.owned) row.owner = owner;
      return row;
    };
  },
  list: (game, type) => game["list" + type.index],
  added(list, row) { list.push(row); },
  // removed is called where a tick removed some of the list's rows.
  removed(list) {
    for (let i = list.length - 1; i >= 0; i--) if (list[i].removed) list.splice(i, 1);
  },
  ticked(games) {
    for (const g of games) {
      if (g.tick % 2 !== 0) continue;
      g.encoder ??= new Encoder(g);
      if (encoding) bytes += g.encoder.encode().byteLength;
      g.encoder.discardChanges();
    }
  },
  encode(on) { encoding = on; },
};
