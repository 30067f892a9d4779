import { DEMO } from "../key/credentials.ts";
import type { Sample } from "./sample.ts";

const CHANNEL = `${DEMO.origin}/realtime/v1/channels/5eed0000000000000000c001`;

/** Samples of operations that aren't a request with a response: streams, redirects, and calls that integrators don't make. */
export const SPECIAL: Record<string, Sample[]> = {
  connectToChannel: [
    {
      label: "JavaScript",
      language: "js",
      code: `// Node 22 or newer, or a browser.
const socket = new WebSocket("${CHANNEL.replace("http", "ws")}?clientId=${DEMO.clientId}");
socket.addEventListener("message", ({ data }) => {
  const frames = [JSON.parse(data)].flat();
  console.log(frames.map(({ type }) => type));
  socket.close();
});`,
    },
    {
      label: "Swift",
      language: "swift",
      code: `import Foundation

let url = URL(string: "${CHANNEL.replace("http", "ws")}?clientId=${DEMO.clientId}")!
let socket = URLSession.shared.webSocketTask(with: url)
socket.resume()
while true {
    let message = try await socket.receive()
    if case .string(let text) = message {
        print(text)
    }
}`,
    },
    {
      label: "Kotlin",
      language: "kotlin",
      code: `import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.WebSocket
import okhttp3.WebSocketListener

val request = Request.Builder()
    .url("${CHANNEL.replace("http", "ws")}?clientId=${DEMO.clientId}")
    .build()

OkHttpClient().newWebSocket(request, object : WebSocketListener() {
    override fun onMessage(webSocket: WebSocket, text: String) {
        println(text)
    }
})`,
    },
  ],
  streamChannel: [
    {
      label: "curl",
      language: "sh",
      code: `curl -sSN --max-time 2 '${CHANNEL}/events?clientId=${DEMO.clientId}' || true`,
    },
    {
      label: "JavaScript",
      language: "js",
      code: `const response = await fetch("${CHANNEL}/events?clientId=${DEMO.clientId}");
for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
  console.log(chunk);
  break;
}`,
    },
    {
      label: "Python",
      language: "python",
      code: `from urllib.request import urlopen

with urlopen("${CHANNEL}/events?clientId=${DEMO.clientId}") as response:
    print(response.status, response.readline().decode())`,
    },
  ],
  openInvite: [
    {
      label: "curl",
      language: "sh",
      code: `curl -sS -o /dev/null -w '%{http_code} %{redirect_url}\\n' '${DEMO.origin}/invite/v1/magic-link/Quay26'`,
    },
  ],
  receiveStripeEvent: [],
};
