import { readJsonHandle, toJsonHandle, type Handles } from "#src/publishing/handles.ts";

/** The place of a container in the post: the file at this index, or the carousel that contains the files. */
export type ContainerPlace = number | "carousel";

/** A container and its progress; stored as a handle after each answer. */
export interface Container {
  readonly id: string;
  /**
   * `announced` = the video has not been uploaded yet; `lost` = the container cannot be used, and another container is
   * created.
   */
  readonly stage: "announced" | "processing" | "ready" | "lost";
  /** The upload URL of a video; empty for a file that Instagram fetches. */
  readonly uploadUrl: string;
  /** Time at which the container was created, in Unix milliseconds. */
  readonly madeAt: number;
  /** Number of times that the container's status was read. */
  readonly checks: number;
  /** Time until which processing is awaited, in Unix milliseconds. */
  readonly patientUntil: number;
  /** Number of times that the container was created again because Instagram could not use it. */
  readonly restarts: number;
  /** The ids of the parts of a carousel, in order. */
  readonly children: readonly string[];
}

/** Maximum age in milliseconds of a container that may still be used. Instagram deletes containers after a day. */
const MAX_AGE_MS = 23 * 60 * 60_000;
/**
 * Name of the handle that is set when a publishing call was made for the stored containers. From then on only these
 * containers may be published, whatever their age.
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

/** Whether a carousel consists of the parts that are stored now. */
function hasCurrentParts({ children }: Container, handles: Handles): boolean {
  return children.every((id, index) => readContainer(handles, index)?.id === id);
}

/** Whether the container can still be published. */
export function isUsable(container: Container, handles: Handles, now: number): boolean {
  if (container.stage === "lost") return false;
  if (SENT in handles) return true;
  return now - container.madeAt < MAX_AGE_MS && hasCurrentParts(container, handles);
}

/** The containers that a post with this many files needs, in the order of their creation. */
export function listPlaces(files: number): readonly ContainerPlace[] {
  const places: ContainerPlace[] = Array.from({ length: files }, (_none, index) => index);
  return files > 1 ? [...places, "carousel"] : places;
}

/** Returns the container to publish; undefined while it is not ready. */
export function findFinal(handles: Handles, files: number): Container | undefined {
  const place = listPlaces(files).at(-1);
  const container = place === undefined ? undefined : readContainer(handles, place);
  return container?.stage === "ready" ? container : undefined;
}

/** The ids of a carousel's parts, in order, without parts that are not created yet. */
export function listChildren(handles: Handles, files: number): readonly string[] {
  return Array.from({ length: files }, (_none, index) => readContainer(handles, index)).flatMap(
    (child) => child?.id ?? [],
  );
}

/** Returns the handles with which the same containers are published again. */
export function keepSent(handles: Handles): Handles {
  return { ...handles, [SENT]: "1" };
}

/** Returns the handles without the containers, which can no longer be published. */
export function dropContainers(handles: Handles): Handles {
  return Object.fromEntries(
    Object.entries(handles).filter(
      ([name]) => name !== SENT && name !== "carousel" && !name.startsWith("container"),
    ),
  );
}
