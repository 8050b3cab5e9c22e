import { Buffer } from "node:buffer";
import type { DiagnosticCheck } from "@postrider/shared/diagnostics/finding";
import { newId } from "@postrider/shared/ids";
import type { StoreGuard } from "#src/operations/store-guard.ts";
import type { StoreOwner } from "#src/operations/store-owner.ts";
import { once, type ObjectStore } from "#src/storage/object-store.ts";

const PROBE = Buffer.from("postrider doctor");

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

async function checkStore(store: ObjectStore, kind: "disk" | "s3", signal: AbortSignal) {
  // If the process ends before the deletion, remove-orphans deletes the object.
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

export function createStoreOwnerCheck(guard: Pick<StoreGuard, "read">): DiagnosticCheck {
  return {
    name: "owner of the object store",
    remedy: "check the object store, and whether Postgres runs",
    guide: "operations.md",
    run: () => checkOwner(guard),
  };
}

async function checkOwner(guard: Pick<StoreGuard, "read">) {
  const state = await guard.read();
  if (state.kind === "foreign_data")
    return {
      status: "off",
      found: "no stored file is deleted, because the data belongs to another deployment",
    } as const;
  const { owner, keptUntil } = state;
  if (owner.kind === "own") {
    const kept =
      keptUntil === null ? "" : `; files without a row are kept until ${keptUntil.toISOString()}`;
    return { status: "ok", found: `the object store belongs to this deployment${kept}` } as const;
  }
  const { found, status } = describeOwner(owner);
  const remedy =
    owner.kind === "files_missing"
      ? "mount the disk of the object store, correct the settings, or restore the files; if they are lost, run `postrider storage adopt`"
      : "give this deployment an object store of its own; if no other deployment uses this one, run `postrider storage adopt`";
  return { status, found, remedy } as const;
}

function describeOwner(owner: Exclude<StoreOwner, { readonly kind: "own" }>) {
  if (owner.kind === "unmarked")
    return {
      status: "warning",
      found:
        "the object store has no marker and contains files from before this deployment; files without a row are kept",
    } as const;
  if (owner.kind === "files_missing")
    return {
      status: "failed",
      found:
        "the object store has neither a marker nor the files that the database names; uploads are refused, and posts with media wait",
    } as const;
  const found =
    owner.kind === "foreign"
      ? `the marker of the object store names the deployment ${owner.marker.deploymentId}; no stored file is deleted`
      : "the marker of the object store cannot be read; no stored file is deleted";
  return { status: "failed", found } as const;
}
