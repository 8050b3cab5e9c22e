import { readJsonHandle, toJsonHandle, type Handles } from "#src/publishing/handles.ts";

/**
 * Which container of an Instagram post is meant: the index of the file that it contains, or `carousel` for the
 * container of all files.
 */
export type ContainerPlace = number | "carousel";

/** An Instagram media container and its progress; stored with the delivery task after each answer of Instagram. */
export interface Container {
  readonly id: string;
  /**
   * Stage of the Instagram media container: `announced` = its video has not been uploaded yet · `lost` = it cannot be
   * used, and another container is created.
   */
  readonly stage: "announced" | "processing" | "ready" | "lost";
  /**
   * The URL to which the video of the Instagram media container is uploaded; empty for a file that Instagram fetches.
   */
  readonly uploadUrl: string;
  /** Time at which the Instagram container was created, in Unix milliseconds. */
  readonly madeAt: number;
  /** Number of times that the status of the Instagram media container was read. */
  readonly checks: number;
  /** Time until which the preparation waits for Instagram to process the media container, in Unix milliseconds. */
  readonly patientUntil: number;
  /** Number of times that the Instagram media container was created again because Instagram could not use it. */
  readonly restarts: number;
  /** The ids of the containers that an Instagram carousel contains, in order. */
  readonly children: readonly string[];
  /** Number of times that Instagram answered that it does not find the container or does not show it; absent = none. */
  readonly misses?: number;
  /** Whether the container counts as ready although its status could not be read. */
  readonly isUnread?: boolean;
}

/**
 * Maximum age in milliseconds of an Instagram media container that may still be used. Instagram deletes containers
 * after a day.
 */
const MAX_AGE_MS = 23 * 60 * 60_000;
/**
 * Name of a stored flag: a publishing call was made for the stored Instagram containers. From then on only these
 * containers may be published, whatever their age, because they may be published already.
 */
const SENT = "sent";

function nameOf(place: ContainerPlace): string {
  return place === "carousel" ? place : `container${place}`;
}

export function readContainer(handles: Handles, place: ContainerPlace): Container | undefined {
  return readJsonHandle(handles, nameOf(place)) as Container | undefined;
}

export function toHandle(place: ContainerPlace, container: Container): Handles {
  return toJsonHandle(nameOf(place), container);
}

/**
 * Whether the container of an Instagram carousel still contains the stored containers of the post's files. A container
 * that was created again is not part of an older carousel.
 */
function hasCurrentParts({ children }: Container, handles: Handles): boolean {
  return children.every((id, index) => readContainer(handles, index)?.id === id);
}

/** Whether an Instagram media container can still be published. */
export function isUsable(container: Container, handles: Handles, now: number): boolean {
  if (container.stage === "lost") return false;
  if (wasSent(handles)) return true;
  return now - container.madeAt < MAX_AGE_MS && hasCurrentParts(container, handles);
}

/** Lists the containers that an Instagram post with this many files needs, in the order of their creation. */
export function listPlaces(files: number): readonly ContainerPlace[] {
  const places: ContainerPlace[] = Array.from({ length: files }, (_none, index) => index);
  return files > 1 ? [...places, "carousel"] : places;
}

/** Returns the stored container that publishes the whole Instagram post; undefined while it is not ready. */
export function findFinal(handles: Handles, files: number): Container | undefined {
  const place = listPlaces(files).at(-1);
  const container = place === undefined ? undefined : readContainer(handles, place);
  return container?.stage === "ready" ? container : undefined;
}

/**
 * Returns the stored container ids of the post's files, in order, which the Instagram carousel will contain. Files
 * whose container does not exist yet are left out.
 */
export function listChildren(handles: Handles, files: number): readonly string[] {
  return Array.from({ length: files }, (_none, index) => readContainer(handles, index)).flatMap(
    (child) => child?.id ?? [],
  );
}

/** Whether the status of a container of the post could not be read, so that it counted as ready after a while. */
export function hasUnread(handles: Handles, files: number): boolean {
  return listPlaces(files).some((place) => readContainer(handles, place)?.isUnread === true);
}

/** Whether a publishing call for the stored containers may have been made before. */
export function wasSent(handles: Handles): boolean {
  return SENT in handles;
}

/** Marks the stored Instagram containers as sent, so that a repeated publishing call uses the same containers. */
export function keepSent(handles: Handles): Handles {
  return { ...handles, [SENT]: "1" };
}

/** Removes the stored Instagram containers, which can no longer be published, so that new ones are created. */
export function dropContainers(handles: Handles): Handles {
  return Object.fromEntries(
    Object.entries(handles).filter(
      ([name]) => name !== SENT && name !== "carousel" && !name.startsWith("container"),
    ),
  );
}
