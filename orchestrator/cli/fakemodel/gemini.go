package fakemodel

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// gemini speaks the Gemini API: generateContent, and streamGenerateContent with alt=sse.
type gemini struct{}

type geminiContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text             string `json:"text"`
		FunctionResponse *struct {
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func (gemini) parse(r *http.Request, body []byte) (request, error) {
	var b struct {
		Contents []geminiContent `json:"contents"`
		Tools    []struct {
			FunctionDeclarations []struct {
				Name                 string  `json:"name"`
				Parameters           *schema `json:"parameters"`
				ParametersJSONSchema *schema `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		GenerationConfig struct {
			ResponseMIMEType   string  `json:"responseMimeType"`
			ResponseSchema     *schema `json:"responseSchema"`
			ResponseJSONSchema *schema `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return request{}, err
	}
	model, method, _ := strings.Cut(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ":")
	q := newRequest("gemini", model, method == "streamGenerateContent")
	config := b.GenerationConfig
	if q.wanted = cmp.Or(config.ResponseJSONSchema, config.ResponseSchema); q.wanted == nil &&
		config.ResponseMIMEType == "application/json" {
		q.wanted = &schema{}
	}
	for _, t := range b.Tools {
		for _, f := range t.FunctionDeclarations {
			parameters := cmp.Or(f.ParametersJSONSchema, f.Parameters, &schema{})
			q.tools[f.Name] = tool{name: f.Name, parameters: *parameters}
		}
	}
	for _, content := range b.Contents {
		for _, p := range content.Parts {
			switch {
			case p.FunctionResponse != nil:
				q.result(string(p.FunctionResponse.Response))
			case content.Role != "model" && p.Text != "":
				q.say(p.Text)
			}
		}
	}
	return q, nil
}

func (gemini) stream(e *events, q request, a answer, c call) {
	id := newID("resp")
	e.speak(a, func(text string) { e.send("", gemini{}.response(q, id, list{object{"text": text}}, false)) })
	e.send("", gemini{}.response(q, id, gemini{}.call(c), true))
}

func (gemini) whole(q request, a answer, c call) object {
	content := gemini{}.call(c)
	if a.text != "" {
		content = append(list{object{"text": a.text}}, content...)
	}
	return gemini{}.response(q, newID("resp"), content, true)
}

func (gemini) call(c call) list {
	if c.tool == "" {
		return list{}
	}
	return list{object{"functionCall": object{"id": newID("call"), "name": c.tool, "args": c.arguments}}}
}

func (gemini) response(q request, id string, content list, last bool) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": content}}
	if last {
		candidate["finishReason"] = "STOP"
	}
	b := q.bill
	usage := object{"promptTokenCount": b.read(), "candidatesTokenCount": b.Output, "totalTokenCount": b.read() + b.Output}
	if b.CacheRead > 0 {
		usage["cachedContentTokenCount"] = b.CacheRead
	}
	return object{"candidates": list{candidate}, "modelVersion": Model, "responseId": id, "usageMetadata": usage}
}

func (gemini) failure(status int, message string) any {
	name := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
	}[status]
	return object{"error": object{"code": status, "message": message, "status": cmp.Or(name, "UNKNOWN")}}
}
