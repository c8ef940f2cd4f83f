// Package suggest suggests the name that was probably meant by a mistyped one.
package suggest
