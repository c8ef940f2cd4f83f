//go:build !race

package managertest

const raceDetector = false
