package main

import (
	"strings"
	"testing"
)

func TestTop(t *testing.T) {
	t.Parallel()
	url, tokenFile, _, dir := operated(t)
	if code, out := say(t, "sync", dir, url, "--domain", "play.example", "--token-file", tokenFile); code != 0 {
		t.Fatalf("code %d:\n%s", code, out)
	}
	code, out := say(t, "top", url, "--token-file", tokenFile)
	if code != 0 {
		t.Fatalf("code %d:\n%s", code, out)
	}
	expect(t, out, "1 game, 1 worker, 0 instances, 0 players\n", "play.example/dots  live   ", "TICK p50")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{url, 2, "GAMEHOSTER_TOKEN"},
		{url + " --every 1ms --token-file " + tokenFile, 2, "--every must be 100ms at least"},
		{"http://127.0.0.1:1 --token-file " + tokenFile, 1, "nothing listens at 127.0.0.1:1"},
	} {
		code, out := say(t, append([]string{"top"}, strings.Fields(c.args)...)...)
		if code != c.code {
			t.Errorf("%s: code %d, want %d:\n%s", c.args, code, c.code, out)
		}
		expect(t, out, c.want)
	}
}
