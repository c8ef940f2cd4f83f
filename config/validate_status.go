package config

import (
	"strconv"
	"strings"
)

// validateStatusAddress takes loopback only: nobody asks there who it is that reads.
func (c Configuration) validateStatusAddress() []Refusal {
	address := c.StatusAddress
	if address == "" {
		return nil
	}
	colon := strings.LastIndexByte(address, ':')
	if colon >= 0 && isLoopback(address[:colon]) && isPort(address[colon+1:]) {
		return nil
	}
	return refuse("status-address", address,
		"it takes a loopback address and a port from 1 to 65535, such as 127.0.0.1:8080, or nothing for no page",
		"leave it out for 127.0.0.1:8080, and reach the page from elsewhere with kubectl port-forward")
}

func isLoopback(host string) bool {
	if host == "localhost" || host == "[::1]" {
		return true
	}
	parts := strings.Split(host, ".")
	if len(parts) != 4 || parts[0] != "127" {
		return false
	}
	for _, part := range parts {
		if n, err := strconv.Atoi(part); err != nil || n < 0 || n > 255 || strconv.Itoa(n) != part {
			return false
		}
	}
	return true
}

func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && 1 <= n && n <= 65535 && strconv.Itoa(n) == text
}
