package run

import (
	"strings"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/taint-manager/taint-manager/cli/usage"
	"github.com/taint-manager/taint-manager/config"
)

// fieldSections are the flags of every component of Kubernetes that are fields of the configuration file, too:
// by the section of the help, the object of the file, and what the flags' names begin with.
var fieldSections = []struct{ section, object, prefix string }{
	{"secure serving", "serving", ""},
	{"authentication", "authentication", "authentication-"},
	{"authorization", "authorization", "authorization-"},
	{"logging", "logging", "logging-"},
}

// fieldNames are fields that are not called as the flag is.
var fieldNames = map[string]string{"v": "verbosity", "log-flush-frequency": "flushFrequency"}

// fieldsOf are the settings of these sections.
func fieldsOf(sections cliflag.NamedFlagSets) []config.Setting {
	var settings []config.Setting
	for _, s := range fieldSections {
		sections.FlagSet(s.section).VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Deprecated != "" || f.Value.Type() == "namedCertKey" { // two texts in one
				return
			}
			name := fieldNames[f.Name]
			if name == "" {
				name = camel(strings.TrimPrefix(f.Name, s.prefix))
			}
			settings = append(settings, config.NewSetting(f.Name, s.object+"."+name, f.Usage, allowed(f), "leave it out for the default", f.Value))
		})
	}
	return settings
}

// allowed is what a flag takes; empty where its type says that already.
func allowed(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "string", "bool", "stringSlice":
		return ""
	}
	return strings.TrimPrefix(usage.Takes(f), "it takes ")
}

// acronyms are written in capitals, but at the beginning.
var acronyms = map[string]string{"ca": "CA", "tls": "TLS", "ttl": "TTL", "uid": "UID"}

// camel is a name with dashes as Kubernetes writes fields.
func camel(flag string) string {
	words := strings.Split(flag, "-")
	for i, word := range words[1:] {
		if acronym := acronyms[word]; acronym != "" {
			words[i+1] = acronym
			continue
		}
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
