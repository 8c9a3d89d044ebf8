package sendtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// A Cutter is a proxy on loopback that breaks every connection once it has
// passed a number of bytes, and takes none after that.
type Cutter struct {
	ln   net.Listener
	to   string
	join sync.WaitGroup

	mu       sync.Mutex
	up, down int64 // bytes that may still pass; -1: without limit
	passed   int64 // bytes from the client that passed
	cut      bool
	after    int // connections that came after the cut
	live     map[net.Conn]bool
}

// NewCutter passes up bytes to the server at base and down bytes back; -1 sets
// no limit.
func NewCutter(t testing.TB, base string, up, down int64) *Cutter {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cutter{ln: ln, to: u.Host, up: up, down: down, live: map[net.Conn]bool{}}
	c.join.Go(c.accept)
	t.Cleanup(c.Close)
	return c
}

// Base is the address of the proxy, with the scheme of base.
func (c *Cutter) Base(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	u.Host = c.ln.Addr().String()
	return u.String()
}

// Passed is how many bytes of the client went through; After is how many
// connections came after the cut.
func (c *Cutter) Passed() int64 { c.mu.Lock(); defer c.mu.Unlock(); return c.passed }

// After is how many connections came after the cut.
func (c *Cutter) After() int { c.mu.Lock(); defer c.mu.Unlock(); return c.after }

// Close breaks what is open and waits.
func (c *Cutter) Close() {
	c.ln.Close()
	c.sever()
	c.join.Wait()
}

func (c *Cutter) accept() {
	for {
		client, err := c.ln.Accept()
		if err != nil {
			return
		}
		c.mu.Lock()
		refuse := c.cut
		if refuse {
			c.after++
		}
		c.mu.Unlock()
		if refuse {
			reset(client)
			continue
		}
		server, err := net.Dial("tcp", c.to)
		if err != nil {
			reset(client)
			continue
		}
		c.mu.Lock()
		c.live[client], c.live[server] = true, true
		c.mu.Unlock()
		c.join.Go(func() { c.pass(server, client, &c.up, &c.passed) })
		c.join.Go(func() { c.pass(client, server, &c.down, nil) })
	}
}

// pass copies until the budget is used up, then breaks everything.
func (c *Cutter) pass(dst, src net.Conn, budget, count *int64) {
	buf := make([]byte, 4096)
	for {
		c.mu.Lock()
		room := *budget
		c.mu.Unlock()
		if room == 0 {
			// One byte is waited for, so that the cut comes when there was
			// something to cut.
			if _, err := io.ReadFull(src, buf[:1]); err == nil {
				c.sever()
			}
			return
		}
		p := buf
		if room > 0 {
			p = buf[:min(room, int64(len(buf)))]
		}
		n, err := src.Read(p)
		if n > 0 {
			c.mu.Lock()
			if *budget > 0 {
				*budget -= int64(n)
			}
			if count != nil {
				*count += int64(n)
			}
			c.mu.Unlock()
			if _, werr := dst.Write(p[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			if tc, ok := dst.(*net.TCPConn); ok {
				tc.CloseWrite()
			}
			return
		}
	}
}

func (c *Cutter) sever() {
	c.mu.Lock()
	c.cut = true
	live := c.live
	c.live = map[net.Conn]bool{}
	c.mu.Unlock()
	for conn := range live {
		reset(conn)
	}
}

// reset closes with RST, so that both sides see a broken connection at once.
func reset(conn net.Conn) {
	if tc, ok := conn.(*net.TCPConn); ok {
		tc.SetLinger(0)
	}
	conn.Close()
}
