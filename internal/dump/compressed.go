package dump

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// The magic numbers of compressed files.
var (
	markGzip = []byte{0x1F, 0x8B}
	markZstd = []byte{0x28, 0xB5, 0x2F, 0xFD}
)

// decompressed returns a reader of the uncompressed data if r is compressed by gzip or zstd, and r otherwise. done
// releases the decompressor's resources.
func decompressed(r *bufio.Reader) (plain *bufio.Reader, done func(), err error) {
	ahead, _ := r.Peek(len(markZstd)) // the next read returns an error again
	switch {
	case bytes.HasPrefix(ahead, markGzip):
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, fmt.Errorf("it begins as gzip does, and is not: %w", err)
		}
		return bufio.NewReaderSize(unzipped, 1<<16), func() {}, nil
	case bytes.HasPrefix(ahead, markZstd):
		unpacked, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, fmt.Errorf("it begins as zstd does, and is not: %w", err)
		}
		return bufio.NewReaderSize(unpacked, 1<<16), unpacked.Close, nil
	}
	return r, func() {}, nil
}
