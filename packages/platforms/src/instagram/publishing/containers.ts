import type { Handles } from "#src/publishing/connector.ts";

/** What a container becomes: the whole post, a part of a carousel, or the carousel around the parts. */
export type ContainerPlace = number | "carousel";

/** Something that Instagram makes a post of, as far as it is; stored as a handle after each answer. */
export interface Container {
  readonly id: string;
  /** `announced` = its film has still to be pushed; `lost` = it cannot be used, another one is made. */
  readonly stage: "announced" | "processing" | "ready" | "lost";
  /** Where its film goes; empty for what Instagram fetches. */
  readonly uploadUrl: string;
  /** Unix milliseconds. */
  readonly madeAt: number;
  /** How often Instagram was asked how far it is. */
  readonly checks: number;
  /** Until when processing is waited for, Unix milliseconds; 0 before that. */
  readonly patientUntil: number;
  /** How often it was made again because Instagram could not use it. */
  readonly restarts: number;
  /** Of a carousel: the ids of its parts, in order. */
  readonly children: readonly string[];
}

/** Containers live for a day. What takes longer than the rest of it is begun anew. */
const MAX_AGE_MS = 23 * 60 * 60_000;
/** Set when the visible call was made for the containers that are there: only they are published, whatever their age. */
const SENT = "sent";

function nameOf(place: ContainerPlace): string {
  return place === "carousel" ? place : `container${place}`;
}

export function readContainer(handles: Handles, place: ContainerPlace): Container | undefined {
  const stored = handles[nameOf(place)];
  return stored === undefined ? undefined : (JSON.parse(stored) as Container);
}

export function toHandle(place: ContainerPlace, container: Container): Handles {
  return { [nameOf(place)]: JSON.stringify(container) };
}

/** Whether a carousel is made of the parts that are there now. */
function isOfParts({ children }: Container, handles: Handles): boolean {
  return children.every((id, index) => readContainer(handles, index)?.id === id);
}

/** Whether it may still become a post. */
export function isUsable(container: Container, handles: Handles, now: number): boolean {
  if (container.stage === "lost") return false;
  if (SENT in handles) return true;
  return now - container.madeAt < MAX_AGE_MS && isOfParts(container, handles);
}

/** The places of the containers that a post of so many files needs, in the order in which they are made. */
export function listPlaces(files: number): readonly ContainerPlace[] {
  const places: ContainerPlace[] = Array.from({ length: files }, (_none, index) => index);
  return files > 1 ? [...places, "carousel"] : places;
}

/** The container that is published; undefined while it is not ready. */
export function findFinal(handles: Handles, files: number): Container | undefined {
  const place = listPlaces(files).at(-1);
  const container = place === undefined ? undefined : readContainer(handles, place);
  return container?.stage === "ready" ? container : undefined;
}

/** The parts of a carousel, in order; fewer while some are not there. */
export function listChildren(handles: Handles, files: number): readonly string[] {
  return Array.from({ length: files }, (_none, index) => readContainer(handles, index)).flatMap(
    (child) => child?.id ?? [],
  );
}

/** The handles when the same containers are to be published once more. */
export function keepSent(handles: Handles): Handles {
  return { ...handles, [SENT]: "1" };
}

/** The handles when nothing of what was made can be published any more. */
export function dropContainers(handles: Handles): Handles {
  return Object.fromEntries(
    Object.entries(handles).filter(
      ([name]) => name !== SENT && name !== "carousel" && !name.startsWith("container"),
    ),
  );
}
