//go:build !race

package body_test

const raceDetector = false
