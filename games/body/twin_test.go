package body_test

import "testing"

// TestTwinAsteroids runs the probe as JavaScript.
func TestTwinAsteroids(t *testing.T) {
	compareTwin(t, define(t, asteroidsTypes), bodies(asteroidsText), 5000, driveAsteroids)
}

// TestTwinSamples runs the samples and the stress game as JavaScript.
func TestTwinSamples(t *testing.T) {
	for _, name := range samples(t) {
		g := sample(t, name)
		compareTwin(t, g.Def, sources(g), 3000, restless(g.Def))
	}
	g := stress(t)
	compareTwin(t, g.Def, sources(g), 3000, restless(g.Def))
}
