// The runtime closes a connection that was idle for five seconds, and a request that is sent on one at that moment fails. Therefore each
// request of a test has a connection of its own.
const { fetch } = globalThis;

globalThis.fetch = (input, init) => {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  headers.set("Connection", "close");
  return fetch(input, { ...init, headers });
};

export {};
