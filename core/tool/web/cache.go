package web

import (
	"sync"
	"time"
)

// The bounds of the cache.
const (
	maxKept  = 64
	maxBytes = 16 << 20
)

// cache keeps pages for some minutes, so that reading on costs the site nothing. The zero value
// with a ttl is ready.
type cache struct {
	ttl   time.Duration
	now   func() time.Time // nil: time.Now
	mu    sync.Mutex
	items map[string]item
	size  int
}

type item struct {
	page fetched
	at   time.Time
}

func (c *cache) currentTime() time.Time {
	if c.now != nil {
		return c.now()
	}
	return time.Now()
}

func (c *cache) get(key string) (fetched, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	it, ok := c.items[key]
	if !ok || c.currentTime().Sub(it.at) >= c.ttl {
		return fetched{}, false
	}
	return it.page, true
}

func (c *cache) put(key string, p fetched) {
	if c.ttl <= 0 || len(p.text) > maxBytes/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items == nil {
		c.items = map[string]item{}
	}
	c.drop(key)
	c.items[key] = item{p, c.currentTime()}
	c.size += len(p.text)
	for len(c.items) > maxKept || c.size > maxBytes {
		c.dropOldest()
	}
}

func (c *cache) drop(key string) {
	if it, ok := c.items[key]; ok {
		c.size -= len(it.page.text)
		delete(c.items, key)
	}
}

func (c *cache) dropOldest() {
	oldest, at := "", time.Time{}
	for key, it := range c.items {
		if oldest == "" || it.at.Before(at) {
			oldest, at = key, it.at
		}
	}
	c.drop(oldest)
}
