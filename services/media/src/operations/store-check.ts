import { Buffer } from "node:buffer";
import type { DiagnosticCheck } from "@postrider/shared/diagnostics/finding";
import { newId } from "@postrider/shared/ids";
import type { ObjectStore } from "#src/storage/object-store.ts";

const PROBE = Buffer.from("postrider doctor");

/** Creates the diagnostic check that writes a small object to the object store, reads it and deletes it. */
export function createStoreCheck(store: ObjectStore, kind: "disk" | "s3"): DiagnosticCheck {
  return {
    name: "object store",
    remedy:
      kind === "disk"
        ? "check that the media service may write to the folder MEDIA_DIR and that its disk has room"
        : "check the settings S3_…: the bucket must exist, and the key needs the rights to put, get, list and delete objects",
    guide: "operations.md",
    run: (signal) => checkStore(store, kind, signal),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

async function checkStore(store: ObjectStore, kind: "disk" | "s3", signal: AbortSignal) {
  // If the process ends before it deletes the object of the check, the job remove-orphans deletes it.
  const key = `uploads/${newId()}`;
  await store.put(key, once(PROBE), signal);
  try {
    const stored = await store.open(key, undefined, signal);
    if (stored === undefined) throw new Error("an object that was written cannot be read");
    const chunks = await Array.fromAsync(stored.content);
    if (!Buffer.concat(chunks).equals(PROBE))
      throw new Error("an object was read with other bytes than were written");
  } finally {
    await store.delete(key);
  }
  if ((await store.stat(key)) !== undefined)
    throw new Error("an object still exists after its deletion");
  const where = kind === "disk" ? "on disk" : "on S3";
  return {
    status: "ok",
    found: `a small object was written, read and deleted ${where}`,
  } as const;
}
