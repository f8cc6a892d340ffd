package server

import (
	"container/list"
	"context"
	"sync"
)

// A Cache keeps what was simulated. It may forget anything at any time.
type Cache interface {
	Get(ctx context.Context, key string) []byte // nil: not there
	Put(ctx context.Context, key string, data []byte)
}

// key names what a program of this version makes of a link.
func key(form, link string) string { return form + " " + Version() + " " + link }

func (s *Server) recall(ctx context.Context, form, link string) []byte {
	if s.Cache == nil {
		return nil
	}
	return s.Cache.Get(ctx, key(form, link))
}

func (s *Server) keep(ctx context.Context, form, link string, data []byte) {
	if s.Cache != nil {
		s.Cache.Put(ctx, key(form, link), data)
	}
}

// Memory is a Cache in memory, which forgets what was not asked for for longest.
type Memory struct {
	Limit int // bytes

	mu    sync.Mutex
	size  int
	items map[string]*list.Element
	order list.List // of memory, the latest in front
}

type memory struct {
	key  string
	data []byte
}

// cost is what an item takes, roughly.
func (m *memory) cost() int { return len(m.key) + len(m.data) + 200 }

// Get implements Cache.
func (c *Memory) Get(_ context.Context, key string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.items[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*memory).data
}

// Put implements Cache.
func (c *Memory) Put(_ context.Context, key string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	item := &memory{key, data}
	if item.cost() > c.Limit {
		return
	}
	if c.items == nil {
		c.items = make(map[string]*list.Element)
	}
	if e := c.items[key]; e != nil {
		c.remove(e)
	}
	c.items[key] = c.order.PushFront(item)
	c.size += item.cost()
	for c.size > c.Limit {
		c.remove(c.order.Back())
	}
}

func (c *Memory) remove(e *list.Element) {
	item := c.order.Remove(e).(*memory)
	delete(c.items, item.key)
	c.size -= item.cost()
}
