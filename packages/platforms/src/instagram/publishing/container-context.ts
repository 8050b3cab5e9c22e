import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";
import { describeCarousel, describeFile } from "./container-calls.ts";
import { listChildren, type ContainerPlace } from "./container-state.ts";

export const NO_FILE = "the post has no file for this container";

export interface ContainerContext {
  readonly api: GraphApi;
  readonly publication: Publication;
  readonly place: ContainerPlace;
  readonly handles: Handles;
  readonly signal: AbortSignal;
}

export function fileAt(
  { media }: Publication,
  place: ContainerPlace,
): PublicationMedia | undefined {
  return place === "carousel" ? undefined : media[place];
}

export function describeContainer({
  publication,
  place,
  handles,
}: ContainerContext): Readonly<Record<string, string>> {
  if (place === "carousel")
    return describeCarousel(publication, listChildren(handles, publication.media.length));
  const media = fileAt(publication, place);
  if (media === undefined) throw new Error(NO_FILE);
  return describeFile(publication, media);
}
