package rmatest

import (
	"encoding/binary"

	"github.com/orwl/go-orwl/net/rma"
)

// Defects of PutBytes and GetBytes.
var brokenBulk = []Specimen{
	{
		Name:       "bulk-keeps-buffer",
		Defect:     "PutBytes reads the caller's buffer when it is flushed",
		Break:      window(func(w rma.Window) rma.Window { return &bulkKeepsBuffer{Window: w} }),
		RejectedBy: []string{"bulk/buffer-reusable"},
	},
	{
		Name:   "bulk-one-word-late",
		Defect: "PutBytes stores one word too far",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			w.PutBytes(target, disp+1, src)
		}),
		RejectedBy: []string{"bulk/round-trip", "order/bulk-then-flag"},
	},
	{
		Name:   "bulk-one-word-short",
		Defect: "PutBytes does not store the last word",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			w.PutBytes(target, disp, src[:max(0, len(src)-8)])
		}),
		RejectedBy: []string{"bulk/round-trip", "region/bulk"},
	},
	{
		Name:   "bulk-one-word-long",
		Defect: "PutBytes clears the word after the last one",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			w.PutBytes(target, disp, src)
			w.Put(target, disp+rma.Disp(len(src)/8), 0)
		}),
		RejectedBy: []string{"bulk/round-trip"},
	},
	{
		Name:   "bulk-byte-order",
		Defect: "PutBytes reverses the bytes of each word",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			turned := make([]byte, len(src))
			for i := 0; i+8 <= len(src); i += 8 {
				binary.BigEndian.PutUint64(turned[i:], binary.LittleEndian.Uint64(src[i:]))
			}
			w.PutBytes(target, disp, turned)
		}),
		RejectedBy: []string{"bulk/words-inside"},
	},
	{
		Name:   "bulk-of-nothing",
		Defect: "PutBytes of no bytes stores a word",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			if len(src) == 0 {
				src = []byte{1, 2, 3, 4, 5, 6, 7, 8}
			}
			w.PutBytes(target, disp, src)
		}),
		RejectedBy: []string{"bulk/zero-length"},
	},
	{
		Name:   "bulk-truncates",
		Defect: "PutBytes moves at most 64 KiB",
		Break: putting(func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte) {
			w.PutBytes(target, disp, src[:min(len(src), 1<<16)])
		}),
		RejectedBy: []string{"bulk/megabyte"},
	},
	{
		Name:       "bulk-rounds-down",
		Defect:     "PutBytes and GetBytes ignore a last part of less than a word",
		Break:      window(func(w rma.Window) rma.Window { return &bulkRoundsDown{w} }),
		RejectedBy: []string{"address/unaligned-bulk"},
	},
}

// putting is the Break of a fabric with p as its PutBytes.
func putting(p func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte)) func(f rma.Fabric) rma.Fabric {
	return window(func(w rma.Window) rma.Window { return &bulkBroken{w, p} })
}

type bulkBroken struct {
	rma.Window
	put func(w rma.Window, target rma.Rank, disp rma.Disp, src []byte)
}

func (w *bulkBroken) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	w.put(w.Window, target, disp, src)
}

type bulkKeepsBuffer struct {
	rma.Window
	late []func()
}

func (w *bulkKeepsBuffer) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	w.late = append(w.late, func() { w.Window.PutBytes(target, disp, src) })
}

func (w *bulkKeepsBuffer) Flush(target rma.Rank) {
	for _, put := range w.late {
		put()
	}
	w.late = nil
	w.Window.Flush(target)
}

type bulkRoundsDown struct{ rma.Window }

func (w *bulkRoundsDown) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	w.Window.PutBytes(target, disp, src[:len(src)&^7])
}

func (w *bulkRoundsDown) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	w.Window.GetBytes(target, disp, dst[:len(dst)&^7])
}
