package status

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"sync"
)

// compressors holds writers that are not in use: one weighs as much as a thousand pods.
type compressors struct{ gzip, flate sync.Pool }

// accepts reports whether the client takes gzip.
func accepts(r *http.Request) bool {
	for _, coding := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return strings.Trim(strings.TrimPrefix(quality, "q="), "0.") != "" || quality == ""
		}
	}
	return false
}

// compress compresses the answers of next for clients that take gzip.
func (c *compressors) compress(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if !accepts(r) || r.Method == http.MethodHead {
			next(w, r)
			return
		}
		r.Header.Del("Range") // a part of a compressed answer is no part of the answer
		z, ok := c.gzip.Get().(*gzip.Writer)
		if !ok {
			z, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
		}
		defer c.gzip.Put(z)
		out := &compressed{ResponseWriter: w, gzip: z}
		next(out, r)
		out.end()
	}
}

// compressed is an answer that is compressed on its way. An answer without a body stays without.
type compressed struct {
	http.ResponseWriter
	gzip  *gzip.Writer
	begun bool
}

func (c *compressed) WriteHeader(code int) {
	c.Header().Del("Content-Length")
	if code != http.StatusNotModified && code != http.StatusNoContent {
		c.Header().Set("Content-Encoding", "gzip")
	}
	c.ResponseWriter.WriteHeader(code)
}

func (c *compressed) Write(p []byte) (int, error) {
	if !c.begun {
		c.begun = true
		c.gzip.Reset(c.ResponseWriter)
		c.Header().Del("Content-Length")
		c.Header().Set("Content-Encoding", "gzip")
	}
	return c.gzip.Write(p)
}

// FlushError sends what has been written so far.
func (c *compressed) FlushError() error {
	if c.begun {
		if err := c.gzip.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(c.ResponseWriter).Flush()
}

// Unwrap lets deadlines through to the connection.
func (c *compressed) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *compressed) end() {
	if c.begun {
		_ = c.gzip.Close() // the client is gone then
	}
}

// deflated is a stream of messages as one gzip file. Each message is compressed and flushed on its own, so
// that a viewer that waits for the next one holds no compressor.
type deflated struct {
	compressors *compressors
	begun       bool
	sum         uint32
	size        uint32
}

// message returns the next piece of the file, from which the text can be read at once.
func (d *deflated) message(text []byte) ([]byte, error) {
	d.sum, d.size = crc32.Update(d.sum, crc32.IEEETable, text), d.size+uint32(len(text))
	return d.piece(func(z *flate.Writer) error {
		if _, err := z.Write(text); err != nil {
			return err
		}
		return z.Flush()
	})
}

// end returns the last piece of the file.
func (d *deflated) end() ([]byte, error) {
	last, err := d.piece((*flate.Writer).Close)
	last = binary.LittleEndian.AppendUint32(last, d.sum)
	return binary.LittleEndian.AppendUint32(last, d.size), err
}

func (d *deflated) piece(write func(*flate.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	if !d.begun {
		d.begun = true
		b.WriteString("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff") // RFC 1952: deflate, no time, any system
	}
	z, ok := d.compressors.flate.Get().(*flate.Writer)
	if !ok {
		z, _ = flate.NewWriter(io.Discard, flate.BestSpeed) // the level is valid
	}
	defer d.compressors.flate.Put(z)
	z.Reset(&b)
	err := write(z)
	return b.Bytes(), err
}
