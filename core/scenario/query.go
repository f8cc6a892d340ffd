package scenario

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"schedlab/core/kernel"
	"schedlab/core/workload"
)

// Query returns the link of s. Parse of it gives s again, and scenarios that
// Parse returned are the same if their links are.
func (s Scenario) Query() string { return s.query(false) }

// query writes the link, with what has its default only if all is set.
func (s Scenario) query(all bool) string {
	var b strings.Builder
	separator := byte('?')
	write := func(key, value string) {
		b.WriteByte(separator)
		separator = '&'
		b.WriteString(escape(key))
		b.WriteByte('=')
		b.WriteString(escape(value))
	}
	optional := func(key, value, def string) {
		if all || value != def {
			write(key, value)
		}
	}

	def := Default()
	write("v", strconv.Itoa(Version))
	write("model", strconv.Itoa(kernel.Model))
	optional("m", s.Machine, def.Machine)
	optional("k", s.Kernel, def.Kernel)
	optional("rt", bit(s.RT), "0")
	if s.Scheduler != "" {
		write("scx", s.Scheduler)
	}
	optional("w", s.Workload, def.Workload)
	if w, err := workload.Lookup(s.Workload); err == nil {
		values := s.defaultParams()
		for i := range min(len(s.Params), len(w.Params)) {
			p := &w.Params[i]
			optional(p.Key, FormatValue(p, s.Params[i]), FormatValue(p, values[i]))
		}
	}
	if s.Metric != "" {
		write("metric", s.Metric)
	}
	if all || !slices.EqualFunc(s.Arms, s.defaultArms(), slices.Equal) {
		for _, arm := range s.Arms {
			write("arm", strings.Join(arm, ","))
		}
	}
	if s.Idle != nil {
		write("idle", strings.Join(s.Idle, ","))
	}
	optional("bg", s.Background, def.Background)
	optional("runs", strconv.Itoa(s.Runs), strconv.Itoa(def.Runs))
	optional("seed", strconv.FormatUint(uint64(s.Seed), 10), strconv.FormatUint(uint64(def.Seed), 10))
	for _, c := range s.Costs {
		write("c."+c.Key, c.Value.Nanoseconds())
	}
	optional("check", bit(s.Check), "0")
	return b.String()
}

func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// escape is for values that no valid scenario has: those need no escaping, and
// commas stay readable.
func escape(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "%2C", ",")
}

// FormatValue writes a parameter's value as links have it.
func FormatValue(p *workload.Param, v workload.Value) string {
	switch {
	case p.Kind == workload.CPUs:
		return FormatCPUs(v.CPUs)
	case p.Kind == workload.Choice && v.N >= 0 && v.N < int64(len(p.Choices)):
		return p.Choices[v.N]
	}
	return strconv.FormatInt(v.N, 10)
}
