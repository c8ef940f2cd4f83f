// Package chart renders, checks and packs the Helm chart of deploy/chart with Helm's own packages, so that no helm
// program is needed.
package chart
