package report

import "slices"

// Series is one figure, measured several times.
type Series []float64

// Median returns the middle of the sorted figures; of an even number of figures, the mean of the two in the middle.
// If there are none it returns 0.
func (s Series) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Quantile returns the smallest figure that at least this share of the figures does not exceed: 0 gives the
// smallest, 1 the largest. If there are none it returns 0.
func (s Series) Quantile(share float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	rank := int(share * float64(len(sorted)))
	if float64(rank) < share*float64(len(sorted)) {
		rank++
	}
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// over divides each figure by the figure of the same round. If the numbers of rounds differ, it divides by the median
// of other.
func (s Series) over(other Series) (ratios Series) {
	for i, figure := range s {
		by := other.Median()
		if len(other) == len(s) {
			by = other[i]
		}
		if by != 0 {
			ratios = append(ratios, figure/by)
		}
	}
	return ratios
}
