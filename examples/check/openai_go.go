// OpenAI's SDK for Go as a driver of `mock-gateway check` (docs/driver-protocol.md), called as its examples show.
//
//	go mod init driver && go get github.com/openai/openai-go/v3 && go build -o driver openai_go.go
//	mock-gateway check --driver --tools -- ./driver
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
)

const module = "github.com/openai/openai-go/v3"

type job struct {
	ID          int64             `json:"id"`
	Job         string            `json:"job"`
	BaseURL     string            `json:"base_url"`
	APIKey      string            `json:"api_key"`
	Model       string            `json:"model"`
	Prompt      string            `json:"prompt"`
	Tools       []json.RawMessage `json:"tools"`
	Stream      bool              `json:"stream"`
	AfterTokens int               `json:"after_tokens"`
	AfterMS     *int64            `json:"after_ms"`
}

type toolCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
}

type outcome struct {
	ID           int64      `json:"id"`
	Text         string     `json:"text"`
	ToolCalls    []toolCall `json:"tool_calls"`
	Error        *string    `json:"error"`
	FinishReason *string    `json:"finish_reason"`
	Usage        *usage     `json:"usage"`
}

var clients = map[string]openai.Client{} // one per address

func clientOf(j job, anew bool) openai.Client {
	client, known := clients[j.BaseURL]
	if anew || !known {
		client = openai.NewClient(option.WithBaseURL(j.BaseURL), option.WithAPIKey(j.APIKey))
		clients[j.BaseURL] = client
	}
	return client
}

func (o *outcome) fail(err any) {
	text := fmt.Sprintf("%T: %v", err, err)
	o.Error = &text
}

func (o *outcome) takeUsage(u openai.CompletionUsage, given bool) {
	if given { // else the SDK filled in zeros
		o.Usage = &usage{u.PromptTokens, u.CompletionTokens, u.TotalTokens}
	}
}

// take records the first choice, except its text, which it returns. It panics if there is no choice, as an app would.
func (o *outcome) take(completion *openai.ChatCompletion) string {
	choice := completion.Choices[0]
	for _, call := range choice.Message.ToolCalls {
		o.ToolCalls = append(o.ToolCalls, toolCall{call.Function.Name, call.Function.Arguments})
	}
	if choice.FinishReason != "" { // empty if absent
		o.FinishReason = &choice.FinishReason
	}
	return choice.Message.Content + choice.Message.Refusal
}

// call records in o what the caller receives, as it arrives.
func (o *outcome) call(j job) {
	defer func() {
		if failure := recover(); failure != nil {
			o.fail(failure)
		}
	}()
	ctx := context.Background()
	if j.AfterMS != nil {
		// An app's context ends when its user leaves.
		limited, cancel := context.WithTimeout(ctx, time.Duration(*j.AfterMS)*time.Millisecond)
		defer cancel()
		ctx = limited
	}
	client := clientOf(j, false)
	request := openai.ChatCompletionNewParams{
		Model:    j.Model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(j.Prompt)},
	}
	for _, tool := range j.Tools {
		request.Tools = append(request.Tools, param.Override[openai.ChatCompletionToolUnionParam](tool))
	}
	if j.Job == "ask" || j.Job == "abandon" && !j.Stream {
		completion, err := client.Chat.Completions.New(ctx, request)
		if err != nil {
			o.fail(err)
			return
		}
		o.Text = o.take(completion)
		o.takeUsage(completion.Usage, completion.JSON.Usage.Valid())
		return
	}
	stream := client.Chat.Completions.NewStreaming(ctx, request)
	defer stream.Close()
	var all openai.ChatCompletionAccumulator
	for pieces := 0; stream.Next(); {
		chunk := stream.Current()
		all.AddChunk(chunk)
		o.takeUsage(chunk.Usage, chunk.JSON.Usage.Valid())
		if len(chunk.Choices) == 0 {
			continue
		}
		delta := chunk.Choices[0].Delta
		if text := delta.Content + delta.Refusal; text != "" {
			o.Text += text
			if pieces++; pieces == j.AfterTokens {
				return // which closes the stream
			}
		}
	}
	if err := stream.Err(); err != nil {
		o.fail(err)
		return
	}
	o.take(&all.ChatCompletion)
}

func version() string {
	if info, known := debug.ReadBuildInfo(); known {
		for _, one := range info.Deps {
			if one.Path == module {
				return strings.TrimPrefix(one.Version, "v")
			}
		}
	}
	return ""
}

func answer(j job) any {
	switch j.Job {
	case "hello":
		return map[string]any{"id": j.ID, "client": "openai-go", "version": version()}
	case "use_key":
		clientOf(j, true) // a client's key is fixed
		return map[string]any{"id": j.ID}
	case "ask", "stream", "cancel", "abandon":
		seen := outcome{ID: j.ID, ToolCalls: []toolCall{}}
		seen.call(j)
		return seen
	}
	return map[string]any{"id": j.ID, "unknown": true}
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var j job
		if err := json.Unmarshal(line, &j); err != nil {
			fmt.Fprintln(os.Stderr, "no job:", err)
			os.Exit(1)
		}
		answers.Encode(answer(j))
	}
}
