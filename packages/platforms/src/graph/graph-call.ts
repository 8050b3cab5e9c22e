import type { PlatformRequest } from "#src/http/http.ts";
import type { RequestBody } from "#src/http/request-body.ts";
import type { AccountAccess } from "#src/publishing/connector.ts";

/** Where a Graph API answers. */
export interface GraphApi {
  /** The host, without the version. */
  readonly baseUrl: string;
  /** For example `v25.0`. */
  readonly version: string;
  /** Where bytes are pushed to; upload addresses of any other place are not trusted with a token. */
  readonly uploadBaseUrl: string;
}

export interface GraphCall {
  readonly method: PlatformRequest["method"];
  /** Below the version. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
}

/** A call in the account's name. The token stands in a header, because addresses end up in logs. */
export function toGraphRequest(
  { baseUrl, version }: GraphApi,
  { accessToken }: Pick<AccountAccess, "accessToken">,
  { method, path, query, body }: GraphCall,
): PlatformRequest {
  const search = query === undefined ? "" : `?${new URLSearchParams(query).toString()}`;
  const call = {
    method,
    url: `${baseUrl}/${version}/${path}${search}`,
    headers: { authorization: `Bearer ${accessToken}` },
  };
  return body === undefined ? call : { ...call, body };
}
