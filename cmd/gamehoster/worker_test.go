package main

import (
	"context"
	"os"
	"testing"
)

// TestMain has the test binary be the program when a pool starts it as its worker, and when
// a test wants the program in a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
