package tick

import (
	"reflect"
	"testing"
)

// numbers is every number of a Stats.
func numbers(t *testing.T, v reflect.Value) (all []reflect.Value) {
	switch v.Kind() {
	case reflect.Uint64:
		return []reflect.Value{v}
	case reflect.Struct:
		for i := range v.NumField() {
			all = append(all, numbers(t, v.Field(i))...)
		}
	case reflect.Array:
		for i := range v.Len() {
			all = append(all, numbers(t, v.Index(i))...)
		}
	default:
		t.Fatalf("a %s among the counters", v.Kind())
	}
	return all
}

// TestStatsAddAll wants no counter to be left out of sums and differences.
func TestStatsAddAll(t *testing.T) {
	var a, b Stats
	for i, c := range numbers(t, reflect.ValueOf(&a).Elem()) {
		c.SetUint(uint64(i) + 1)
	}
	for i, c := range numbers(t, reflect.ValueOf(&b).Elem()) {
		c.SetUint(uint64(i)*1000 + 1000)
	}
	sum := a
	sum.Add(&b)
	for i, c := range numbers(t, reflect.ValueOf(&sum).Elem()) {
		if c.Uint() != uint64(i+1)*1001 {
			t.Errorf("counter %d was not added", i)
		}
	}
	if sum.Since(&b); sum != a {
		t.Error("a difference is not what the sum was made of")
	}
}

func TestDepths(t *testing.T) {
	for _, ticks := range []uint32{1, 2, 3, 4, 5, 8, 9, 64, 65, 256} {
		i := depthSlot(ticks)
		if int(ticks) > DepthBound(i) || i > 0 && int(ticks) <= DepthBound(i-1) {
			t.Errorf("%d ticks are counted with up to %d", ticks, DepthBound(i))
		}
	}
	if depthSlot(1<<20) != depths-1 {
		t.Error("no place for the deepest")
	}
}
