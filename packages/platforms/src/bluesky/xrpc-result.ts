import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import {
  describeStatus,
  type JsonObject,
  type PlatformAnswer,
  text,
} from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toFailure } from "./publishing/failures.ts";
import { hostOf, isForeign } from "./publishing/xrpc.ts";

export type XrpcResult =
  | { readonly kind: "result"; readonly json: JsonObject }
  | { readonly kind: "failed"; readonly name: string; readonly failure: Failure };

export function toResult(answer: PlatformAnswer | NoAnswer): XrpcResult {
  if (answer.kind === "no_answer")
    return { kind: "failed", name: "", failure: platformUnavailable(answer.message) };
  if (answer.status === 200 && answer.json !== undefined)
    return { kind: "result", json: answer.json };
  const name = text(answer.json, "error") ?? "";
  const isParsedRefusal = name !== "" && answer.status >= 400 && answer.status < 500;
  const failure = isParsedRefusal
    ? toFailure(answer, name)
    : platformUnavailable(name === "" ? describeStatus(answer) : name);
  return { kind: "failed", name, failure };
}

export async function queryBluesky(
  baseUrl: string,
  account: AccountAccess,
  query: {
    readonly method: string;
    readonly parameters: URLSearchParams;
    readonly readBody?: (body: AsyncIterable<Uint8Array>) => Promise<string>;
  },
  signal: AbortSignal,
): Promise<XrpcResult> {
  const { method, parameters, ...limits } = query;
  const url = `${hostOf(baseUrl, account)}/xrpc/${method}?${parameters.toString()}`;
  const headers = bearer(account.accessToken);
  const call = { method: "GET", url, headers, isForeign: isForeign(account), ...limits } as const;
  return toResult(await callPlatform(call, signal));
}
