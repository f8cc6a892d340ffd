package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

// parseCPUs reads a CPU list as the kernel writes it (0-3,8) for a machine of
// n CPUs. The result is ascending and has least to most CPUs; if it can't, want
// says what is allowed.
func parseCPUs(list string, n int, least, most int64) (cpus []int, want string) {
	want = fmt.Sprintf("a list such as 0-1,3 of CPUs from 0 to %d", n-1)
	listed := make([]bool, n)
	for piece := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(piece, "-")
		if !isRange {
			last = first
		}
		lo, err1 := strconv.ParseUint(first, 10, 31)
		hi, err2 := strconv.ParseUint(last, 10, 31)
		if err1 != nil || err2 != nil || lo > hi || hi >= uint64(n) {
			return nil, want
		}
		for cpu := lo; cpu <= hi; cpu++ {
			listed[cpu] = true
		}
	}
	for cpu, is := range listed {
		if is {
			cpus = append(cpus, cpu)
		}
	}
	if got := int64(len(cpus)); got < least || got > most {
		count := fmt.Sprintf("%d to %d of them", least, most)
		if least == most {
			count = fmt.Sprintf("exactly %d", least)
		}
		return nil, fmt.Sprintf("%s, %s, not %d", want, count, got)
	}
	return cpus, ""
}

// FormatCPUs writes ascending CPUs as a list: 0-3,8.
func FormatCPUs[T ~int | ~int16](cpus []T) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		j := i // last of the range that starts at i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(cpus[i])))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(int(cpus[j])))
		}
		i = j + 1
	}
	return b.String()
}
