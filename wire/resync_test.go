package wire

import "testing"

func resyncVectors() []vector {
	var d dump
	d.tag(TagResync)
	return []vector{{"resync", d, Resync{}.Append(nil), map[string]any{}}}
}

func TestResync(t *testing.T) {
	checkVectors(t, "resync", resyncVectors()...)
	if _, err := ParseResync([]byte{5}); err != nil {
		t.Error(err)
	}
	rejects(t, func(p []byte) error { _, err := ParseResync(p); return err },
		bad{"long", "05 00", errTrailing})
}
