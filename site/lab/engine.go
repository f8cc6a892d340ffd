package lab

import (
	"errors"
	"fmt"
	"runtime"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/scenario"
)

// An engine is a worker's side of Workers: it simulates the job that it is
// told to, chunk by chunk, so that it hears between two chunks when it is told
// something else.
type engine struct {
	post  func(message)
	again func() // has tick called soon, but after messages that have come by now
	start starter

	gen    int
	job    core.Job
	run    *running // nil: no job
	asked  bool     // tick will be called
	link   string   // of scenario
	parsed scenario.Scenario
	part   core.Part
}

// receive takes in a message.
func (e *engine) receive(m message) {
	defer e.caught()
	switch m.Kind {
	case "run":
		e.gen, e.job, e.run = m.Gen, core.Job{Arm: m.Arm, Run: m.Run}, nil
		if err := e.begin(m.Link); err != nil {
			e.post(message{Kind: "fail", Gen: e.gen, Text: err.Error()})
			return
		}
		e.askAgain()
	case "cancel":
		if m.Gen == e.gen {
			e.run = nil
		}
		e.ready(m.Gen)
	}
}

// ready says that the engine waits for a job.
func (e *engine) ready(gen int) { e.post(message{Kind: "ready", Gen: gen, Model: core.Model}) }

func (e *engine) begin(link string) error {
	if link != e.link {
		s, problems := scenario.Parse(link)
		for _, p := range problems {
			if !p.Notice {
				return p
			}
		}
		e.link, e.parsed = link, s
	}
	m, err := e.start(e.parsed, e.job)
	if err != nil {
		return err
	}
	e.run = startRunning(m)
	return nil
}

func (e *engine) askAgain() {
	if !e.asked {
		e.asked = true
		e.again()
	}
}

// tick simulates one chunk.
func (e *engine) tick() {
	defer e.caught()
	e.asked = false
	if e.run == nil {
		return
	}
	status, due := e.run.chunk()
	if due {
		e.run.Part(&e.part)
		b, err := e.part.AppendBinary(nil)
		if err != nil {
			panic(err)
		}
		m := message{Kind: "part", Gen: e.gen, Part: b}
		if status != kernel.Running {
			m.Kind, m.Memory = "done", memory()
			e.run = nil
		}
		e.post(m)
	}
	if e.run != nil {
		if due {
			e.run.sent()
		}
		e.askAgain()
	}
}

// caught makes a failed job of a panic.
func (e *engine) caught() {
	if fault := recover(); fault != nil {
		e.run = nil
		e.post(message{Kind: "fail", Gen: e.gen, Text: errSimulator(e.job, fault).Error()})
	}
}

// errSimulator words a panic of the simulator.
func errSimulator(j core.Job, fault any) error {
	return fmt.Errorf("run %d of arm %d: the simulator itself failed: %w", j.Run+1, j.Arm+1, asError(fault))
}

func asError(fault any) error {
	if err, ok := fault.(error); ok {
		return err
	}
	return errors.New(fmt.Sprint(fault))
}

// memory returns how many bytes the program holds.
func memory() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.Sys)
}
