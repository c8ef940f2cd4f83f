package notices

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/release/build"
)

// Notices returns the texts of all modules, which their licenses require to be distributed.
func Notices(modules []Module) string {
	var out strings.Builder
	out.WriteString("taint-manager is made of these modules beside its own sources.\n")
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

// document is an SPDX document of version 2.3, with the fields that are needed.
type document struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	SPDXID            string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creation       `json:"creationInfo"`
	Packages          []spdxPackage  `json:"packages"`
	Relationships     []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	Name             string     `json:"name"`
	SPDXID           string     `json:"SPDXID"`
	VersionInfo      string     `json:"versionInfo"`
	DownloadLocation string     `json:"downloadLocation"`
	FilesAnalyzed    bool       `json:"filesAnalyzed"`
	LicenseConcluded string     `json:"licenseConcluded"`
	LicenseDeclared  string     `json:"licenseDeclared"`
	CopyrightText    string     `json:"copyrightText"`
	ExternalRefs     []external `json:"externalRefs"`
}

type external struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const self = "github.com/taint-manager/taint-manager"

// SPDX returns the bill of materials as SPDX 2.3 in JSON.
func SPDX(modules []Module, i build.Info) ([]byte, error) {
	root := packageOf(Module{Path: self, Version: i.Version, Licenses: []string{"Apache-2.0"}})
	d := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", Name: "taint-manager-" + i.Version,
		CreationInfo:  creation{i.Time.UTC().Format(time.RFC3339), []string{"Tool: taint-manager-release"}},
		Packages:      []spdxPackage{root},
		Relationships: []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", root.SPDXID}},
	}
	content := sha256.New()
	for _, m := range modules {
		p := packageOf(m)
		d.Packages = append(d.Packages, p)
		d.Relationships = append(d.Relationships, relationship{root.SPDXID, "DEPENDS_ON", p.SPDXID})
		_, _ = fmt.Fprintln(content, m.title(), i)
	}
	d.DocumentNamespace = fmt.Sprintf("https://%s/spdx/%s-%x", self, i.Version, content.Sum(nil)[:16])
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the bill of materials: %w", err)
	}
	return append(text, '\n'), nil
}

var outsideIDs = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func packageOf(m Module) spdxPackage {
	license := strings.Join(m.Licenses, " AND ")
	return spdxPackage{
		Name: m.Path, VersionInfo: m.Version, SPDXID: "SPDXRef-" + outsideIDs.ReplaceAllString(m.Path, "-"),
		DownloadLocation: "NOASSERTION", LicenseConcluded: "NOASSERTION", LicenseDeclared: cmp.Or(license,
			"NOASSERTION"), CopyrightText: "NOASSERTION",
		ExternalRefs: []external{{"PACKAGE-MANAGER", "purl", purl(m)}},
	}
}

func purl(m Module) string {
	path := m.Path
	if path == "std" {
		path = "stdlib"
	}
	return "pkg:golang/" + strings.ToLower(path) + "@" + m.Version
}
