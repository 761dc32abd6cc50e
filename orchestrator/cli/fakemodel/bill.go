package fakemodel

// Bill is what an answer takes, in tokens, as each vendor's server says it in its own words.
type Bill struct {
	Input      int64 // that were read anew
	CacheRead  int64
	CacheWrite int64 // the protocols of OpenAI and of gemini have no such number: there it is 0
	Output     int64
}

// Add adds what another answer takes.
func (b *Bill) Add(other Bill) {
	b.Input, b.CacheRead, b.CacheWrite, b.Output = b.Input+other.Input, b.CacheRead+other.CacheRead, b.CacheWrite+other.CacheWrite, b.Output+other.Output
}

// same is the bill of every answer of a server that has no Bills.
var same = Bill{Input: 100, Output: 10}

// another is a bill that no other answer has, nor any few of them together.
func another(n int64) Bill {
	return Bill{Input: 1000 + 7*n*n, CacheRead: 300 + 11*n*n, CacheWrite: 20 + 5*n*n, Output: 10 + 3*n*n}
}

// bill takes a bill for an answer.
func (s *Server) bill(protocol string) Bill {
	if !s.Bills {
		return same
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.billed++
	b := another(s.billed)
	if protocol != "messages" {
		b.CacheWrite = 0
	}
	return b
}

// read is all that was read, from a cache or not: what the protocols but that of Anthropic have as the input.
func (b Bill) read() int64 { return b.Input + b.CacheRead }
