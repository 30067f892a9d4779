import { type InvalidateOptions, type InvalidateQueryFilters, type QueryKey, QueryClient } from "@tanstack/react-query";

/**
 * The cache of what one account has read. A list that is invalidated is always read again: by default, a first request that is still under
 * way would count as the new one, although the server may have answered it before the change that was made since.
 */
export class Queries extends QueryClient {
  constructor() {
    super({
      defaultOptions: {
        // The client itself retries what can be retried. Requests fail while the browser is offline: by default they would wait for the network,
        // and a take would go on air minutes late.
        queries: { retry: false, staleTime: 10_000, networkMode: "always", refetchOnReconnect: true },
        mutations: { networkMode: "always" },
      },
    });
  }

  override async invalidateQueries<Key extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<Key>,
    options?: InvalidateOptions,
  ): Promise<void> {
    await this.cancelQueries({ ...filters, fetchStatus: "fetching" });
    await super.invalidateQueries(filters, options);
  }
}
