import { bearer, type PlatformRequest, type RequestBody } from "#src/http/platform-request.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

/** The hosts of a Graph API. */
export interface GraphApi {
  /** The base URL of the Graph API, without the API version. */
  readonly baseUrl: string;
  /** Version of the Graph API, for example `v25.0`. */
  readonly version: string;
  /** URL of the host for uploads. A token is never sent to an upload URL on another host. */
  readonly uploadBaseUrl: string;
}

export interface GraphCall {
  readonly method: PlatformRequest["method"];
  /** Path of the Graph API call below the API version. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** Maximum size in bytes of the answer, for calls whose normal answers are large. */
  readonly maxAnswerBytes?: number;
}

/** Maximum number of characters of a comment on Facebook; one on Instagram has at most 2,200. */
export const MAX_COMMENT_LENGTH = 8_000;

/**
 * Creates a Graph API request in the name of the account. The token is sent in a header, because URLs are often logged.
 */
export function toGraphRequest(
  { baseUrl, version }: GraphApi,
  { accessToken }: Pick<AccountAccess, "accessToken">,
  { method, path, query, body, ...limits }: GraphCall,
): PlatformRequest {
  const search = query === undefined ? "" : `?${new URLSearchParams(query).toString()}`;
  const call = {
    method,
    url: `${baseUrl}/${version}/${path}${search}`,
    headers: bearer(accessToken),
    ...limits,
  };
  return body === undefined ? call : { ...call, body };
}
