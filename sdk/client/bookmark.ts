type Fetch = (request: Request) => Promise<Response>;

const HEADER = "Tifo-Bookmark";

/**
 * Reads that follow a write see it: each one sends the newest bookmark that a response had. Only a deployment that reads from replicas sends
 * any.
 */
export function withBookmark(fetch: Fetch): Fetch {
  let newest = "";
  return async (request) => {
    if (newest !== "" && request.method === "GET") request.headers.set(HEADER, newest);
    const response = await fetch(request);
    newest = newerOf(newest, response.headers.get(HEADER) ?? "");
    return response;
  };
}

/** `<database>:<state>`: the states of one database sort by age, and a response may arrive after a later one. */
function newerOf(known: string, received: string): string {
  if (received === "") return known;
  const isSame = known.split(":")[0] === received.split(":")[0];
  return isSame && known > received ? known : received;
}
