package machine

// Numbering is the order in which Linux numbers a machine's threads.
type Numbering uint8

// The numberings.
const (
	ThreadsLast     Numbering = iota // x86 servers: the first thread of every core, then the second ones, so i and i + cores are siblings
	ThreadsAdjacent                  // POWER, and x86 laptops of AMD: all threads of a core, then those of the next one
)

// A Topology is a regular machine: every part has the same number of the parts
// within it.
type Topology struct {
	Sockets         int
	NodesPerSocket  int
	LLCsPerNode     int
	CoresPerLLC     int
	CoresPerCluster int // 0: no clusters; else a divisor of CoresPerLLC
	ThreadsPerCore  int
	Numbering       Numbering
}

// Node distances, in the units of the firmware's table (10 is local). Their order makes
// the NUMA levels, and tasks are not woken across more than the reclaim distance.
const (
	localNode  = 10
	nearNode   = 12 // another node of the socket
	remoteNode = 32 // another socket
)

// CPUs returns the CPUs of the topology, at the index that Linux numbers them with.
func (t Topology) CPUs() []CPU {
	cores := t.Sockets * t.NodesPerSocket * t.LLCsPerNode * t.CoresPerLLC
	cpus := make([]CPU, cores*t.ThreadsPerCore)
	for i := range cpus {
		core, thread := i%cores, i/cores
		if t.Numbering == ThreadsAdjacent {
			core, thread = i/t.ThreadsPerCore, i%t.ThreadsPerCore
		}
		llc := core / t.CoresPerLLC
		node := llc / t.LLCsPerNode
		cpus[i] = CPU{
			Socket: int16(node / t.NodesPerSocket),
			Node:   int16(node),
			LLC:    int16(llc),
			Core:   int16(core),
			Thread: int16(thread),
		}
		if t.CoresPerCluster > 0 {
			cpus[i].Cluster = int16(1 + core/t.CoresPerCluster)
		}
	}
	return cpus
}

// Nodes returns the distances between the topology's NUMA nodes, where the
// firmware's own are not known.
func (t Topology) Nodes() [][]int { return t.distances(nearNode, remoteNode) }

// distances returns the distances between nodes: near within a socket, remote beyond.
func (t Topology) distances(near, remote int) [][]int {
	nodes := make([][]int, t.Sockets*t.NodesPerSocket)
	for a := range nodes {
		nodes[a] = make([]int, len(nodes))
		for b := range nodes[a] {
			switch {
			case a == b:
				nodes[a][b] = localNode
			case a/t.NodesPerSocket == b/t.NodesPerSocket:
				nodes[a][b] = near
			default:
				nodes[a][b] = remote
			}
		}
	}
	return nodes
}
