package config

// validateQPS refuses negative numbers but -1, because they are more likely a slip than a wish for no
// limit.
func (c Configuration) validateQPS() []Refusal {
	qps := c.KubeAPIQPS
	if qps == -1 || qps == 0 || 1 <= qps && qps <= 1e5 {
		return nil
	}
	return refuse("kube-api-qps", qps, "it takes -1 or 0 for no limit, or 1 to 100000",
		"leave it out for no limit")
}

// validateBurst refuses a burst without a limit, because it would be passed over in silence.
func (c Configuration) validateBurst() []Refusal {
	switch {
	case c.KubeAPIBurst == 0:
		return nil
	case c.KubeAPIBurst < 0 || c.KubeAPIBurst > 1e6:
		return refuse("kube-api-burst", c.KubeAPIBurst, "it takes 0 to 1000000", "leave it out for as many as --kube-api-qps")
	case c.KubeAPIQPS <= 0:
		return refuse("kube-api-burst", c.KubeAPIBurst, "it takes 0 while --kube-api-qps sets no limit",
			"set --kube-api-qps too, or leave both out for no limit")
	}
	return nil
}

func (c Configuration) validateContentType() []Refusal {
	if c.KubeAPIContentType == ContentTypeProtobuf || c.KubeAPIContentType == ContentTypeJSON {
		return nil
	}
	return refuse("kube-api-content-type", c.KubeAPIContentType,
		"it takes "+ContentTypeProtobuf+" or "+ContentTypeJSON, "leave it out for protobuf")
}
