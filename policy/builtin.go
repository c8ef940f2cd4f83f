package policy

import "strings"

// ConflictsWithBuiltin names the settings whose promises do not hold while the built-in taint manager runs, such as
// "policy quarantine (method: Hold)", in the order of the configuration. Policies for NoSchedule taints alone do not
// conflict, because the built-in taint manager ignores NoSchedule taints. A nil Set has no conflicts.
func (s *Set) ConflictsWithBuiltin() (names []string) {
	if s == nil {
		return nil
	}
	c := &s.config
	if c.Method == Evict {
		names = append(names, "eviction.method: Evict")
	}
	for i := range c.Policies {
		p := &c.Policies[i]
		if fields := p.conflictsWithBuiltin(); len(fields) > 0 {
			names = append(names, "policy "+p.Name+" ("+strings.Join(fields, ", ")+")")
		}
	}
	for i := range c.Guards.Rates {
		names = append(names, "rate "+c.Guards.Rates[i].Name)
	}
	for i := range c.Guards.Breakers {
		names = append(names, "breaker "+c.Guards.Breakers[i].Name)
	}
	return names
}

// conflictsWithBuiltin returns the fields of the policy that keep pods longer than the built-in taint manager does.
// gracePeriod, tolerations.max and tolerations.unlimited only let pods go earlier.
func (p *Policy) conflictsWithBuiltin() (fields []string) {
	if p.Mode == Audit || p.Match.onlyNoSchedule() {
		return nil
	}
	if p.Method != Delete {
		fields = append(fields, "method: "+string(p.Method))
	}
	if p.Tolerations != nil && p.Tolerations.Min != nil {
		fields = append(fields, "tolerations.min")
	}
	if p.Tolerations != nil && p.Tolerations.Absent != nil {
		fields = append(fields, "tolerations.absent")
	}
	return fields
}
