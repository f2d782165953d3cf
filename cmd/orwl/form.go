package main

import (
	"encoding/json"
	"io"
)

// writeJSON writes a value in lines that people can read, too.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
