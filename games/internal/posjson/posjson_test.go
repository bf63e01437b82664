package posjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// plain gives a value the shape in which encoding/json has it. The tests' keys
// stand once in an object, so nothing is lost.
func plain(v *Value) any {
	switch v.Kind {
	case Bool:
		return v.Bool
	case Number:
		return v.Number
	case String:
		return v.Text
	case Array:
		list := []any{}
		for _, item := range v.Items {
			list = append(list, plain(item))
		}
		return list
	case Object:
		object := map[string]any{}
		for _, m := range v.Members {
			object[m.Key] = plain(m.Value)
		}
		return object
	}
	return nil
}

var good = []string{
	`null`, `true`, `false`, `0`, `-0`, `1.5e3`, `1E-2`, `-12.25`, `""`, `"a"`, `"é\u00e9\ud83d\ude00\n\t\"\\\/\b\f\r"`, `[]`, `{}`,
	` [ 1 , [ 2 , { } ] , "x" ] `, `{"b":1,"a":{"c":[null,true]},"":2}`, "\n{\r\n\t\"a\" : 1}\n",
}

func TestSameAsStandardLibrary(t *testing.T) {
	for _, text := range good {
		v, errs := Parse([]byte(text))
		if len(errs) > 0 {
			t.Errorf("%s: %v", text, errs)
			continue
		}
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if got := plain(v); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", text, got, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	text := "\ufeff{ \"zz\": [1, \"two\"],\n \"a\": {\"b\": -0.5} }"
	v, errs := Parse([]byte(text))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if v.Members[0].Key != "zz" || v.Members[1].Key != "a" {
		t.Error("the order of keys is lost")
	}
	two := v.Get("zz").Items[1]
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{v.Offset, v.End, text[3:]},
		{two.Offset, two.End, `"two"`},
		{two.Inner(1), two.End, `wo"`},
		{v.Members[1].Offset, v.Members[1].Value.Offset, `"a": `},
		{v.Get("a").Get("b").Offset, v.Get("a").Get("b").End, `-0.5`},
	} {
		if got := text[c.from:c.to]; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if v.Get("b") != nil || two.Get("x") != nil || (*Value)(nil).Get("x") != nil {
		t.Error("found a key that is not there")
	}
	escaped, _ := Parse([]byte(`"\u0061b"`))
	if escaped.Inner(1) != escaped.Offset {
		t.Error("a place inside a string with escapes is not known, yet one is given")
	}
}

func TestKeyTwice(t *testing.T) {
	v, errs := Parse([]byte(`{"a":1,"b":{"c":1,"c":2},"a":3}`))
	want := []Error{{18, `the key "c" stands twice in this object`}, {25, `the key "a" stands twice in this object`}}
	if !reflect.DeepEqual(errs, want) {
		t.Errorf("got %v, want %v", errs, want)
	}
	if v == nil || len(v.Members) != 2 || v.Get("a").Number != 1 {
		t.Errorf("the first of the two is not kept: %v", v)
	}
}

func TestDeep(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, errs := Parse(deep(MaxDepth)); len(errs) > 0 {
		t.Error(errs)
	}
	if v, errs := Parse(deep(MaxDepth + 1)); v != nil || len(errs) != 1 {
		t.Errorf("%v %v", v, errs)
	}
	if v, errs := Parse(deep(1 << 20)); v != nil || len(errs) != 1 {
		t.Errorf("%v %v", v, errs)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range good {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Add([]byte("\"\xff\""))
	f.Add([]byte(`"\ud800\u0041"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, errs := Parse(text)
		for _, e := range errs {
			if e.Offset < 0 || e.Offset > len(text) || e.Message == "" {
				t.Fatalf("error %+v", e)
			}
		}
		if v == nil && len(errs) != 1 && !strings.Contains(errs[0].Message, "twice") {
			t.Fatalf("%d errors of syntax", len(errs))
		}
		text = []byte(strings.TrimPrefix(string(text), "\ufeff"))
		var want any
		err := json.Unmarshal(text, &want)
		switch {
		case len(errs) == 0 && err != nil:
			t.Fatalf("accepted what the standard library does not: %v", err)
		case len(errs) == 0 && !reflect.DeepEqual(plain(v), want):
			t.Fatalf("got %#v, want %#v", plain(v), want)
		}
	})
}
