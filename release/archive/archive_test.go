package archive

import (
	"bytes"
	"io"
	"testing"
	"time"
)

func TestAnArchiveDependsOnNamesBytesAndTheTimeAlone(t *testing.T) {
	files := Files{"b/a": {Data: []byte("text")}, "a": {Mode: 0o755, Data: []byte("program")}}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, write := range map[string]func(io.Writer, Files, time.Time) error{"tar": Tar, "tar.gz": TarGz, "zip": Zip} {
		var first, same, later bytes.Buffer
		for _, err := range []error{write(&first, files, at), write(&same, files, at.In(time.FixedZone("", 7200))), write(&later, files, at.Add(time.Hour))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first.Bytes(), same.Bytes()) {
			t.Errorf("%s: the time zone is in the archive", name)
		}
		if bytes.Equal(first.Bytes(), later.Bytes()) {
			t.Errorf("%s: the time is not in the archive", name)
		}
	}
}
