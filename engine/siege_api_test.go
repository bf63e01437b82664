package engine_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"gamehoster/engine"
)

// TestTheAPIForWhoHasNoToken wants nobody to see that there is an API, let alone what it
// would have said: a box with one answers byte for byte as a box without, which answers as
// it does for what was never there.
func TestTheAPIForWhoHasNoToken(t *testing.T) {
	with, root, _ := serveAPI(t)
	without := serve(t, engine.Config{Root: root, Transport: transport})
	nothing := without.whole(t, "GET", "/never-there")
	if code, _ := with.ask(t, apiToken, "GET", "/api/games", nil); code != 200 {
		t.Fatalf("with the token: %d", code)
	}
	const right = "Bearer " + apiToken
	body := "{\"files\": []}"
	long := strings.Repeat("x", 7000)
	for _, request := range []string{
		"GET /api/games HTTP/1.1\r\n",
		"GET /api/games/a.example/dots/files HTTP/1.1\r\n",
		"GET /api/nothing HTTP/1.1\r\n",
		"GET /api HTTP/1.1\r\n",
		"GET /api/ HTTP/1.1\r\n",
		"GET /api/logs/web?follow=1 HTTP/1.1\r\n",
		"GET /api/games/%2e%2e/x/files/..%2f..%2ftoken HTTP/1.1\r\n",
		"DELETE /api/games/a.example/dots HTTP/1.1\r\n",
		"TRACE /api/games HTTP/1.1\r\n",
		fmt.Sprintf("POST /api/games/a.example/dots/commit HTTP/1.1\r\nContent-Length: %d\r\n", len(body)),
		// It is not asked for: nobody is told to go on.
		"PUT /api/games/a.example/dots/files/a.js HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n",
	} {
		for _, authorization := range []string{
			"", "Authorization:", "Authorization: Bearer", "Authorization: Bearer ", "Authorization: Bearer x", "Authorization: Bearer " + long,
			"Authorization: " + apiToken, "Authorization: Basic " + apiToken, "Authorization: " + right + "x", "Authorization: " + right[:len(right)-1],
			"Authorization: Bearer " + strings.ToUpper(apiToken), "Authorization: Bearer \"" + apiToken + "\"", "Authorization: " + right + "\r\nAuthorization: " + right,
			"Authorization: Bearer x\r\nAuthorization: " + right, "Authorization: " + right + ", Bearer x", "Proxy-Authorization: " + right,
			"X-Authorization: " + right, "Cookie: token=" + apiToken, "Authorization_: " + right,
		} {
			request, content := request, ""
			if strings.HasPrefix(request, "POST") {
				content = body
			}
			if authorization != "" {
				request += authorization + "\r\n"
			}
			for _, s := range []*server{with, without} {
				c := s.stranger(t)
				if _, err := io.WriteString(c, request+"Host: a.example\r\nConnection: close\r\n\r\n"+content); err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(c.r)
				if err != nil {
					t.Fatalf("%q: %v", request, err)
				}
				if dated.ReplaceAllString(string(got), "") != nothing {
					t.Errorf("%.200q, with an API %t: %.300q", request, s == with, got)
				}
			}
		}
	}
	if s := with.whole(t, "GET", "/api/games?token="+apiToken); s != nothing {
		t.Errorf("with the token in the address: %q", s)
	}
	if with.log.contains(apiToken) {
		t.Error("a token is in the log")
	}
}
