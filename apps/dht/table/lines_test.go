package table

import (
	"encoding/binary"
	"errors"
	"testing"
)

// soundNumbers are all volumes here.
func soundNumbers(t interface {
	Helper()
	Errorf(format string, args ...any)
}, tables []*Numbers) {
	t.Helper()
	for node, table := range tables {
		for i, h := range table.here {
			if h == nil {
				continue
			}
			if err := h.volume.Load().check(); err != nil {
				t.Errorf("volume %d of node %d: %v", i, node, err)
			}
		}
	}
}

// TestUnsoundLines damages a volume: check has to find it.
func TestUnsoundLines(t *testing.T) {
	for name, damage := range map[string]func(v *NumbersVolume, l *line){
		"a pair less":   func(v *NumbersVolume, l *line) { l[0] &^= 1 << lineUsed },
		"another key":   func(v *NumbersVolume, l *line) { l[lineKey]++ },
		"a key twice":   func(v *NumbersVolume, l *line) { l[lineKey] = l[lineKey+2] },
		"last":          func(v *NumbersVolume, l *line) { l[lineLast] = 0 },
		"cut":           func(v *NumbersVolume, l *line) { l[0] &^= lineNext },
		"a circle":      func(v *NumbersVolume, l *line) { v.lines[l[0]&lineNext][0] |= l[0] & lineNext },
		"a lost line":   func(v *NumbersVolume, l *line) { v.header[numbersTakenAt]-- },
		"used and free": func(v *NumbersVolume, l *line) { v.header[numbersFreeAt] = l[0] & lineNext },
		"a wrong count": func(v *NumbersVolume, l *line) { v.header[numbersCountAt]++ },
	} {
		t.Run(name, func(t *testing.T) {
			v := formatNumbers(make([]byte, leastVolume), nil)
			for key := uint64(0); ; key++ {
				if s, found := v.find(key, hashOf(nil, key)); found || !v.add(s.bucket, s.line, key, 0) {
					break
				}
			}
			if err := v.check(); err != nil {
				t.Fatal(err)
			}
			for i := range v.buckets {
				if l := &v.lines[i]; l[0]&lineNext != 0 && v.lines[l[0]&lineNext][0]>>lineUsed != lineFull {
					damage(v, l)
					break
				}
			}
			if !errors.Is(v.check(), ErrDamaged) {
				t.Error("it is not found")
			}
		})
	}
}

// TestOpenDamagedNumbers damages each word of a snapshot. It is found or harmless: never a
// panic, and never a walk without an end.
func TestOpenDamagedNumbers(t *testing.T) {
	b := make([]byte, leastVolume)
	v := formatNumbers(b, nil)
	for key := range uint64(300) {
		s, _ := v.find(key, hashOf(nil, key))
		v.add(s.bucket, s.line, key, key)
	}
	for key := range uint64(50) {
		s, _ := v.find(3*key, hashOf(nil, 3*key))
		v.remove(s)
	}
	for at := 0; at < len(b); at += 8 {
		was := binary.NativeEndian.Uint64(b[at:])
		for _, now := range []uint64{0, 1, was + 1, was ^ 1<<lineUsed, was ^ 1<<40, was | lineNext, ^uint64(0)} {
			binary.NativeEndian.PutUint64(b[at:], now)
			damaged, err := OpenNumbers(b, nil)
			if err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("word %d is %#x: %v", at/8, now, err)
				}
				continue
			}
			for key := range damaged.All() {
				damaged.Get(key)
			}
		}
		binary.NativeEndian.PutUint64(b[at:], was)
	}
}
