package ui

// A memo keeps what takes long to make until it is of something else. It belongs to the App, for
// Vugu forgets components that a render leaves out.
type memo[T any] struct {
	of    any
	value T
}

func (m *memo[T]) get(of any, make func() T) T {
	if m.of != of {
		m.of, m.value = of, make()
	}
	return m.value
}

// Memos are what the page need not make anew at each render.
type Memos struct {
	histogram, machine, sweep memo[string]
	calls                     memo[callers]
}

// callers are the CPUs that call others and those that are called, and that in words.
type callers struct {
	from, to []int
	words    string
}
