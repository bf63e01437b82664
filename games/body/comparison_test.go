package body_test

import (
	"testing"

	"github.com/tetratelabs/wazero"
)

// TestBitsAgainstZero compares masked bits with 0 on either side, which wazero makes
// one instruction of, on amd64 once of the wrong meaning.
func TestBitsAgainstZero(t *testing.T) {
	def := define(t, "instance n:u32\nplayer 3 x:u8\nunit units 5 f:f64:shared k:i32:shared\n")
	for _, test := range []string{
		"0 > (unit.f & 1)", "(unit.f & 1) < 0", "0 >= (unit.k & 1)", "(unit.k & 1) <= 0",
		"0 < (unit.k & 3)", "0 <= (unit.k & -2)", "0 > (unit.k & -2147483648)", "none > (unit.k & 1)", "(unit.k & 1) > none",
	} {
		text := `
-- instance.server.js --
export function start() {
  for (let i = 0; i < 3; i++) {
    const u = game.units.spawn();
    if (u) {
      u.f = serverRandom() * 11;
      u.k = u.f - 5;
    }
  }
}
-- unit.js --
export function update(unit) {
  const none = unit.id > 0 ? 0 : 1;
  if (` + test + `) {
    unit.k = unit.k * 3 + none;
  } else {
    switch (0) {
      case 1:
        break;
      default:
        break;
      case unit.f:
    }
    unit.f += 1.25;
  }
}
`
		p := compile(t, def, text)
		r := record(def, p, 40, 1, idle)
		agree(t, test, 1, replayed(t, r, wazero.NewRuntimeConfigCompiler()), replayed(t, r, wazero.NewRuntimeConfigInterpreter()))
		compareTwin(t, def, bodies(text), 40, idle)
	}
}
