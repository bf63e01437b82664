package engine

import (
	"context"
	"log/slog"
	"net/http"
	"path"
	"time"

	"gamehoster/engine/box"
	"gamehoster/engine/loop"
	"gamehoster/engine/worker"
)

// The server log has what the box has to say. The web log has a line for each HTTP request
// and each socket: of those that were refused when they came, of the others when they have
// ended. It never has a query: that may hold the token of a seat.

// webLog is where requests and sockets are logged.
func (c *Config) webLog() *slog.Logger {
	if c.Logs != nil {
		return c.Logs.WebLogger()
	}
	return c.Log
}

// logged writes a line for each request that next has answered. Those for the files of a
// page would be most of what an author sees in a terminal, so in development only failures
// are worth one.
func (b *Box) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := loop.Now()
		counted := &countedWriter{ResponseWriter: w, status: http.StatusInternalServerError}
		defer func() {
			level := slog.LevelInfo
			if b.cfg.Dev && counted.status < http.StatusBadRequest {
				level = slog.LevelDebug
			}
			b.web.Log(context.Background(), level, "request", "peer", b.door.Client(r).Addr(), "host", short([]byte(r.Host)),
				"method", short([]byte(r.Method)), "path", short([]byte(r.URL.Path)), "status", counted.status,
				"bytes", counted.bytes, "duration", time.Duration(loop.Now()-start).Round(time.Microsecond))
		}()
		next.ServeHTTP(counted, r)
		counted.wrote(http.StatusOK)
	})
}

// countedWriter notes what is answered. Until something is, it is a failure: a handler that
// panics answers nothing.
type countedWriter struct {
	http.ResponseWriter
	status int
	begun  bool
	bytes  int64
}

func (w *countedWriter) wrote(status int) {
	if !w.begun {
		w.begun, w.status = true, status
	}
}

// WriteHeader implements http.ResponseWriter.
func (w *countedWriter) WriteHeader(status int) {
	if status >= http.StatusOK { // others come before the answer
		w.wrote(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *countedWriter) Write(p []byte) (int, error) {
	w.wrote(http.StatusOK)
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// logClosed writes the line of a socket that has ended.
func (b *Box) logClosed(c worker.Closed) {
	r := &c.Reservation
	b.web.Info("socket closed", "peer", r.Peer, "host", r.Host, "path", "/"+path.Base(c.Game), "game", c.Game,
		"instance", r.InstanceName, "player", c.Player, "code", c.Code, "reason", c.Reason,
		"bytes_in", c.BytesIn, "bytes_out", c.BytesOut, "duration", c.Duration.Round(time.Millisecond))
}

// findingsLogged is how many of what is wrong with a game stand in its line.
const findingsLogged = 10

// logChange writes the line of what became of a game's files. An author who develops has
// it on the terminal.
func (b *Box) logChange(c box.Change) {
	level := slog.LevelInfo
	if b.cfg.Dev {
		level = slog.LevelDebug
	}
	say := func(level slog.Level, text string, args ...any) {
		b.log.Log(context.Background(), level, text, append([]any{"game", c.Place.String()}, args...)...)
	}
	switch {
	case c.New != nil && c.Old != nil:
		say(level, "a game was replaced", "definition", hexHash(c.New.Hash), "before", hexHash(c.Old.Hash))
	case c.New != nil:
		say(level, "a game is live", "definition", hexHash(c.New.Hash))
	case c.Old != nil:
		say(level, "a game was removed", "definition", hexHash(c.Old.Hash))
	case c.Findings.Failed():
		var first []string
		for _, d := range c.Findings[:min(len(c.Findings), findingsLogged)] {
			first = append(first, d.String())
		}
		if !b.cfg.Dev {
			level = slog.LevelError
		}
		say(level, "a game was rejected; what was live goes on", "findings", first, "of", len(c.Findings))
	}
}
