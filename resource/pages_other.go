//go:build !linux

package resource

// pageFile is never made on this system: Guards.NewPages says so, and nothing else
// gets to it.
type pageFile struct{}

func newPageFile(int) (pageFile, error)               { return pageFile{}, ErrNoGuardPages }
func (pageFile) resize(int) error                     { return ErrNoGuardPages }
func (pageFile) mapPages(int, access) ([]byte, error) { return nil, ErrNoGuardPages }
func (pageFile) close() error                         { return ErrNoGuardPages }
func protectPages([]byte, access) error               { return ErrNoGuardPages }
func unmapPages([]byte) error                         { return ErrNoGuardPages }
