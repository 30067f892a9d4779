// Centrifuge's library: one node in memory with a history of 100 messages. Built with Debian's golang-github-centrifugal-centrifuge-dev.
package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/centrifugal/centrifuge"
)

func main() {
	node, err := centrifuge.New(centrifuge.DefaultConfig)
	if err != nil {
		log.Fatal(err)
	}
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		return centrifuge.ConnectReply{
			Credentials:   &centrifuge.Credentials{UserID: "viewer"},
			Subscriptions: map[string]centrifuge.SubscribeOptions{"room": {}},
		}, nil
	})
	node.OnConnect(func(*centrifuge.Client) {})
	if err := node.Run(); err != nil {
		log.Fatal(err)
	}
	http.Handle("/connect", centrifuge.NewWebsocketHandler(node, centrifuge.WebsocketConfig{}))
	http.HandleFunc("/publish", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err == nil {
			_, err = node.Publish("room", body, centrifuge.WithHistory(100, time.Minute))
		}
		if err != nil {
			http.Error(response, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = response.Write([]byte("sent"))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
