import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import type { AccountAccess, Publication, PublicationMedia } from "#src/publishing/publication.ts";

export interface FacebookContext {
  readonly api: GraphApi;
  readonly publication: Publication;
  readonly signal: AbortSignal;
}

export function pagePath({ externalId }: AccountAccess, edge: string): string {
  return `${encodeURIComponent(externalId)}/${edge}`;
}

export function idIn(answer: PlatformAnswer | NoAnswer, name = "id"): string | undefined {
  return answer.kind === "answer" && answer.status === 200 ? text(answer.json, name) : undefined;
}

export function videoOf({ media: [video] }: Publication): PublicationMedia {
  if (video === undefined) throw new Error("the post has no video");
  return video;
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
