/** What a query needs of D1: a database, or one of its sessions. */
export type D1Queries = Pick<D1Database, "prepare" | "batch">;

// `<shard>:<bookmark>`: a bookmark of one database says nothing about another. D1's own are four hexadecimal numbers.
const BOOKMARK = /^([1-9]\d{0,2}):([0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32})$/;

/**
 * The D1 sessions of one request, with read replicas: one for each round trip. If the request only reads, and no credentials have to be
 * verified, they begin at the newest bookmark of what it has read, at first the caller's, or at any replica without one. Those of any other
 * request begin at the primary: with two round trips in one session, D1 could serve the second from a replica that has the first one's
 * state and nothing newer, and a verb that lost a race would read again what it lost with.
 */
export class RequestSessions {
  readonly #sent: string | undefined;
  #mayBeOld: boolean;
  /** The newest bookmark of what the request has read. */
  #seen: string | undefined;
  #shard = 0;
  #sessions: D1DatabaseSession[] = [];

  /** `sent` is the caller's `Tifo-Bookmark`; one that is malformed is ignored. */
  constructor(mayBeOld: boolean, sent: string | undefined) {
    this.#mayBeOld = mayBeOld;
    this.#sent = sent;
  }

  /** The session for the next round trip. */
  open(database: D1Database, shard: number): D1DatabaseSession {
    // A request's own database is always the same one; if it weren't, no bookmark could name both.
    if (this.#shard !== shard) this.#sessions = [];
    this.#shard = shard;
    const session = database.withSession(
      this.#mayBeOld ? (sentFor(this.#seen ?? this.#sent, shard) ?? "first-unconstrained") : "first-primary",
    );
    this.#sessions.push(session);
    return session;
  }

  /** From now on, the primary; false if it already was. */
  leaveReplica(): boolean {
    if (!this.#mayBeOld) return false;
    this.#mayBeOld = false;
    return true;
  }

  /** Where the next read begins, if it may be shared with other requests whose reads begin there. */
  sharedFrom(): string | undefined {
    return this.#mayBeOld ? (this.#seen ?? this.#sent ?? "") : undefined;
  }

  /** The request has seen what a session has read, its own or that of another request: its next reads aren't older. */
  follow(bookmark: string | undefined): void {
    this.#seen = newestOf([this.#seen ?? "", bookmark ?? ""]);
  }

  /** What the caller sends with its next requests, so that they see at least what this one saw or wrote. */
  bookmark(): string | undefined {
    // Bookmarks of a database sort by age, and round trips may have ended in another order than they began.
    const newest = newestOf(this.#sessions.flatMap((session) => session.getBookmark() ?? []));
    return newestOf([this.#seen ?? "", newest === undefined ? "" : `${this.#shard}:${newest}`]);
  }
}

function newestOf(bookmarks: readonly string[]): string | undefined {
  const newest = bookmarks.reduce((one, other) => (other > one ? other : one), "");
  return newest === "" ? undefined : newest;
}

function sentFor(sent: string | undefined, shard: number): string | undefined {
  const [, number, bookmark] = BOOKMARK.exec(sent ?? "") ?? [];
  return Number(number) === shard ? bookmark : undefined;
}
