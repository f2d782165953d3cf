//go:build !unix

package launch

// inheritedKey has no pipe to come by.
func inheritedKey() ([]byte, error) { return nil, ErrUnsupported }

func report(string) error { return ErrUnsupported }

func reportGoOn() error { return ErrUnsupported }

func reportDone() error { return ErrUnsupported }

func reportProgress(int, Progress) error { return ErrUnsupported }
