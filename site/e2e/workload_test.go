package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"schedlab/core"
	"schedlab/core/scenario"
)

// TestWorkloads: each benchmark can be chosen, its words, switches and figures too, and gives the
// command's bits.
func TestWorkloads(t *testing.T) {
	b := newTab(t, assets(t))
	start := fmt.Sprintf("?v=1&model=%d", core.Model)
	for _, c := range []struct {
		name, link string
		act        func()
		want       string // how the address bar's query ends up, but for v and model
	}{
		{"hackbench by switches", "&m=laptop&w=hackbench&groups=1&loops=3&bg=quiet&runs=2", func() {
			b.click("#f-pipe")
			b.click("#f-threads")
			b.write("#f-scale", "10000")
			b.press(kb.Tab)
		}, "m=laptop&w=hackbench&groups=1&loops=3&pipe=1&threads=1&scale=10000&bg=quiet&runs=2"},
		{"schbench by version and metric", "&m=laptop&w=schbench&threads=2&runtime=50&warmuptime=10&bg=quiet&runs=2", func() {
			b.choose("#f-version", "old")
			b.choose("#f-metric", "wakeup50")
		}, "m=laptop&w=schbench&version=old&threads=2&runtime=50&warmuptime=10&metric=wakeup50&bg=quiet&runs=2"},
		{"netperf by test", "&m=laptop&w=netperf&runtime=2&warmuptime=1&bg=quiet&runs=2", func() { b.choose("#f-test", "UDP_RR") },
			"m=laptop&w=netperf&test=UDP_RR&runtime=2&warmuptime=1&bg=quiet&runs=2"},
		{"pgbench by kernel", "&m=laptop&w=pgbench&clients=2&runtime=10&warmuptime=2&bg=quiet&runs=2", func() { b.choose("#f-k", "5.18") },
			"m=laptop&k=5.18&w=pgbench&clients=2&runtime=10&warmuptime=2&bg=quiet&runs=2"},
		{"tbench", "&m=laptop&w=tbench&clients=1&runtime=2&warmuptime=1&bg=quiet&runs=2", func() {}, "m=laptop&w=tbench&clients=1&runtime=2&warmuptime=1&bg=quiet&runs=2"},
		{"messaging", "&m=laptop&w=messaging&group=1&nr_loops=1&bg=quiet&runs=2", func() {}, "m=laptop&w=messaging&group=1&nr_loops=1&bg=quiet&runs=2"},
	} {
		b.open(start + c.link)
		b.wait(`document.querySelector("#f-metric, #f-clients")`)
		c.act()
		want := start + "&" + c.want
		b.wait(fmt.Sprintf("location.search == %q", want))
		s, problems := scenario.Parse(want)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		b.finish(s)
		if said := eval[string](b, `document.querySelector("article.answer").innerText`); !strings.Contains(said, s.Workload) {
			t.Errorf("%s: the answer does not speak of it", c.name)
		}
	}
}

// TestScheduler: a kernel with sched_ext, a scheduler for it and versions of its clock are chosen by keyboard and pointer,
// give the command's bits, and have their tables; a scheduler brings its kernel along, and goes with it.
func TestScheduler(t *testing.T) {
	b := newTab(t, assets(t))
	start := fmt.Sprintf("?v=1&model=%d", core.Model)
	const rest = "&w=messaging&group=1&nr_loops=2&thread=1"
	b.open(start + "&m=apu-8" + rest + "&bg=quiet&runs=2")
	b.wait(live)
	at := func(middle string) string { return start + "&m=apu-8" + middle + "&bg=quiet&runs=2" }
	reach := func(middle string) {
		t.Helper()
		b.wait(fmt.Sprintf("location.search == %q", at(middle)))
	}
	b.choose("#f-k", "6.12")
	reach("&k=6.12" + rest)
	b.click("[data-arm='0'] .edit")
	b.wait(`document.querySelector("[data-patch=scx-now] input")?.disabled && document.querySelector("[data-patch=scx-now]").innerText.includes("needs a sched_ext scheduler")`)
	b.choose("#f-scx", "rusty")
	reach("&k=6.12&scx=rusty" + rest)
	b.choose("#f-metric", "clock_reads")
	b.click(".arms .add")
	reach("&k=6.12&scx=rusty" + rest + "&metric=clock_reads&arm=&arm=scx-now")
	b.click("[data-arm='1'] [data-patch=scx-now] input")
	b.click("[data-arm='1'] [data-patch=scx-now-v1] input")
	b.wait(`document.querySelector("[data-arm='1'] [data-patch=scx-now-v4] input")?.disabled`)
	b.focus("[data-arm='1'] [data-patch=scx-queued-wakeup] input")
	b.press(" ")
	link := "&k=6.12&scx=rusty" + rest + "&metric=clock_reads&arm=&arm=scx-now-v1,scx-queued-wakeup"
	reach(link)
	s, problems := scenario.Parse(at(link))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	b.finish(s)
	shown := eval[string](b, `document.querySelector("[data-table=clock]").innerText`)
	for _, want := range []string{"runnable", "all", "saved", "scx clock v1"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the table of the clock has no %q: %s", want, shown)
		}
	}
	b.choose("#f-k", "6.11")
	reach(rest + "&arm=")
	if said := eval[string](b, `document.querySelector("form.ask .problems").innerText`); !strings.Contains(said, "scx=rusty: left out with this choice") {
		t.Errorf("of the scheduler the page says %q", said)
	}
	b.choose("#f-scx", "lavd")
	reach("&k=6.12&scx=lavd" + rest)
}

// TestPresets: each question that is offered is asked by a click, and has its answer begun.
func TestPresets(t *testing.T) {
	b := newTab(t, assets(t))
	b.open(small)
	b.wait(is("done"))
	n := eval[int](b, `document.querySelectorAll("[data-preset]").length`)
	for i := range n {
		b.click(fmt.Sprintf("[data-preset]:nth-of-type(%d)", i+1))
		b.wait(fmt.Sprintf("location.search == document.querySelectorAll('[data-preset]')[%d].dataset.preset", i))
		b.wait(histogramThere)
	}
	if n < 10 {
		t.Errorf("%d questions are offered", n)
	}
}
