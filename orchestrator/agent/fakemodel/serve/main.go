// Command serve runs the scripted model server by hand.
//
//	go run ./orchestrator/agent/fakemodel/serve -addr 127.0.0.1:8765 -log requests.jsonl
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"paw/orchestrator/agent/fakemodel"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "`host:port` to listen on; port 0 is any free one")
	portFile := flag.String("port-file", "", "`file` that gets the port once the server listens")
	logFile := flag.String("log", "", "`file` to which each request adds a line of JSON; - is the standard output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log.SetFlags(0)
	if err := serve(ctx, *addr, *portFile, *logFile); err != nil {
		log.Fatalf("serve: error: %v", err)
	}
}

// serve answers until ctx is done.
func serve(ctx context.Context, addr, portFile, logFile string) error {
	requests, err := openLog(logFile)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	log.Printf("scripted model on http://%s", listener.Addr())
	if portFile != "" {
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			return err
		}
		if err := writeWhole(portFile, port); err != nil {
			return err
		}
	}
	server := &http.Server{Handler: &fakemodel.Server{Log: requests}, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func openLog(file string) (io.Writer, error) {
	switch file {
	case "":
		return nil, nil
	case "-":
		return os.Stdout, nil
	}
	return os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// writeWhole makes the file appear with its content, for whoever waits for it.
func writeWhole(file, content string) error {
	if err := os.WriteFile(file+".new", []byte(content+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
