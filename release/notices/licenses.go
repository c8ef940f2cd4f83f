package notices

import "strings"

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
