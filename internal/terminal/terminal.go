package terminal

import (
	"io"
	"io/fs"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// Variable is set to 1 in the environment of a process whose standard error is a pipe to its launcher, if the launcher
// shows those lines on a terminal. Package launch sets it.
const Variable = "ORWL_TERMINAL"

// Is reports whether out is a terminal: a person sees its output at once, and output can be
// overwritten in place. A writer with a method Under writes to the writer that Under returns, so that one is asked.
func Is(out io.Writer) bool {
	for {
		above, ok := out.(interface{ Under() io.Writer })
		if !ok {
			break
		}
		out = above.Under()
	}
	f, ok := out.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// IsSeen reports whether a person sees out: it is a terminal, or a launcher shows it on one. A launcher
// shows whole lines, so they cannot be overwritten.
func IsSeen(out io.Writer) bool {
	if Is(out) {
		return true
	}
	f, ok := out.(*os.File)
	if !ok || os.Getenv(Variable) != "1" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 // over ssh it may be a socket
}

// Log is a log on out, of records of a level and above: text if a person sees out, and JSON
// elsewhere.
func Log(out io.Writer, level slog.Leveler) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if IsSeen(out) {
		return slog.New(slog.NewTextHandler(out, o))
	}
	return slog.New(slog.NewJSONHandler(out, o))
}
