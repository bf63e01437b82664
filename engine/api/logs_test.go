package api

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"gamehoster/engine/logs"
)

func TestLogs(t *testing.T) {
	b := newBench(t)
	for i := range 3 {
		b.logs.ServerLogger().Info("began", "n", i)
	}
	b.logs.ServerLogger().Warn("failed", logs.GameKey, "a.example/dots")
	b.logs.WebLogger().Info("asked")
	for query, want := range map[string]int{
		"server": 4, "web": 1, "server?limit=2": 2, "server?level=warn": 1, "server?level=ERROR": 0, "server?game=dots": 1, "server?game=a.example/dots": 1, "server?game=other": 0,
		"server?since=1h": 4, "server?until=1h": 0, "server?since=2020-01-01T00:00:00Z": 4, "server?until=2020-01-01T00:00:00%2B02:00": 0, "server?follow=0&limit=10000": 4,
	} {
		got := b.do(t, "GET", "/api/logs/"+query, "")
		if got.code != 200 || strings.Count(got.body, "\n") != want || got.head.Get("Content-Type") != ndjson {
			t.Errorf("%s was answered %+v, want %d lines", query, got, want)
		}
	}
	if got := b.do(t, "GET", "/api/logs/server?limit=2", ""); !strings.Contains(got.body, `"n":2`) || !strings.HasSuffix(got.body, `"game":"a.example/dots"}`+"\n") {
		t.Errorf("the newest are not last: %s", got.body)
	}
	for _, bad := range []string{
		"since=yesterday", "since=-1h", "until=x", "level=loud", "level=", "limit=0", "limit=-1", "limit=10001", "limit=x", "limit=", "follow=2", "follow=true", "follow=1&until=1h",
		"other=1", "limit=1&limit=2", "game=" + strings.Repeat("x", 500), "since=%zz", "since=" + strings.Repeat("9", 5000) + "h",
	} {
		if got := b.do(t, "GET", "/api/logs/server?"+bad, ""); got.code != 400 || got.error() == "" {
			t.Errorf("%.60s was answered %d %s", bad, got.code, got.body)
		}
	}
}

// Who follows gets what was, then what comes, until the box stops.
func TestALogIsFollowed(t *testing.T) {
	b := newBench(t)
	log := b.logs.ServerLogger()
	log.Info("before")
	req, err := http.NewRequestWithContext(t.Context(), "GET", b.URL+"/api/logs/server?follow=1&level=info", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	res, err := (&http.Client{Timeout: 20 * time.Second}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	expect := func(text string) {
		t.Helper()
		if !lines.Scan() || !strings.Contains(lines.Text(), text) {
			t.Fatalf("got %q, %v; want a line with %q", lines.Text(), lines.Err(), text)
		}
	}
	expect("before")
	for _, text := range []string{"first", "second"} {
		log.Debug("nobody asked for this")
		log.Info(text)
		expect(text)
	}
	b.stop()
	if lines.Scan() || lines.Err() != nil {
		t.Fatalf("after the end came %q, %v", lines.Text(), lines.Err())
	}
}
