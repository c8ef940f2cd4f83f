package report

func SVG(Summary) []byte { return nil }
