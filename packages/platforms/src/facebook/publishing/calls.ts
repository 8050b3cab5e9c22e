import type { GraphCaller } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import type { Publication } from "#src/publishing/publication.ts";

export interface FacebookContext {
  readonly graph: GraphCaller;
  readonly publication: Publication;
}

export function idIn(answer: PlatformAnswer | NoAnswer, name = "id"): string | undefined {
  return answer.kind === "answer" && answer.status === 200 ? text(answer.json, name) : undefined;
}

export function videoTexts({
  text: description,
  title,
}: Publication): Readonly<Record<string, string>> {
  return {
    ...(description === "" ? {} : { description }),
    ...(title === undefined || title === "" ? {} : { title }),
  };
}
