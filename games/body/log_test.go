package body_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"gamehoster/games/body"
)

// logged are the lines that the last tick or start of a world wrote, and how many
// did not fit.
func (w *world) logged() (lines []body.LogLine, lost uint32) {
	w.t.Helper()
	at, used := uint32(w.mod.ExportedGlobal("log").Get()), uint32(w.mod.ExportedGlobal("log_used").Get())
	area, ok := w.mod.Memory().Read(at, used)
	if !ok {
		w.t.Fatal("the log is outside the memory")
	}
	lines, err := w.prog.ReadLog(area)
	if err != nil {
		w.t.Fatal(err)
	}
	return lines, uint32(w.mod.ExportedGlobal("log_lost").Get())
}

const logTypes = `
instance n:f64 title:str30:sent=ten
player 3 x:f32 nick:str20:shared on:bool
`

const logText = `
-- instance.server.js --
export function start() { log("started"); game.title = "ünï"; }
-- instance.js --
const SPEED = { slow: 0.1 };
export function update() {
  game.n = game.n * -3.7 + 1e-7 * game.tick;
  log(game.n, game.n * 1e20, game.n ** 2 * 1e300, game.n / 1e9, SPEED.slow, -0, 5, 1e21, 123456789012345680000, 1e-7, 0.000001, NaN, -1 / 0, 1 / 3);
  if (game.tick > 40) game.n = 0;
}
-- player.server.js --
function rename(p) { p.nick = "after"; return p.id; }
export function update(p) {
  p.nick = p.id === 3 ? "three" : "";
  log(` + "`${p.nick} ${rename(p)} is ${p.nick}${p.on}, x ${p.x += 0.1}`" + `, "and", p.nick.length, game.title, true);
  p.on = !p.on;
}
`

// TestLog compares what bodies log with what Node makes of the same.
func TestLog(t *testing.T) {
	def := define(t, logTypes)
	p := compile(t, def, logText)
	drive := func(tick int) (in input) {
		if tick == 2 {
			in = joinAll(3)
		}
		return in
	}
	const ticks = 60
	w := newWorld(t, def, p, worldOptions{})
	var got []string
	take := func() {
		lines, lost := w.logged()
		if lost > 0 {
			t.Errorf("%d lines lost", lost)
		}
		for _, l := range lines {
			got = append(got, l.Text)
		}
	}
	take()
	for i := 1; i <= ticks; i++ {
		w.must(drive(i))
		take()
	}
	want := twinLogged(t, def, p, bodies(logText), worldOptions{}, ticks, drive)
	if len(got) != len(want) {
		t.Fatalf("%d lines, Node has %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("line %d\n%s\nNode has\n%s", i, got[i], want[i])
		}
	}
}

// TestLogPlaces checks where lines say they come from, that the area is bounded
// and begins anew with each tick, and that a trap keeps what was written before it.
func TestLogPlaces(t *testing.T) {
	const text = `
-- player.js --
export function update(p) {
  if (p.x > 2) { log("before"); while (true) {} }
  if (p.x > 1) for (let i = 0; i < 1000; i++) log("many", p.nick);
  else log(p.x);
  p.x++;
}
`
	def := define(t, logTypes)
	p := compile(t, def, text)
	w := newWorld(t, def, p, worldOptions{})
	w.must(joinAll(2))
	w.must(input{})
	lines, lost := w.logged()
	if len(lines) != 2 || lost != 0 || lines[1].Actor != 3 || p.Bodies[lines[1].Body].Name != "player.update" || lines[1].At.String() != "player.js:4:8" {
		t.Errorf("got %+v, %d lost", lines, lost)
	}
	w.must(input{})
	w.must(input{})
	lines, lost = w.logged()
	if size := 16 + 1; len(lines) != body.LogAreaSize/size || int(lost)+len(lines) != 2000 || lines[0].Text != "many " {
		t.Errorf("%d lines, %d lost", len(lines), lost)
	}
	if err := w.tick(input{}); err == nil {
		t.Fatal("no fault")
	}
	if lines, _ = w.logged(); len(lines) != 1 || lines[0].Text != "before" {
		t.Errorf("before the fault: %+v", lines)
	}
	client := newWorld(t, def, p, worldOptions{client: true})
	if client.mod.ExportedGlobal("log") != nil || client.mod.ExportedGlobal("log_used") != nil || strings.Contains(string(p.Client), "log") {
		t.Error("the client's module has a log")
	}
}

func TestMalformedLog(t *testing.T) {
	p := compile(t, define(t, logTypes), "-- instance.js --\nexport function update() { log(game.n, game.title); }\n")
	record := func(size, site uint32, values ...byte) []byte {
		b := binary.LittleEndian.AppendUint32(nil, size)
		b = binary.LittleEndian.AppendUint32(b, site)
		return append(append(b, make([]byte, 8)...), values...)
	}
	number := make([]byte, 8)
	good := record(16+8+4, 0, append(number, 3, 'a', 'b', 'c')...)
	if lines, err := p.ReadLog(append(good, good...)); err != nil || len(lines) != 2 || lines[1].Text != "0 abc" {
		t.Fatalf("%+v, %v", lines, err)
	}
	for name, b := range map[string][]byte{
		"short":          good[:15],
		"no such log":    record(28, 1, good[16:]...),
		"too long":       record(29, 0, good[16:]...),
		"no header":      record(15, 0, good[16:]...),
		"a str cut":      record(27, 0, good[16:27]...),
		"a number cut":   record(20, 0, 0, 0, 0, 0),
		"bytes too many": record(29, 0, append(good[16:28:28], 0)...),
	} {
		if _, err := p.ReadLog(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
