package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
)

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
	return entries, err
}
