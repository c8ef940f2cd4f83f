package policy

// UsesNodeLabels reports whether verdicts may depend on the labels of nodes. Without policies and breakers they do not.
func (j Judge) UsesNodeLabels() bool { return !j.Set.plain() }
