package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// compressedKey is the key of all records of a partition together, in place of a key for each: a JSON object, compressed
// by gzip, in base64. No node can have this name. It is part of the format.
const compressedKey = "_records"

// maxDecompressed bounds the memory that a forged entry can take.
const maxDecompressed = 64 << 20

// compress returns the compressed form of entries.
func compress(entries map[string]string) string {
	var out bytes.Buffer
	compressor := gzip.NewWriter(&out)
	_ = json.NewEncoder(compressor).Encode(entries) // strings can always be encoded, and a buffer can be written
	_ = compressor.Close()
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// decompress returns the entries of a compressed form.
func decompress(text string) (entries map[string]string, err error) {
	from, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(from, maxDecompressed)).Decode(&entries)
	}
	if err != nil {
		return nil, fmt.Errorf("it can't be read: %w", err)
	}
	return entries, nil
}
