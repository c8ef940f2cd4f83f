//go:build race

package managertest

const raceDetector = true
