package notices

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"

	"github.com/taint-manager/taint-manager/release/build"
)

// Notices returns the texts of all modules, which their licenses require to be distributed.
func Notices(modules []Module) string {
	var out strings.Builder
	out.WriteString("taint-manager is made of its own sources and these modules.\n")
	for _, m := range modules {
		fmt.Fprintf(&out, "\n%s\n%s (%s)\n%[1]s\n", strings.Repeat("=", 80), m.title(),
			strings.Join(m.Licenses, " AND "))
		for _, text := range m.Texts {
			fmt.Fprintf(&out, "\n--- %s\n\n%s\n", text.Name, strings.TrimSpace(text.Content))
		}
	}
	return out.String()
}

func (m Module) title() string {
	if m.Path == "std" {
		return "Go standard library " + m.Version
	}
	return m.Path + " " + m.Version
}

const self = "github.com/taint-manager/taint-manager"

// SPDX returns the bill of materials as SPDX 2.3 in JSON.
func SPDX(modules []Module, i build.Info) ([]byte, error) {
	root := packageOf(Module{Path: self, Version: i.Version, Licenses: []string{"Apache-2.0"}})
	d := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense,
		SPDXIdentifier: "DOCUMENT", DocumentName: "taint-manager-" + i.Version,
		CreationInfo: &spdx.CreationInfo{
			Created:  i.Time.UTC().Format(time.RFC3339),
			Creators: []spdx.Creator{{CreatorType: "Tool", Creator: "taint-manager-release"}},
		},
		Packages:      []*spdx.Package{root},
		Relationships: []*spdx.Relationship{related("DOCUMENT", "DESCRIBES", root)},
	}
	content := sha256.New()
	for _, m := range modules {
		p := packageOf(m)
		d.Packages = append(d.Packages, p)
		d.Relationships = append(d.Relationships, related(root.PackageSPDXIdentifier, "DEPENDS_ON", p))
		_, _ = fmt.Fprintln(content, m.title(), i.Version, i.Commit)
	}
	d.DocumentNamespace = fmt.Sprintf("https://%s/spdx/%s-%x", self, i.Version, content.Sum(nil)[:16])
	var text bytes.Buffer
	if err := json.Write(d, &text, json.Indent("  "), json.EscapeHTML(true)); err != nil {
		return nil, fmt.Errorf("encoding the bill of materials: %w", err)
	}
	return text.Bytes(), nil
}

func related(of spdx.ElementID, how string, to *spdx.Package) *spdx.Relationship {
	return &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(of)), Relationship: how,
		RefB: common.MakeDocElementID("", string(to.PackageSPDXIdentifier)),
	}
}

var outsideIDs = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func packageOf(m Module) *spdx.Package {
	const unknown = "NOASSERTION"
	return &spdx.Package{
		PackageName: m.Path, PackageVersion: m.Version,
		PackageSPDXIdentifier:   spdx.ElementID(outsideIDs.ReplaceAllString(m.Path, "-")),
		PackageDownloadLocation: unknown, PackageLicenseConcluded: unknown, PackageCopyrightText: unknown,
		PackageLicenseDeclared: cmp.Or(strings.Join(m.Licenses, " AND "), unknown),
		PackageExternalReferences: []*spdx.PackageExternalReference{
			{Category: "PACKAGE-MANAGER", RefType: "purl", Locator: purl(m)},
		},
	}
}

func purl(m Module) string {
	path := m.Path
	if path == "std" {
		path = "stdlib"
	}
	return "pkg:golang/" + strings.ToLower(path) + "@" + m.Version
}
