import { createClient } from "@postrider/client";
import { watchedFetch } from "./connection.ts";
import { shownWorkspace } from "./shown-workspace.ts";

/**
 * The operations of the REST interface, with the cookie of the session in place of an API key.
 * Reads and writes with an idempotency key are repeated by the client, for as long as the answers
 * ask for it; that cannot make two posts.
 */
export const api = createClient({
  baseUrl: location.origin,
  apiKey: null,
  fetch: watchedFetch,
  // The client reads it for each call.
  get workspaceId() {
    return shownWorkspace.get();
  },
});
