// Package suggest names what somebody may have meant who has mistyped a name.
package suggest
