import { createStore } from "../settings/create-store.ts";

/**
 * The workspace that this page shows; undefined before its session was read. Every request names
 * it: a login in another tab replaces the session of the browser, and what is pressed here must not
 * happen in the workspace of that one.
 */
export const shownWorkspace = createStore<string | undefined>(undefined);
