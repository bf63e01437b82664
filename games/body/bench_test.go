package body_test

import (
	"context"
	"testing"

	"gamehoster/games/body"
)

// BenchmarkTickAsteroids is one tick of a full instance: four ships that fire,
// 22 rocks and more, some 20 bullets that look at every rock.
func BenchmarkTickAsteroids(b *testing.B) {
	def, p := asteroids(b)
	w := newWorld(b, def, p, worldOptions{seed: 1, serverSeed: 2})
	for i := 1; i <= 600; i++ {
		w.must(driveAsteroids(i))
	}
	ctx := context.Background()
	stack := make([]uint64, 2)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		stack[0], stack[1] = uint64(w.base), 0
		if err := w.tickFn.CallWithStack(ctx, stack); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileAsteroids(b *testing.B) {
	def, files := define(b, asteroidsTypes), bodies(asteroidsText)
	b.ReportAllocs()
	for range b.N {
		if p, list := body.Compile(def, files, body.Options{}); p == nil {
			b.Fatal(list)
		}
	}
}
