import { readJsonHandle, toJsonHandle, type Handles } from "#src/publishing/handles.ts";

/**
 * The place of a container in the Instagram post: the index of the file that it contains, or `carousel` for the
 * container of all files.
 */
export type ContainerPlace = number | "carousel";

/** An Instagram container and its progress; stored in the task's handles after each answer of Instagram. */
export interface Container {
  readonly id: string;
  /**
   * Stage of the container: `announced` = the video has not been uploaded yet · `lost` = the container cannot be used,
   * and another container is created.
   */
  readonly stage: "announced" | "processing" | "ready" | "lost";
  /** The upload URL of a video's container; empty for a file that Instagram fetches. */
  readonly uploadUrl: string;
  /** Time at which the Instagram container was created, in Unix milliseconds. */
  readonly madeAt: number;
  /** Number of times that the container's status was read. */
  readonly checks: number;
  /** Time until which the step waits for Instagram to process the container, in Unix milliseconds. */
  readonly patientUntil: number;
  /** Number of times that the container was created again because Instagram could not use it. */
  readonly restarts: number;
  /** The ids of the containers that a carousel contains, in order. */
  readonly children: readonly string[];
}

/**
 * Maximum age in milliseconds of an Instagram container that may still be used. Instagram deletes containers after a
 * day.
 */
const MAX_AGE_MS = 23 * 60 * 60_000;
/**
 * Name of the handle that is set when a publishing call was made for the stored Instagram containers. From then on only
 * these containers may be published, whatever their age.
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

/** Whether a carousel container contains the file containers that are stored now. */
function hasCurrentParts({ children }: Container, handles: Handles): boolean {
  return children.every((id, index) => readContainer(handles, index)?.id === id);
}

/** Whether an Instagram container can still be published. */
export function isUsable(container: Container, handles: Handles, now: number): boolean {
  if (container.stage === "lost") return false;
  if (SENT in handles) return true;
  return now - container.madeAt < MAX_AGE_MS && hasCurrentParts(container, handles);
}

/**
 * Lists the places of the containers that an Instagram post with this many files needs, in the order of their creation.
 */
export function listPlaces(files: number): readonly ContainerPlace[] {
  const places: ContainerPlace[] = Array.from({ length: files }, (_none, index) => index);
  return files > 1 ? [...places, "carousel"] : places;
}

/** Returns the Instagram container to publish; undefined while it is not ready. */
export function findFinal(handles: Handles, files: number): Container | undefined {
  const place = listPlaces(files).at(-1);
  const container = place === undefined ? undefined : readContainer(handles, place);
  return container?.stage === "ready" ? container : undefined;
}

/**
 * Returns the ids of the containers that the carousel contains, in order, without containers that are not created yet.
 */
export function listChildren(handles: Handles, files: number): readonly string[] {
  return Array.from({ length: files }, (_none, index) => readContainer(handles, index)).flatMap(
    (child) => child?.id ?? [],
  );
}

/** Returns the handles with which the same Instagram containers are published again. */
export function keepSent(handles: Handles): Handles {
  return { ...handles, [SENT]: "1" };
}

/** Returns the handles without the Instagram containers, which can no longer be published. */
export function dropContainers(handles: Handles): Handles {
  return Object.fromEntries(
    Object.entries(handles).filter(
      ([name]) => name !== SENT && name !== "carousel" && !name.startsWith("container"),
    ),
  );
}
