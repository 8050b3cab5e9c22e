import type { GraphCaller } from "#src/graph-api/graph-request.ts";
import { type Handles, jsonHandle, type JsonHandle } from "#src/publishing/handles.ts";
import { fileAt, type Publication } from "#src/publishing/publication.ts";
import { describeCarousel, describeFile } from "./container-calls.ts";

/** The index of the file that the container has, or `carousel` for the container of all files. */
export type ContainerPlace = number | "carousel";

export interface Container {
  readonly id: string;
  /**
   * `announced` = its video has not been uploaded yet · `lost` = it cannot be used, and another one
   * is created.
   */
  readonly stage: "announced" | "processing" | "ready" | "lost";
  /** Empty for a file that Instagram fetches. */
  readonly uploadUrl: string;
  readonly madeAt: number;
  readonly checks: number;
  readonly patientUntil: number;
  readonly restarts: number;
  readonly children: readonly string[];
  /** Reads after which Instagram did not find or show the container. */
  readonly misses?: number;
  readonly isUnread?: boolean;
}

/**
 * Maximum age in milliseconds of an Instagram media container that may still be used. Instagram
 * deletes containers after a day.
 */
const MAX_AGE_MS = 23 * 60 * 60_000;
/**
 * A publishing call was made for the stored containers. From then on only these may be published,
 * whatever their age, because they may be published already.
 */
const SENT = "sent";

function handleOf(place: ContainerPlace): JsonHandle<Container> {
  return jsonHandle(place === "carousel" ? place : `container${place}`);
}

export function readContainer(handles: Handles, place: ContainerPlace): Container | undefined {
  return handleOf(place).read(handles);
}

export function toHandle(place: ContainerPlace, container: Container): Handles {
  return handleOf(place).write(container);
}

function hasCurrentParts({ children }: Container, handles: Handles): boolean {
  return children.every((id, index) => readContainer(handles, index)?.id === id);
}

export function isUsable(container: Container, handles: Handles, now: number): boolean {
  if (container.stage === "lost") return false;
  if (wasSent(handles)) return true;
  return now - container.madeAt < MAX_AGE_MS && hasCurrentParts(container, handles);
}

export function listPlaces(files: number): readonly ContainerPlace[] {
  const places: ContainerPlace[] = Array.from({ length: files }, (_none, index) => index);
  return files > 1 ? [...places, "carousel"] : places;
}

export function findFinal(handles: Handles, files: number): Container | undefined {
  const place = listPlaces(files).at(-1);
  const container = place === undefined ? undefined : readContainer(handles, place);
  return container?.stage === "ready" ? container : undefined;
}

export function listChildren(handles: Handles, files: number): readonly string[] {
  return Array.from({ length: files }, (_none, index) => readContainer(handles, index)).flatMap(
    (child) => child?.id ?? [],
  );
}

function hasUnread(handles: Handles, files: number): boolean {
  return listPlaces(files).some((place) => readContainer(handles, place)?.isUnread === true);
}

export function wasSent(handles: Handles): boolean {
  return SENT in handles;
}

export function keepSent(handles: Handles): Handles {
  return { ...handles, [SENT]: "1" };
}

export function dropContainers(handles: Handles): Handles {
  return Object.fromEntries(
    Object.entries(handles).filter(
      ([name]) => name !== SENT && name !== "carousel" && !name.startsWith("container"),
    ),
  );
}

export interface ContainerContext {
  readonly graph: GraphCaller;
  readonly publication: Publication;
  readonly place: ContainerPlace;
  readonly handles: Handles;
}

export function describeContainer({
  publication,
  place,
  handles,
}: ContainerContext): Readonly<Record<string, string>> {
  if (place === "carousel")
    return describeCarousel(publication, listChildren(handles, publication.media.length));
  return describeFile(publication, fileAt(publication, place));
}

/**
 * Since 2026-05-23, Instagram refuses some Page tokens the status of single containers and posts
 * (error 100/33), while creating, publishing and listing work. Source:
 * github.com/gitroomhq/postiz-app/issues/1562.
 *
 * So a container counts as ready after some refused reads. That is safe: Instagram publishes a
 * container once, and refuses one that is not ready.
 */
const IMAGE_MISSES = 3;
/**
 * Number of refused reads of a container's status after which Instagram has usually processed a
 * video. The reads take about two minutes together.
 */
const VIDEO_MISSES = 7;

export function isReadyUnread(
  { media }: Publication,
  place: ContainerPlace,
  handles: Handles,
  misses: number,
): boolean {
  const isVideo = place !== "carousel" && media[place]?.kind === "video";
  if (isVideo) return misses >= VIDEO_MISSES;
  return misses >= IMAGE_MISSES || (misses > 0 && hasUnread(handles, media.length));
}

export function toUnread(container: Container, misses: number): Container {
  return { ...container, stage: "ready", misses, isUnread: true };
}
