package history

import (
	"slices"
	"sync"

	"github.com/google/uuid"
)

// memory is a history that lives as long as the process.
type memory struct {
	id string

	mu       sync.RWMutex
	messages []Message
}

// New begins an empty history in memory, with a UUIDv7 as its id: histories sort by when they were begun.
func New() History {
	return &memory{id: uuid.Must(uuid.NewV7()).String()}
}

// Restored begins an empty history of a conversation that has an id already.
func Restored(id string) History { return &memory{id: id} }

func (m *memory) ID() string { return m.id }

func (m *memory) AddMessage(message Message) {
	message = message.clone()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = append(m.messages, message)
}

func (m *memory) Messages() []Message {
	m.mu.RLock()
	defer m.mu.RUnlock()
	messages := make([]Message, len(m.messages))
	for i, message := range m.messages {
		messages[i] = message.clone()
	}
	return messages
}

func (m *memory) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = nil
}

// clone makes a copy that shares nothing with the message. The elements of ToolCalls are values.
func (m Message) clone() Message {
	m.ToolCalls = slices.Clone(m.ToolCalls)
	return m
}
