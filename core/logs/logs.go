// Package logs writes the program's log: HERMES_HOME/logs/workbench.log, three old files of 5 MB
// kept beside it.
//
// The contract: no secret reaches the file. Every message and every text value passes through
// Redact, which knows the values that AddSecrets was told and the shapes that keys have. The screen
// belongs to the workbench: nothing is logged to the terminal.
package logs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"gopkg.in/natefinch/lumberjack.v2"
)

const (
	maxMegabytes = 5
	keptFiles    = 3
)

// Open returns a logger that appends to path (its folder is made when the first entry is written),
// and what closes the file. Level is debug, info, warn or error; anything else means info. It can
// be changed with the LevelVar.
func Open(path, level string) (*slog.Logger, *slog.LevelVar, io.Closer) {
	file := &lumberjack.Logger{Filename: path, MaxSize: maxMegabytes, MaxBackups: keptFiles}
	lv := new(slog.LevelVar)
	lv.Set(ParseLevel(level))
	return New(file, lv), lv, file
}

// New returns a logger that writes redacted lines to w.
func New(w io.Writer, level slog.Leveler) *slog.Logger {
	text := slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: redactAttr})
	return slog.New(handler{text})
}

// ParseLevel turns the setting logging.level into a level.
func ParseLevel(level string) slog.Level {
	switch strings.ToLower(level) {
	case "debug":
		return slog.LevelDebug
	case "warn", "warning":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}

// redactAttr covers every attribute, those in groups too.
func redactAttr(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(Redact(a.Value.String()))
	case slog.KindAny:
		if a.Key == slog.LevelKey || a.Key == slog.SourceKey {
			return a
		}
		a.Value = slog.StringValue(Redact(fmt.Sprint(a.Value.Any())))
	default:
	}
	return a
}

// handler redacts the message, which ReplaceAttr sees only by name, before the text is made.
type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	r.Message = Redact(r.Message)
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
