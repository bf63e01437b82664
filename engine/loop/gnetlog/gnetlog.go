// Package gnetlog turns gnet's log lines into records of a slog.Logger. gnet
// keeps one logger for the whole process and prints to standard output unless
// given one, so everything here that starts a gnet engine passes New's.
package gnetlog

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/panjf2000/gnet/v2/pkg/logging"
)

type logger struct{ to *slog.Logger }

// New wraps l; nil discards. What gnet calls info and warnings are notes for its
// own developers (an engine starts, an event came for a connection closed in the
// same batch), so both become debug records; errors stay errors.
func New(l *slog.Logger) logging.Logger {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return logger{l}
}

func (l logger) log(level slog.Level, format string, args []any) {
	if ctx := context.Background(); l.to.Enabled(ctx, level) {
		l.to.Log(ctx, level, fmt.Sprintf(format, args...), "from", "gnet")
	}
}

func (l logger) Debugf(format string, args ...any) { l.log(slog.LevelDebug, format, args) }
func (l logger) Infof(format string, args ...any)  { l.log(slog.LevelDebug, format, args) }
func (l logger) Warnf(format string, args ...any)  { l.log(slog.LevelDebug, format, args) }
func (l logger) Errorf(format string, args ...any) { l.log(slog.LevelError, format, args) }

// Fatalf does not end the process: that is not a library's decision.
func (l logger) Fatalf(format string, args ...any) { l.log(slog.LevelError, format, args) }
