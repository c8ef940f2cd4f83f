//go:build race

package taintmanager_test

const raceDetector = true
