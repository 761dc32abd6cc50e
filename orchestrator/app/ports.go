package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"golang.org/x/sys/unix"

	"paw/orchestrator/errs"
	"paw/session"
)

// Ports of agents are in this range, below the ports that Linux gives to clients.
const firstPort, lastPort = 20000, 29999

// WithPorts chooses wanted blocks of ports and passes them to save, which records them. No other
// paw chooses ports, or counts the agents that run before it records more of them, until save
// returns. The blocks are nil where the configuration asks for no ports.
func (h *App) WithPorts(ctx context.Context, wanted int, save func(blocks []*session.Ports) error) error {
	count := h.Config.Worktree.Ports
	none := count == 0 || wanted == 0
	if none && h.Config.Agents.MaxRunning == 0 {
		return save(make([]*session.Ports, wanted))
	}
	brief, cancel := context.WithTimeout(ctx, LockWait)
	defer cancel()
	unlock, err := h.Locks.Ports(brief)
	if err != nil {
		return h.RecordError("", err)
	}
	defer unlock()
	if none {
		return save(make([]*session.Ports, wanted))
	}
	taken, err := h.takenPorts()
	if err != nil {
		return err
	}
	blocks := chooseBlocks(wanted, count, taken, freePort)
	if blocks == nil {
		return errs.New(errs.Failed, "no %d free ports in %d-%d", count, firstPort, lastPort).Hint("paw status --all")
	}
	h.Step("ports.chosen")
	return save(blocks)
}

// GivePorts gives all agents of a draft ports and variables, and calls save to save the draft.
func (h *App) GivePorts(ctx context.Context, draft *session.Session, save func() error) error {
	return h.WithPorts(ctx, len(draft.Agents), func(blocks []*session.Ports) error {
		for i := range draft.Agents {
			w := &draft.Agents[i]
			w.Ports, w.Variables = blocks[i], nil
			h.Agent(draft, w).Fill()
		}
		return save()
	})
}

func (h *App) takenPorts() ([]session.Ports, error) {
	sessions, _, err := h.Store.ListAll()
	if err != nil {
		return nil, err
	}
	var taken []session.Ports
	add := func(p *session.Ports) {
		if p != nil {
			taken = append(taken, *p)
		}
	}
	for _, s := range sessions {
		add(s.Checks.Ports)
		for i := range s.Agents {
			add(s.Agents[i].Ports)
		}
	}
	return taken, nil
}

// chooseBlocks returns the first blocks, each beginning at a multiple of its size, that are not
// taken and whose ports are free; nil where there are less than wanted.
func chooseBlocks(wanted, count int, taken []session.Ports, free func(port int) bool) []*session.Ports {
	var blocks []*session.Ports
	for first := (firstPort + count - 1) / count * count; first+count-1 <= lastPort && len(blocks) < wanted; first += count {
		block := session.Ports{First: first, Count: count}
		if slices.ContainsFunc(taken, block.Meets) || !allFree(block, free) {
			continue
		}
		blocks = append(blocks, &block)
	}
	if len(blocks) < wanted {
		return nil
	}
	return blocks
}

func allFree(block session.Ports, free func(port int) bool) bool {
	for port := block.First; port <= block.Last(); port++ {
		if !free(port) {
			return false
		}
	}
	return true
}

// freePort reports whether a server could bind a port now, at any local address. It binds, but does
// not listen.
func freePort(port int) bool {
	return canBind(unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) &&
		canBind(unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: [16]byte(net.IPv6loopback)}) &&
		canBind(unix.AF_INET, &unix.SockaddrInet4{Port: port})
}

// canBind reports whether an address can be bound; true where the machine has no such address.
func canBind(family int, address unix.Sockaddr) bool {
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err != nil {
		return true
	}
	defer func() { _ = unix.Close(fd) }()
	unix.CloseOnExec(fd)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) // servers set it too: a port with only closed connections is free
	if family == unix.AF_INET6 {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	}
	err = unix.Bind(fd, address)
	return !errors.Is(err, unix.EADDRINUSE) && !errors.Is(err, unix.EACCES)
}

// PortsHeld returns a note for each port of a stopped agent that another process uses.
func PortsHeld(s *session.Session, w *session.Agent) []string {
	if w.Ports == nil {
		return nil
	}
	var held []string
	var servers map[int]int
	for port := w.Ports.First; port <= w.Ports.Last(); port++ {
		if freePort(port) {
			continue
		}
		if servers == nil {
			servers = session.Listeners(w.Ports.First, w.Ports.Last())
		}
		pid := servers[port]
		switch env, _ := session.Environ(pid); {
		case pid == 0:
			held = append(held, fmt.Sprintf("its port %d is taken", port))
		case slices.Contains(env, "PAW_SESSION="+s.Name) && slices.Contains(env, "PAW_AGENT="+w.Name): // left running by the agent itself
		default:
			held = append(held, fmt.Sprintf("its port %d is taken by pid %d", port, pid))
		}
	}
	return held
}
