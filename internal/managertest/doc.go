// Package managertest tests whole managers by what the root package exports: managers on an API server that is fake, or
// with an informer that the test feeds, in virtual time. It has no other code.
package managertest
