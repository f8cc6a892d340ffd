package lab

// A message goes between the page and one of its workers. On its way it is a
// plain object with these fields under the names in brackets, as far as the kind
// of message has them:
//
//	to the worker   run      gen, link, arm, run: simulate a job, and leave the one before
//	                cancel   gen: leave the job of this generation; answered by ready
//	from it         ready    gen, model: it has no job; gen is that of the cancel, 0 at its start
//	                part     gen, buf: what is known of its job so far
//	                done     gen, buf, memory: the same, and its job has ended
//	                fail     gen, text: its job can't be simulated
//	                died     text: it can do nothing any more
//
// A worker's very first message, {module}, is the loader script's: the compiled program that
// it is to run.
type message struct {
	Kind   string // (t)
	Gen    int    // (gen) counts the calls of Workers.Run: what is of an old one is dropped
	Link   string // (link) the scenario's
	Arm    int    // (arm)
	Run    int    // (run)
	Model  int    // (model) core.Model
	Part   []byte // (buf) a core.Part's; its buffer is transferred, not copied
	Text   string // (text) for people
	Memory int    // (memory) bytes that the worker holds
}
