package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"schedlab/core"
)

// watch is a script that runs before the page's own. It notes when the first
// histogram is there and when the answer is complete, and the main thread's long tasks.
var watch = `{
	const seen = self.seen = {tasks: []};
	new PerformanceObserver((list) => {
		for (const e of list.getEntries()) seen.tasks.push([e.startTime, e.duration]);
	}).observe({type: "longtask", buffered: true});
	const look = () => {
		if (!seen.first && ` + histogramThere + `) seen.first = performance.now();
		if (!seen.done && ` + is("done") + `) seen.done = performance.now();
		requestAnimationFrame(look);
	};
	document.addEventListener("DOMContentLoaded", look);
}`

// oneWorker runs a job in a worker of its own, and gives the milliseconds it took and the
// bytes of its last part.
const oneWorker = `(async () => {
	const w = new Worker(schedlab.script);
	const next = (kind) => new Promise((ok, no) => {
		w.onerror = (e) => no(new Error(e.message));
		w.onmessage = ({data}) => data.t === kind ? ok(data) : data.t === "part" || no(new Error(data.t + " " + data.text));
	});
	w.postMessage({module: schedlab.module});
	await next("ready");
	const run = async () => {
		const began = performance.now();
		w.postMessage({t: "run", gen: 1, link: %q, arm: 0, run: 0});
		const {buf} = await next("done");
		return [performance.now() - began, btoa(String.fromCharCode(...new Uint8Array(buf)))];
	};
	await run(); // until the engine's code is compiled with care
	const result = await run();
	w.terminate();
	return result;
})()`

// TestSpeed prints how fast the page is. It says nothing about right and wrong, for it
// depends on the machine: ./build.sh bench runs it.
func TestSpeed(t *testing.T) {
	if os.Getenv("SCHEDLAB_BENCH") == "" {
		t.Skip("./build.sh bench runs it")
	}
	const times = 5
	handler := assets(t)
	var first, start, streaming, done, rate, crowd, crowdRate, loaded, loadedRate, judging []float64
	for range times {
		b := newTab(t, handler)
		b.before(watch)
		b.open("")
		b.wait("self.seen.done")
		type notes struct {
			First, Done float64
			Tasks       [][2]float64 // start and length, ms
		}
		n := eval[notes](b, "self.seen")
		first, done = append(first, n.First), append(done, n.Done)
		var atStart, after float64
		for _, task := range n.Tasks {
			if task[0] < n.First {
				atStart = max(atStart, task[1])
			} else {
				after = max(after, task[1])
			}
		}
		start, streaming = append(start, atStart), append(streaming, after)

		b.open("#evidence")
		b.wait(evidenceThere)
		b.click("summary[data-fold^='hackbench, process, pipes']")
		b.wait(`document.querySelector(".case") && !document.querySelector(".case:empty")`)
		eval[any](b, "self.seen.tasks.length = 0, null")
		b.try("irq-nosync-hackbench-process-pipes-1", "run")
		b.try("irq-nosync-hackbench-process-pipes-4", "run")
		longest := 0.0
		for _, task := range eval[[][2]float64](b, "self.seen.tasks") {
			longest = max(longest, task[1])
		}
		judging = append(judging, longest)

		b.open("?runs=1&numipi=100") // nothing else is at work
		b.wait(is("done"))
		ms, events := b.simulate("?m=xeon-240&bg=quiet&arm=sm-idle-v2&runs=1")
		rate = append(rate, events/ms/1000)
		ms, events = b.simulate("?m=xeon-e5-2699v3&k=5.18&w=hackbench&groups=288&loops=20&pipe=1&bg=quiet&arm=&runs=1")
		crowd, crowdRate = append(crowd, ms), append(crowdRate, events/ms/1000)
		ms, events = b.simulate("?m=laptop&k=6.12&scx=lavd&w=messaging&group=20&thread=1&nr_loops=60&bg=quiet&arm=&runs=1")
		loaded, loadedRate = append(loaded, ms), append(loadedRate, events/ms/1000)
	}
	median := func(v []float64) float64 { slices.Sort(v); return v[len(v)/2] }
	print := func(what string, v []float64, unit, want string) {
		fmt.Printf("%-58s %8.4g %-4s  wanted: %s\n", what, median(v), unit, want)
	}
	print("cold load to the first histogram", first, "ms", "under 1500")
	print("longest main-thread task until then", start, "ms", "under 300")
	print("longest main-thread task after it (0: none over 50)", streaming, "ms", "0")
	print("longest one while published tables are judged", judging, "ms", "0")
	print("default scenario, from the load to its end", done, "ms", "under 6000")
	print("one worker, patched arm, quiet, xeon-240: million events/s", rate, "", "at least 2")
	print("one worker, hackbench, 11,520 tasks on 72 CPUs, 20 loops", crowd, "ms", "under 8000")
	print("the same: million events/s", crowdRate, "", "at least 1.5")
	print("one worker, scx_lavd, messaging, 800 threads, 60 loops", loaded, "ms", "under 8000")
	print("the same: million events/s", loadedRate, "", "at least 1.5")
}

// simulate has a worker of its own run a job twice, and returns how long the second time took,
// ms, and how many events there were.
func (b *tab) simulate(link string) (ms, events float64) {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[[2]any](fmt.Sprintf(oneWorker, link), chromedp.EvalAwaitPromise))
	b.check(err)
	bytes, err := base64.StdEncoding.DecodeString(v[1].(string))
	b.check(err)
	var part core.Part
	b.check(part.UnmarshalBinary(bytes))
	return v[0].(float64), float64(part.Events)
}

// before has a script run before those of each page to come.
func (b *tab) before(script string) {
	b.Helper()
	b.check(chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	})))
}
