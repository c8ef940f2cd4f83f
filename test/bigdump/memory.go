package bigdump

import (
	"io"
	"runtime"
)

// InUse returns how much memory is in use after garbage collection.
func InUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Weighed measures the memory in use from time to time while it is read.
type Weighed struct {
	io.Reader
	Peak uint64

	unread uint64
}

func (w *Weighed) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if w.unread += uint64(n); w.unread > 4<<20 || err != nil {
		w.unread, w.Peak = 0, max(w.Peak, InUse())
	}
	return n, err
}
