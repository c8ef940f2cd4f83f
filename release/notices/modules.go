// Package notices lists the modules of a binary with their licenses: the third-party notices, which have the texts of
// the licenses, and the bill of materials (SPDX).
package notices

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Module is a module that is compiled into the program.
type Module struct {
	Path, Version string

	// Licenses are SPDX identifiers, at least one.
	Licenses []string

	// Texts are the module's license and notice files, by name.
	Texts []Text
}

// Text is a file of a module.
type Text struct{ Name, Content string }

// Of returns the modules that are compiled into these binaries, and Go's standard library, in the order of their
// paths. root is the repository.
func Of(ctx context.Context, root string, binaries ...string) ([]Module, error) {
	versions := map[string]string{}
	for _, binary := range binaries {
		info, err := buildinfo.ReadFile(binary)
		if err != nil {
			return nil, fmt.Errorf("reading the modules of %s: %w", binary, err)
		}
		for _, dep := range info.Deps {
			versions[dep.Path] = dep.Version
		}
		versions["std"] = strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go")
	}
	folders, err := folders(ctx, root, versions)
	if err != nil {
		return nil, err
	}
	var all []Module
	for path, version := range versions {
		m := Module{Path: path, Version: version}
		if err := m.read(folders[path]); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// folders returns the folders of the modules' sources on this machine.
func folders(ctx context.Context, root string, versions map[string]string) (map[string]string, error) {
	args := []string{"list", "-m", "-f", "{{.Path}}\t{{.Version}}\t{{.Dir}}"}
	for path := range versions {
		if path != "std" {
			args = append(args, path)
		}
	}
	out, err := goCommand(ctx, root, args...)
	if err != nil {
		return nil, err
	}
	goroot, err := goCommand(ctx, root, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	all := map[string]string{"std": strings.TrimSpace(goroot)}
	for line := range strings.Lines(out) {
		module := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		path, version, folder := module[0], module[1], module[2]
		if version != versions[path] {
			return nil, fmt.Errorf("the binary has %s %s, the repository %s: compile it again", path, versions[path],
				version)
		}
		all[path] = folder
	}
	return all, nil
}

func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(out), nil
}

var texts = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)`)

// read reads the license texts of the module in a folder. It returns an error if no text is a known license.
func (m *Module) read(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("the sources of %s: %w", m.Path, err)
	}
	for _, entry := range entries {
		if entry.IsDir() || !texts.MatchString(entry.Name()) || filepath.Ext(entry.Name()) == ".go" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return fmt.Errorf("the licenses of %s: %w", m.Path, err)
		}
		m.Texts = append(m.Texts, Text{entry.Name(), string(content)})
		m.Licenses = append(m.Licenses, identify(string(content))...)
	}
	slices.Sort(m.Licenses)
	m.Licenses = slices.Compact(m.Licenses)
	if len(m.Licenses) == 0 {
		return fmt.Errorf("the module %s has no license that is known: look at %s, and add its words to the table in release/notices/modules.go", m.Path, folder)
	}
	return nil
}

// known are words that identify licenses, without line breaks and in lower case.
var known = []struct{ id, words, unless string }{
	{"Apache-2.0", "apache license version 2.0, january 2004", ""},
	{"Apache-2.0", "licensed under the apache license, version 2.0", ""},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy", ""},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from", ""},
	{
		"BSD-2-Clause", "redistribution and use in source and binary forms",
		"may be used to endorse or promote products derived from",
	},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee", ""},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee", ""},
	{"MPL-2.0", "mozilla public license version 2.0", ""},
}

// identify returns the identifiers of the licenses in a text.
func identify(text string) (ids []string) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, k := range known {
		if strings.Contains(text, k.words) && (k.unless == "" || !strings.Contains(text, k.unless)) {
			ids = append(ids, k.id)
		}
	}
	return ids
}
