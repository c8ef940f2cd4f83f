package notices

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/release/build"
)

func TestLicensesAreKnownByTheirWords(t *testing.T) {
	const bsd = "Redistribution and use in source\n   and binary forms, with or without modification, are permitted."
	for text, want := range map[string][]string{
		"Permission is hereby granted, free of charge, to any\nperson obtaining a copy": {"MIT"},
		bsd: {"BSD-2-Clause"},
		bsd + " Neither the name may be used to endorse or promote products derived from this": {"BSD-3-Clause"},
		"                 Apache License\n           Version 2.0, January 2004":                {"Apache-2.0"},
		"All rights reserved.": nil,
	} {
		if got := identify(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestAModuleWithoutAKnownLicenseStopsTheRelease(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "LICENSE"), []byte("Ask me."), 0o600); err != nil {
		t.Fatal(err)
	}
	m := Module{Path: "example.com/m", Version: "v1"}
	if err := m.read(folder); err == nil || !strings.Contains(err.Error(), "example.com/m") || !strings.Contains(err.Error(), folder) {
		t.Errorf("got %v", err)
	}
}

func TestANoticeIsHandedOnWithTheLicense(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"LICENSE.md": "Licensed under the Apache License, Version 2.0", "NOTICE": "Made by many.", "main.go": "package main", "license.go": "package license"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := Module{Path: "example.com/m", Version: "v1"}
	if err := m.read(folder); err != nil {
		t.Fatal(err)
	}
	text := Notices([]Module{m})
	if !strings.Contains(text, "example.com/m v1 (Apache-2.0)") || !strings.Contains(text, "Made by many.") || strings.Contains(text, "package") {
		t.Errorf("got %s", text)
	}
}

func TestTheBillOfMaterialsIsTheSameInEveryTimeZone(t *testing.T) {
	modules := []Module{{Path: "example.com/one", Version: "v1.0.0", Licenses: []string{"MIT"}}}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var bills [2][]byte
	for i, zone := range []*time.Location{time.UTC, time.FixedZone("east", 3600)} {
		var err error
		if bills[i], err = SPDX(modules, build.Info{Version: "v1.2.3", Commit: "abc", Time: at.In(zone)}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(bills[0], bills[1]) {
		t.Errorf("got\n%s, and in another zone\n%s", bills[0], bills[1])
	}
}
