package fakemodel

// Bill has the tokens of an answer, which each protocol reports in its own fields.
type Bill struct {
	Input      int64 // tokens, without those from a cache
	CacheRead  int64
	CacheWrite int64 // always 0 in the protocols of OpenAI and Gemini, which do not report it
	Output     int64
}

// Add adds the tokens of another answer.
func (b *Bill) Add(other Bill) {
	b.Input, b.CacheRead, b.CacheWrite, b.Output = b.Input+other.Input, b.CacheRead+other.CacheRead, b.CacheWrite+other.CacheWrite, b.Output+other.Output
}

// same is the bill of every answer of a server without Bills.
var same = Bill{Input: 100, Output: 10}

// another returns the n-th bill. No two bills, and no sums of a few of them, are equal.
func another(n int64) Bill {
	return Bill{Input: 1000 + 7*n*n, CacheRead: 300 + 11*n*n, CacheWrite: 20 + 5*n*n, Output: 10 + 3*n*n}
}

// bill returns the bill of the next answer.
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

// read returns the input tokens including those from a cache, as all protocols but Anthropic's
// count them.
func (b Bill) read() int64 { return b.Input + b.CacheRead }
