// Package managertest tests whole managers through the exported API of the root package: managers on a fake API
// server, or with an informer that the test feeds, in virtual time. It has no other code.
package managertest
