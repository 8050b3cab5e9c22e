import { Buffer } from "node:buffer";
import type { Deployment } from "@postrider/shared/deployment/ownership";
import { once, type ObjectStore } from "#src/storage/object-store.ts";

/** Must not begin with a prefix under which files of media are stored. */
const MARKER_KEY = "deployment/owner.json";
const MAX_BYTES = 4_096;

export interface StoreMarker extends Deployment {
  /** Number of the latest pass that could delete files. */
  readonly pass: number;
}

export async function readMarker(
  store: ObjectStore,
  signal?: AbortSignal,
): Promise<StoreMarker | "unreadable" | undefined> {
  const found = await store.open(MARKER_KEY, { start: 0, length: MAX_BYTES }, signal);
  if (found === undefined) return undefined;
  const text = Buffer.concat(await Array.fromAsync(found.content)).toString("utf8");
  return parseMarker(text) ?? "unreadable";
}

function parseMarker(text: string): StoreMarker | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isMarker(value) ? value : undefined;
}

function isMarker(value: unknown): value is StoreMarker {
  if (typeof value !== "object" || value === null) return false;
  const { deploymentId, systemIdentifier, databaseOid, pass } = value as Record<string, unknown>;
  return (
    typeof deploymentId === "string" &&
    typeof systemIdentifier === "string" &&
    typeof databaseOid === "number" &&
    typeof pass === "number"
  );
}

export async function writeMarker(store: ObjectStore, marker: StoreMarker): Promise<void> {
  const { deploymentId, systemIdentifier, databaseOid, pass } = marker;
  const text = JSON.stringify({ deploymentId, systemIdentifier, databaseOid, pass });
  await store.put(MARKER_KEY, once(Buffer.from(text)));
}
