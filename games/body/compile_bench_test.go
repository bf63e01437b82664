package body_test

import (
	"syscall"
	"testing"

	"gamehoster/games/body"
)

// BenchmarkCompileSample compiles the samples' bodies. cpu-ns/op is the processor time,
// of the collector as well.
func BenchmarkCompileSample(b *testing.B) {
	spent := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	for _, name := range samples(b) {
		b.Run(name, func(b *testing.B) {
			g := sample(b, name)
			files := sources(g)
			b.ReportAllocs()
			b.ResetTimer()
			began := spent()
			for range b.N {
				if p, list := body.Compile(g.Def, files, body.Options{}); p == nil {
					b.Fatal(list)
				}
			}
			b.ReportMetric(float64(spent()-began)/float64(b.N), "cpu-ns/op")
		})
	}
}
