package fakemodel

import (
	"net/http"
	"strconv"
	"time"
)

// limits returns, by protocol, what the vendor's server answers with status 429 once a usage limit
// is reached until a time: each function sets headers and returns the body. They follow what users
// of the CLIs have reported.
var limits = map[string]func(h http.Header, until time.Time) any{
	"messages": messagesLimit, "responses": responsesLimit, "chat": chatLimit, "gemini": geminiLimit,
}

// seconds returns the seconds from now until a time, and that time as Unix time.
func seconds(until time.Time) (left int, at string) {
	return int(time.Until(until).Round(time.Second).Seconds()), strconv.FormatInt(until.Unix(), 10)
}

func messagesLimit(h http.Header, until time.Time) any {
	left, at := seconds(until)
	h.Set("retry-after", strconv.Itoa(left))
	h.Set("anthropic-ratelimit-unified-status", "rejected")
	h.Set("anthropic-ratelimit-unified-reset", at)
	h.Set("anthropic-ratelimit-unified-representative-claim", "five_hour")
	h.Set("anthropic-ratelimit-unified-5h-status", "rejected")
	h.Set("anthropic-ratelimit-unified-5h-reset", at)
	h.Set("anthropic-ratelimit-unified-5h-utilization", "1.0")
	h.Set("anthropic-ratelimit-unified-overage-status", "rejected")
	h.Set("anthropic-ratelimit-unified-overage-disabled-reason", "org_level_disabled")
	return messages{}.failure(http.StatusTooManyRequests, "This request would exceed your account's rate limit. Please try again later.")
}

// usedFor is how long the limits that answers report still last.
const usedFor = 2 * time.Hour

// messagesUsed reports the use of a subscription's limits: percent of the five-hour limit, half as
// much of the seven-day limit.
func messagesUsed(h http.Header, percent int, until time.Time) {
	h.Set("anthropic-ratelimit-unified-status", "allowed")
	h.Set("anthropic-ratelimit-unified-representative-claim", "five_hour")
	for name, one := range map[string]struct {
		used float64
		at   time.Time
	}{"5h": {float64(percent) / 100, until}, "7d": {float64(percent) / 200, until.Add(48 * time.Hour)}} {
		h.Set("anthropic-ratelimit-unified-"+name+"-status", "allowed")
		h.Set("anthropic-ratelimit-unified-"+name+"-utilization", strconv.FormatFloat(one.used, 'f', 2, 64))
		h.Set("anthropic-ratelimit-unified-"+name+"-reset", strconv.FormatInt(one.at.Unix(), 10))
	}
	h.Set("anthropic-ratelimit-unified-reset", strconv.FormatInt(until.Unix(), 10))
}

func responsesLimit(h http.Header, until time.Time) any {
	left, _ := seconds(until)
	h.Set("x-codex-plan-type", "plus")
	h.Set("x-codex-primary-used-percent", "100")
	h.Set("x-codex-primary-window-minutes", "300")
	h.Set("x-codex-primary-reset-after-seconds", strconv.Itoa(left))
	h.Set("x-codex-primary-reset-at", strconv.FormatInt(until.Unix(), 10))
	h.Set("x-codex-secondary-used-percent", "80")
	h.Set("x-codex-secondary-window-minutes", "10080")
	h.Set("x-codex-secondary-reset-after-seconds", strconv.Itoa(left+302_400))
	h.Set("x-codex-secondary-reset-at", strconv.FormatInt(until.Unix()+302_400, 10))
	return object{"error": object{
		"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
		"resets_at": until.Unix(), "resets_in_seconds": left,
	}}
}

func chatLimit(h http.Header, until time.Time) any {
	left, _ := seconds(until)
	h.Set("retry-after", strconv.Itoa(left))
	return object{"error": object{
		"type": "insufficient_quota", "code": "insufficient_quota", "param": nil,
		"message": "You exceeded your current quota, please check your plan and billing details.",
	}}
}

// geminiLimit is the daily limit of an API key. After some retries gemini asks the user what to do.
func geminiLimit(_ http.Header, until time.Time) any {
	left, _ := seconds(until)
	const about = "type.googleapis.com/google.rpc."
	return object{"error": object{
		"code": http.StatusTooManyRequests, "status": "RESOURCE_EXHAUSTED",
		"message": "You exceeded your current quota, please check your plan and billing details.",
		"details": list{
			object{"@type": about + "QuotaFailure", "violations": list{object{
				"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
				"quotaId":     "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "50",
				"quotaDimensions": object{"location": "global", "model": Model},
			}}},
			object{"@type": about + "RetryInfo", "retryDelay": strconv.Itoa(left) + "s"},
		},
	}}
}
