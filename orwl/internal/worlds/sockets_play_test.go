package worlds

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// pair is a connection from process 1 to process 0.
func pair(t *testing.T, w *internet) (here, there net.Conn) {
	t.Helper()
	l, err := w.endpoint(0).Listen(w.endpoint(0).address())
	if err != nil {
		t.Fatal(err)
	}
	if here, err = w.endpoint(1).Dial(t.Context(), l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if there, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return here, there
}

// reads reads so many bytes, and returns how long that took.
func reads(t *testing.T, c net.Conn, want string) time.Duration {
	t.Helper()
	began := time.Now()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("read %q, %v, want %q", got, err, want)
	}
	return time.Since(began)
}

func writes(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// Bytes arrive in order, after a delay, and before the end of the stream.
func TestSocketOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair(t, newInternet(1))
		for range 100 {
			writes(t, a, "0123456789")
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		took := time.Duration(0)
		for range 100 {
			took += reads(t, b, "0123456789")
		}
		if _, err := b.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || took == 0 || took > 2*slowest {
			t.Errorf("%v after %v, want the end after a delay", err, took)
		}
		if _, err := a.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a write behind Close: %v", err)
		}
	})
}

// A write that falls into a cut arrives with the first try behind its end, as by TCP: 0.6 s after it was sent, here.
func TestSocketsAfterCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newInternet(1)
		a, b := pair(t, w)
		w.cut(0, 1)
		writes(t, a, "late")
		go func() {
			<-time.After(300 * time.Millisecond)
			w.heal(1, 0)
		}()
		if took := reads(t, b, "late"); took != 600*time.Millisecond {
			t.Errorf("it arrives after %v", took)
		}
	})
}

// A process that is stopped reads nothing, and others hear nothing of it, until it continues. Bytes that it wrote before arrive.
func TestSocketsStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newInternet(1)
		a, b := pair(t, w)
		writes(t, a, "before")
		w.endpoint(1).stop(true)
		writes(t, a, "after")
		writes(t, b, "to it")
		go func() {
			<-time.After(time.Second)
			w.endpoint(1).stop(false)
		}()
		if took := reads(t, b, "before"); took > slowest+time.Millisecond {
			t.Errorf("what it wrote before arrives after %v", took)
		}
		if took := reads(t, b, "after"); took < 990*time.Millisecond {
			t.Errorf("what it wrote afterwards arrives after %v", took)
		}
		reads(t, a, "to it")
	})
}

// A process that is killed resets its connections, and takes no other one, until another process has its place.
func TestSocketsKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newInternet(1)
		a, b := pair(t, w)
		at, dead := b.LocalAddr().String(), w.endpoint(0)
		dead.kill()
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the other end reads %v", err)
		}
		if _, err := b.Write([]byte("x")); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("the dead one writes: %v", err)
		}
		if _, err := w.endpoint(1).Dial(t.Context(), at); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dialling the dead one: %v", err)
		}
		if w.endpoint(0) == dead {
			t.Error("the dead one has its place still")
		}
		if _, err := w.endpoint(0).Listen(at); err != nil {
			t.Errorf("the next one cannot listen there: %v", err)
		}
	})
}

// A dial into a cut goes on until its context ends, and deadlines end a read.
func TestSocketDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newInternet(1)
		a, b := pair(t, w)
		w.cut(0, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := w.endpoint(1).Dial(ctx, b.LocalAddr().String()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 5*time.Second {
			t.Errorf("dialling into a cut: %v after %v", err, time.Since(began))
		}
		if err := a.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the read ends with %v", err)
		}
	})
}
