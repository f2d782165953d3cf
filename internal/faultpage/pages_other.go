//go:build !linux

package faultpage

// pageFile has no values on this system: Space.NewMemory returns ErrUnsupported.
type pageFile struct{}

func newPageFile(int) (pageFile, error)               { return pageFile{}, ErrUnsupported }
func (pageFile) resize(int) error                     { return ErrUnsupported }
func (pageFile) mapPages(int, Access) ([]byte, error) { return nil, ErrUnsupported }
func (pageFile) close() error                         { return ErrUnsupported }
func protectPages([]byte, Access) error               { return ErrUnsupported }
func unmapPages([]byte) error                         { return ErrUnsupported }
