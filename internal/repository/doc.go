// Package repository holds the rules of the repository as tests: which packages import which, which packages are
// pure, what ARCHITECTURE.md, the documents and the comments have to say. It has no other code.
package repository
