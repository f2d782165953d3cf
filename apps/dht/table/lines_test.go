package table

import (
	"fmt"
	"math/bits"
	"testing"
)

// sound is what is wrong with a volume: see NumbersVolume's invariants.
func (v *NumbersVolume) sound() error {
	seen := make([]bool, len(v.lines))
	keys := make(map[uint64]bool)
	for bucket := range v.buckets {
		last := bucket
		for n := bucket; ; n = v.lines[n][0] & lineNext {
			l := &v.lines[n]
			if seen[n] {
				return fmt.Errorf("line %d is there twice", n)
			}
			seen[n] = true
			used := bits.OnesCount64(l[0] >> lineUsed)
			if l[0]>>lineUsed != 1<<used-1 || used < linePair && l[0]&lineNext != 0 || used == 0 && n != bucket {
				return fmt.Errorf("line %d of bucket %d begins with %#x", n, bucket, l[0])
			}
			for pair := range used {
				key := l[lineKey+2*pair]
				if keys[key] || v.bucket(hashOf(v.hash, key)) != bucket {
					return fmt.Errorf("key %d is there twice, or should not be in bucket %d", key, bucket)
				}
				keys[key] = true
			}
			if last = n; l[0]&lineNext == 0 {
				break
			}
		}
		if at := v.lines[bucket][lineLast]; at != last && (at != 0 || last != bucket) {
			return fmt.Errorf("bucket %d ends at line %d, not at %d", bucket, last, at)
		}
	}
	if len(keys) != v.Len() {
		return fmt.Errorf("%d keys, not %d", len(keys), v.Len())
	}
	for n := v.header[numbersFreeAt]; n != 0; n = v.lines[n][0] {
		if seen[n] || v.lines[n][0]&^lineNext != 0 {
			return fmt.Errorf("line %d is free, begins with %#x, and in use: %t", n, v.lines[n][0], seen[n])
		}
		seen[n] = true
	}
	for n, seen := range seen {
		if taken := uint64(n) < v.buckets+v.header[numbersTakenAt]; seen != taken {
			return fmt.Errorf("line %d was taken: %t; is somewhere: %t", n, taken, seen)
		}
	}
	return nil
}

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
			if err := h.volume.Load().sound(); err != nil {
				t.Errorf("volume %d of node %d: %v", i, node, err)
			}
		}
	}
}

// TestUnsoundLines damages a volume: sound has to find it.
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
			if err := v.sound(); err != nil {
				t.Fatal(err)
			}
			for i := range v.buckets {
				if l := &v.lines[i]; l[0]&lineNext != 0 && v.lines[l[0]&lineNext][0]>>lineUsed != lineFull {
					damage(v, l)
					break
				}
			}
			if v.sound() == nil {
				t.Error("it is not found")
			}
		})
	}
}
