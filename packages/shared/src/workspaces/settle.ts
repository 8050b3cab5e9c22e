/** No request of the API takes longer. The longest is the import of a file from a URL. */
export const LONGEST_REQUEST_MS = 200_000;

/**
 * Default of `WORKSPACE_SETTLE_SECONDS`: what was admitted before a workspace was stopped or frozen
 * has ended by then, also through gateways that heard of it some seconds later.
 */
export const SETTLE_SECONDS = 240;
