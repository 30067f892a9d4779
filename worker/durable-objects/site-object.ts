import { DurableObject } from "cloudflare:workers";

/** The code with which a channel that doesn't exist closes its sockets. */
const GONE = 4404;

/** An object of one site, which can be deleted together with it. */
export abstract class SiteObject extends DurableObject<Env> {
  /** The bytes of its database. */
  storedBytes(): number {
    return this.ctx.storage.sql.databaseSize;
  }

  /**
   * Deletes everything that the object stores, and then ends it, so that nothing in its memory can write again. Safe to repeat.
   */
  async destroy(): Promise<void> {
    for (const socket of this.ctx.getWebSockets()) socket.close(GONE, "The site no longer exists");
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    await this.ctx.storage.sync();
    // After the response: the runtime reports calls that an abort interrupts as uncaught.
    setTimeout(() => this.ctx.abort("The site no longer exists"), 0);
  }
}
