package run

import (
	"strings"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/config"
)

// fieldSections are the flags of every component of Kubernetes that are also fields of the configuration file: the
// section of the help, the object of the file, and the prefix of the flags.
var fieldSections = []struct{ section, object, prefix string }{
	{"secure serving", "serving", ""},
	{"authentication", "authentication", "authentication-"},
	{"authorization", "authorization", "authorization-"},
	{"logging", "logging", "logging-"},
}

// fieldNames are the fields that are not named like their flags.
var fieldNames = map[string]string{"v": "verbosity", "log-flush-frequency": "flushFrequency"}

// fieldsOf returns the settings of these sections.
func fieldsOf(sections *cliflag.NamedFlagSets) []config.Setting {
	var settings []config.Setting
	for _, s := range fieldSections {
		sections.FlagSet(s.section).VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Deprecated != "" || f.Value.Type() == "namedCertKey" { // two texts in one value
				return
			}
			name := fieldNames[f.Name]
			if name == "" {
				name = camel(strings.TrimPrefix(f.Name, s.prefix))
			}
			field := s.object + "." + name
			settings = append(settings, config.NewSetting(f, field, allowed(f), "leave it out for the default"))
		})
	}
	return settings
}

// allowed describes the values of a flag; "" if its type is description enough.
func allowed(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "string", "bool", "stringSlice":
		return ""
	}
	return flags.Takes(f)
}

// acronyms are written in capitals, except at the beginning.
var acronyms = map[string]string{"ca": "CA", "tls": "TLS", "ttl": "TTL", "uid": "UID"}

// camel converts a name with dashes to a field name in Kubernetes' style.
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
