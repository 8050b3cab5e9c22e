import { bearer, type PlatformRequest, type RequestBody } from "#src/http/platform-request.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

export interface GraphApi {
  readonly baseUrl: string;
  readonly version: string;
  /** A token is never sent to an upload URL on another host. */
  readonly uploadBaseUrl: string;
}

export interface GraphCall {
  readonly method: PlatformRequest["method"];
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  readonly maxAnswerBytes?: number;
}

/** On Facebook; a comment on Instagram has at most 2,200 characters. */
export const MAX_COMMENT_LENGTH = 8_000;

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
