// Package ordered has a priority queue whose elements can be moved and removed at any time. It is pure, and knows
// nothing of what it orders.
package ordered
