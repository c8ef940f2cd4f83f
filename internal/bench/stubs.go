package main

import (
	"context"

	"github.com/taint-manager/taint-manager/internal/bench/report"
)


type multitude struct{}

func (*multitude) memory(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	return nil, nil
}
func (*multitude) status(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	return nil, nil
}
func (*multitude) start(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	return nil, nil
}
func (*multitude) scale(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	return nil, nil
}
