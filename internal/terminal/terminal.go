package terminal

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// Is reports whether out is a terminal: a person sees its output at once, and output can be
// overwritten in place.
func Is(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// Log is a log on out, of records of a level and above: text on a terminal, and JSON
// elsewhere.
func Log(out io.Writer, level slog.Leveler) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if Is(out) {
		return slog.New(slog.NewTextHandler(out, o))
	}
	return slog.New(slog.NewJSONHandler(out, o))
}
