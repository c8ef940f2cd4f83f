package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// rule describes the allowed values of a setting, and whether its value is refused. The zero rule allows all values.
type rule struct {
	refused     bool
	takes       string
	must        string  // the sentence of help about the allowed values; empty for one with takes
	compares    bool    // whether the value is compared with other settings of the same object
	least, most float64 // the bounds of numbers; both are 0 if there are none
}

func between(n, least, most int) rule {
	return rule{
		refused: n < least || n > most, takes: fmt.Sprintf("%d to %d", least, most),
		must:  fmt.Sprintf("Must be between %d and %d.", least, most),
		least: float64(least), most: float64(most),
	}
}

// noLimitOr allows the numbers from least to most, and 0 for no limit.
func noLimitOr(x, least, most float64) rule {
	return rule{
		refused: x != 0 && !(least <= x && x <= most), // NaN is refused, too
		takes:   fmt.Sprintf("0 for no limit, or %s to %s", decimal(least), decimal(most)),
		most:    most,
	}
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func oneOf[S ~string](word S, words ...S) rule {
	return rule{
		refused: !slices.Contains(words, word), takes: JoinWords(texts(words...), "or"), must: mustBe(texts(words...)),
	}
}

// mustBe returns the sentence of help about the only allowed words.
func mustBe(words []string) string {
	if len(words) == 1 {
		return "Only " + words[0] + " is supported."
	}
	return "One of: (" + strings.Join(words, ", ") + ")."
}

func texts[S ~string](words ...S) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = string(word)
	}
	return list
}

// JoinWords joins words: "a", "a or b", "a, b or c".
func JoinWords(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// qpsRule refuses negative numbers except -1, because they are more likely a mistake than a request for no limit.
func (c *Configuration) qpsRule() rule {
	r := noLimitOr(float64(c.KubeAPIQPS), 1, 1e5)
	r.refused = r.refused && c.KubeAPIQPS != -1
	r.takes, r.least = "-1 or "+r.takes, -1
	return r
}

const (
	leases       = "leases" // the only kind of lock
	jitterFactor = 1.2      // by which client-go extends the time between two attempts to renew, at most
)

// leaseRule refuses fractions, because a Lease holds whole seconds: the other candidates would wait for less time than
// this process assumes.
func leaseRule(lease time.Duration) rule {
	return rule{
		refused: lease%time.Second != 0 || lease < time.Second || lease > time.Hour,
		takes:   fmt.Sprintf("whole seconds from %s to %s", time.Second, time.Hour),
	}
}

func renewRule(renew, lease, retry time.Duration) rule {
	return rule{
		compares: true,
		refused:  renew <= 0 || renew >= lease || float64(renew) <= jitterFactor*float64(retry),
		takes: fmt.Sprintf("less than --leader-elect-lease-duration=%s and more than %v times --leader-elect-retry-period=%s",
			lease, jitterFactor, retry),
	}
}

func retryRule(retry time.Duration) rule {
	const least = 10 * time.Millisecond
	return rule{refused: retry < least, takes: fmt.Sprintf("%s or more", least)}
}

// loopbackOrNone allows loopback addresses only, because the page does not authenticate its readers.
func loopbackOrNone(address string) rule {
	return rule{
		refused: address != "" && !isLoopbackPort(address),
		takes:   "a loopback address and a port from 1 to 65535, such as 127.0.0.1:8080, or nothing for no page",
	}
}

const octet = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`

var loopbackPort = regexp.MustCompile(`^(localhost|\[::1\]|127(\.` + octet + `){3}):([1-9][0-9]{0,4})$`)

func isLoopbackPort(address string) bool {
	found := loopbackPort.FindStringSubmatch(address)
	if found == nil {
		return false
	}
	_, err := strconv.ParseUint(found[len(found)-1], 10, 16)
	return err == nil
}

// oneLine allows names that are readable on one line.
func oneLine(name string) rule {
	const maxName = 253 // the length of a host name
	unreadable := func(r rune) bool { return !unicode.IsPrint(r) }
	return rule{
		refused: len(name) > maxName || strings.TrimSpace(name) != name || strings.ContainsFunc(name, unreadable),
		takes:   fmt.Sprintf("up to %d printable characters without spaces around them, such as prod-eu-1", maxName),
	}
}
