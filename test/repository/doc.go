// Package repository tests the rules of the repository: which packages import which, which packages are pure, and
// what ARCHITECTURE.md, the documents and the comments must contain. It has no other code.
package repository
