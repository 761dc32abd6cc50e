package cli

import "time"

// Use is what one answer of a model took, as the CLI's own record says it.
type Use struct {
	At         time.Time
	Input      int64 // tokens that were read anew
	CacheRead  int64 // that came from a cache
	CacheWrite int64 // that were put into one
	Output     int64 // with what the model thought
	Cost       float64
	Priced     bool // the CLI says what it cost, in US dollars
}

// Spent is what models took: tokens as the CLI's own record counts them, and dollars where it says them.
type Spent struct {
	Input      int64   `json:"input_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Output     int64   `json:"output_tokens"`
	Answers    int     `json:"answers"`
	Cost       float64 `json:"-"`
	Priced     bool    `json:"-"` // Cost is known of at least one answer
}

// Add adds one answer.
func (s *Spent) Add(u Use) {
	s.Input, s.CacheRead, s.CacheWrite, s.Output = s.Input+u.Input, s.CacheRead+u.CacheRead, s.CacheWrite+u.CacheWrite, s.Output+u.Output
	s.Cost, s.Priced, s.Answers = s.Cost+u.Cost, s.Priced || u.Priced, s.Answers+1
}
