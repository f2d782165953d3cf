package command

import (
	"fmt"
	"io"
)

// output is where a command prints. It keeps the first error, so that a full disk is a failure of
// every command.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// Below is the writer below the one that a command got. A process gets that as its own output: a
// terminal stays one.
func Below(out io.Writer) io.Writer {
	if o, ok := out.(*output); ok {
		return o.Writer
	}
	return out
}

// printed writes a text, and is the exit code.
func printed(name, text string, out, complaints io.Writer) int {
	if _, err := io.WriteString(out, text); err != nil {
		fmt.Fprintf(complaints, "%s: %v\n", name, err)
		return Failed
	}
	return Done
}
