package diag

import (
	"strings"
	"testing"
)

func TestPositions(t *testing.T) {
	text := "one\r\n\ttwö x\n\nlast"
	s := NewSource("rock.js", []byte(text))
	for _, c := range []struct {
		at   string
		want string
		line string
	}{
		{"one", "rock.js:1:1", "one"},
		{"ne", "rock.js:1:2", "one"},
		{"\r", "rock.js:1:4", "one"},
		{"two", "", ""},
		{"twö", "rock.js:2:2", "\ttwö x"},
		{"x", "rock.js:2:6", "\ttwö x"}, // in code points, not bytes
		{"\nlast", "rock.js:3:1", ""},
		{"last", "rock.js:4:1", "last"},
	} {
		i := strings.Index(text, c.at)
		if i < 0 {
			continue
		}
		p := s.Position(i)
		if p.String() != c.want || s.Line(p.Line) != c.line {
			t.Errorf("%q: got %s %q, want %s %q", c.at, p, s.Line(p.Line), c.want, c.line)
		}
	}
	for offset, want := range map[int]string{-5: "rock.js:1:1", len(text): "rock.js:4:5", 1000: "rock.js:4:5"} {
		if got := s.Position(offset).String(); got != want {
			t.Errorf("offset %d: got %s, want %s", offset, got, want)
		}
	}
	if s.Line(0) != "" || s.Line(5) != "" {
		t.Error("there are lines that the text lacks")
	}
	if got := NewSource("a", nil).Position(0).String(); got != "a:1:1" {
		t.Errorf("an empty text begins at %s", got)
	}
	if NewSource("a", []byte(strings.Repeat("x", maxSourceLine+1))).Line(1) != "" {
		t.Error("a line of a minified file is shown")
	}
}

func TestRender(t *testing.T) {
	s := NewSource("player.js", []byte("export function update(player) {\n\tplayer.größe = y;\n}\n"))
	d := s.Diagnostic(Warning, strings.Index(s.text, "y;"), "there is no y")
	if want := "player.js:2:17: warning: there is no y"; d.String() != want {
		t.Errorf("got %s, want %s", d, want)
	}
	want := "player.js:2:17: warning: there is no y\n    \tplayer.größe = y;\n    \t               ^\n"
	if d.Render() != want {
		t.Errorf("got\n%swant\n%s", d.Render(), want)
	}
	whole := Diagnostic{Pos: Position{File: "player.js"}, Message: "is empty"}
	if got := whole.Render(); got != "player.js: is empty\n" {
		t.Errorf("got %q", got)
	}
	if got := (Position{File: "a", Line: 3}).String(); got != "a:3" {
		t.Errorf("got %s", got)
	}
}

func TestList(t *testing.T) {
	var l List
	l.Warnf(Position{"b.js", 2, 1}, "odd")
	if l.Failed() || l.Err() != nil {
		t.Error("a warning is an error")
	}
	l.Errorf(Position{"b.js", 1, 9}, "wrong %d", 1)
	l.Errorf(Position{"a.js", 7, 7}, "wrong %d", 2)
	l.Errorf(Position{"b.js", 1, 2}, "wrong %d", 3)
	l.Sort()
	want := "a.js:7:7: wrong 2\nb.js:1:2: wrong 3\nb.js:1:9: wrong 1\nb.js:2:1: warning: odd"
	if err := l.Err(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
