package send

import (
	"fmt"
	"strconv"
	"time"
)

// SentAs says that the platform took it and calls it id. An empty id proves
// nothing: that is unknown.
func SentAs(id string) Outcome {
	if id == "" {
		return Unsure("the answer carries no message id")
	}
	return Outcome{Status: Sent, ID: id}
}

// SentSize is SentAs for a file of which the platform says how many bytes it
// holds. Another number than was sent is unknown.
func SentSize(id string, sent, held int64) Outcome {
	o := SentAs(id)
	if o.Status == Sent && sent != held {
		return Outcome{ID: id, Reason: fmt.Sprintf("%d bytes were sent, and the platform says it holds %d", sent, held)}
	}
	return o
}

// Drop says that it was not given to the platform.
func Drop(reason string) Outcome { return Outcome{Status: Dropped, Reason: reason} }

// Reject says that it was certainly not taken.
func Reject(reason string) Outcome { return Outcome{Status: Rejected, Reason: reason} }

// Unsure says that it may have arrived.
func Unsure(reason string) Outcome { return Outcome{Reason: reason} }

// Stop marks an outcome after which nothing else of the message is tried.
func (o Outcome) Stop() Outcome {
	o.Fatal = true
	return o
}

// After marks a refusal that asks for a second try after d.
func (o Outcome) After(d time.Duration) Outcome {
	o.Later = d
	return o
}

// RetryAfter reads the number of seconds of a Retry-After header, which may
// have a fraction. An empty or foreign value is 0.
func RetryAfter(header string) time.Duration {
	s, err := strconv.ParseFloat(header, 64)
	if err != nil || !(s > 0 && s < 1e6) { // NaN is neither
		return 0
	}
	return time.Duration(s * float64(time.Second))
}
