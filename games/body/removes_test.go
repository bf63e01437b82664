package body_test

import (
	"slices"
	"testing"
)

// The engine announces removals of a type's objects only if a server body can make
// them, by whatever helper.
func TestServerRemoves(t *testing.T) {
	def := define(t, `
instance wave:u16:shared
player 8 x:f32:shared
rock rocks 32 x:f32:shared
bullet bullets 32 x:f32:shared
coin coins 32 x:f32:shared
`)
	p := compile(t, def, `
-- rock.js --
export function update(rock) { if (rock.x > 5) rock.remove(); }
-- bullet.server.js --
import { spent } from "./helper.js";
export function update(bullet) { spent(bullet); }
-- coin.server.js --
export function update(coin) { coin.x = 2; }
-- helper.js --
export function spent(b) { if (b.x > 9) gone(b); }
function gone(b) { b.remove(); }
`)
	want := make([]bool, len(def.Types))
	want[def.Types[3].Index] = true
	if def.Types[3].Name != "bullet" || !slices.Equal(p.ServerRemoves, want) {
		t.Errorf("server bodies remove, by type: %v, not %v", p.ServerRemoves, want)
	}
}
