package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"gamehoster/engine/logs"
)

// logs answers with lines, newest last, and with follow=1 goes on as they come.
func (a *api) logs(w http.ResponseWriter, r *http.Request, name string) error {
	var stream *logs.Stream
	if a.Logs != nil {
		stream = a.Logs.Stream(name)
	}
	if stream == nil {
		return errUnknown
	}
	filter, follow, err := question(r, time.Now())
	if err != nil {
		return err
	}
	if !follow {
		lines, err := stream.Query(r.Context(), filter)
		if err != nil {
			return fmt.Errorf("reading the %s log: %w", name, err)
		}
		w.Header().Set("Content-Type", ndjson)
		for _, line := range lines {
			if _, err := w.Write(append(line, '\n')); err != nil {
				return nil // the client is gone
			}
		}
		return nil
	}
	return a.follow(w, r, stream, filter)
}

const ndjson = "application/x-ndjson"

// follow sends lines until the client or the box goes.
func (a *api) follow(w http.ResponseWriter, r *http.Request, stream *logs.Stream, filter logs.Filter) error {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("following a log: %w", err)
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.Stopping, cancel)()
	w.Header().Set("Content-Type", ndjson)
	w.WriteHeader(http.StatusOK)
	send := func(line []byte) error {
		if err := control.SetWriteDeadline(time.Now().Add(answerTime)); err != nil {
			return err
		}
		if len(line) > 0 {
			if _, err := w.Write(line); err != nil {
				return err
			}
			if _, err := w.Write([]byte{'\n'}); err != nil {
				return err
			}
		}
		return control.Flush()
	}
	if send(nil) != nil { // a quiet log is answered, too
		return nil
	}
	// It ends with the client or with the log; the answer has begun, so that there is
	// nobody left to tell why.
	if err := stream.Follow(ctx, filter, send); err != nil && !errors.Is(err, logs.ErrClosed) {
		a.Log.Debug("following a log ended", "peer", r.RemoteAddr, "error", err)
	}
	return nil
}

// question reads what is asked of a log at a time.
func question(r *http.Request, now time.Time) (f logs.Filter, follow bool, err error) {
	v, err := parameters(r, "since", "until", "level", "game", "limit", "follow")
	if err != nil {
		return f, false, err
	}
	if f.Since, err = moment("since", v["since"], now); err != nil {
		return f, false, err
	}
	if f.Until, err = moment("until", v["until"], now); err != nil {
		return f, false, err
	}
	if level, ok := v["level"]; ok {
		var l slog.Level
		if err := l.UnmarshalText([]byte(level)); err != nil {
			return f, false, refuse(http.StatusBadRequest, "level=%.20q is none of debug, info, warn and error", level)
		}
		f.Level = l
	}
	if f.Game = v["game"]; len(f.Game) > 400 {
		return f, false, refuse(http.StatusBadRequest, "no game has so long a name")
	}
	if limit, ok := v["limit"]; ok {
		if f.Limit, err = strconv.Atoi(limit); err != nil || f.Limit < 1 || f.Limit > logs.MaxLimit {
			return f, false, refuse(http.StatusBadRequest, "limit=%.20q is no number from 1 to %d", limit, logs.MaxLimit)
		}
	}
	switch v["follow"] {
	case "", "0":
	case "1":
		follow = true
	default:
		return f, false, refuse(http.StatusBadRequest, "follow=%.20q is neither 0 nor 1", v["follow"])
	}
	if follow && !f.Until.IsZero() {
		return f, false, refuse(http.StatusBadRequest, "until and follow contradict each other")
	}
	return f, follow, nil
}

// moment reads a time, or how long ago it was.
func moment(name, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, refuse(http.StatusBadRequest, "%s=%.40q is no time, as in 2026-03-01T12:00:00Z, nor how long ago that is, as in 15m", name, text)
}
