import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import type { AccountAccess, Publication, PublicationMedia } from "#src/publishing/publication.ts";

/** The parameters of every Facebook call in one preparation step of a post. */
export interface FacebookContext {
  readonly api: GraphApi;
  readonly publication: Publication;
  readonly signal: AbortSignal;
}

/** Returns the API path of an edge of the Facebook Page, for example `feed`. */
export function pagePath({ externalId }: AccountAccess, edge: string): string {
  return `${encodeURIComponent(externalId)}/${edge}`;
}

/** Returns the id in a successful answer of Facebook, else undefined. */
export function idIn(answer: PlatformAnswer | NoAnswer, name = "id"): string | undefined {
  return answer.kind === "answer" && answer.status === 200 ? text(answer.json, name) : undefined;
}

/** Returns the video of a Facebook post that consists of one video. */
export function videoOf({ media: [video] }: Publication): PublicationMedia {
  if (video === undefined) throw new Error("the post has no video");
  return video;
}

/** Returns the Graph API parameters for the text and the title of a video. */
export function videoTexts({
  text: description,
  title,
}: Publication): Readonly<Record<string, string>> {
  return {
    ...(description === "" ? {} : { description }),
    ...(title === undefined || title === "" ? {} : { title }),
  };
}
