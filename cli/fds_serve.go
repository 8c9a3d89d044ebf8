package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/honestty/honestty/tools/fdmeter"
)

const (
	metricsPath = "/metrics"

	// scrapeLimit is how long one request may take, and how long those that run
	// may go on when the server is ended.
	scrapeLimit = 10 * time.Second
)

// listen serves the figures until ctx ends. Each request counts anew.
func (c *fdsCall) listen(ctx context.Context, args []string) error {
	if _, err := c.read(ctx, args); err != nil {
		return err // what nobody can count need not be served
	}
	at, err := c.address(ctx)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return fmt.Errorf("serve metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+metricsPath, func(w http.ResponseWriter, r *http.Request) { c.scrape(w, r, args) })
	s := &http.Server{
		Handler: mux, ReadHeaderTimeout: scrapeLimit, ReadTimeout: scrapeLimit, WriteTimeout: scrapeLimit,
		MaxHeaderBytes: 16 << 10, IdleTimeout: time.Minute,
	}
	fmt.Fprintf(c.app.err, "honestty: serving http://%s%s\n", l.Addr(), metricsPath)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }() // joined below, on either way out
	select {
	case err := <-done:
		return fmt.Errorf("serve metrics: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), scrapeLimit)
	defer cancel()
	err = s.Shutdown(last)
	if err != nil {
		err = errors.Join(err, s.Close())
	}
	if end := <-done; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	if err != nil {
		return fmt.Errorf("end serving metrics: %w", err)
	}
	return nil
}

// address is where to listen: on this machine only, unless --public was given.
func (c *fdsCall) address(ctx context.Context) (string, error) {
	at := c.serve
	if _, err := strconv.ParseUint(at, 10, 16); err == nil {
		at = ":" + at
	}
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return "", usagef("--openmetrics takes an address with a port, as :9177 or [::1]:9177")
	}
	if host == "" {
		return net.JoinHostPort("127.0.0.1", port), nil
	}
	if c.public {
		return at, nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", fmt.Errorf("look up the address to serve at: %w", err)
	}
	for _, a := range addrs {
		if !a.Unmap().IsLoopback() {
			return "", usagef("others can reach %s, and would see the names of the processes: give --public if they may", host)
		}
	}
	return net.JoinHostPort(addrs[0].Unmap().String(), port), nil
}

// scrape answers one request.
func (c *fdsCall) scrape(w http.ResponseWriter, req *http.Request, args []string) {
	if !c.public && !local(req.Host) {
		// A page in a browser may call a name of its own that leads here.
		http.Error(w, "only for callers that name this machine by its address", http.StatusForbidden)
		return
	}
	each := *c // requests come at the same time
	each.births = maps.Clone(c.births)
	report, err := each.read(req.Context(), args)
	if err != nil {
		http.Error(w, printable(err.Error()), http.StatusServiceUnavailable)
		return
	}
	var b bytes.Buffer
	if err := fdmeter.WriteOpenMetrics(&b, fdmeter.Report{Processes: report.Processes, System: report.System}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", fdmeter.OpenMetricsType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(b.Bytes()) // who went away sees nothing more
}

// local reports whether a Host header is an address or localhost.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost")
}
