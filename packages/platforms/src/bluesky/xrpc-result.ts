import type { NoAnswer } from "#src/http/call-platform.ts";
import {
  describeStatus,
  type JsonObject,
  type PlatformAnswer,
  text,
} from "#src/http/platform-answer.ts";
import { type ApiCall, ask, type Caller } from "#src/publishing/caller.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import { toFailure } from "./publishing/failures.ts";

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

export async function askBluesky(bluesky: Caller, call: ApiCall): Promise<XrpcResult> {
  return toResult(await ask(bluesky, call));
}
