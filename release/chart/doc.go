// Package chart renders, checks and packs the Helm chart of deploy/chart with Helm's own packages, so that the
// program helm is not needed.
package chart
